//! From the wanted value of an operator to the value of one of its operands.

use beagle_trace::arithmetic::{self, Value};
use beagle_trace::node::mask;
use beagle_trace::op::{Arity, Op};

use super::floats;
use crate::random::Random;

/// An operator of one or two operands with the values of its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    /// The operator.
    pub op: Op,
    /// The width of the result.
    pub width: u16,
    /// What the operator says of its third field.
    pub field: u32,
    /// The operands; with one operand the second does not count.
    pub operands: [Value; 2],
}

impl Operation {
    /// The result with another value for one operand.
    pub(crate) fn with(&self, which: usize, bits: u128) -> Option<u128> {
        let mut operands = self.operands;
        operands[which].bits = bits;
        let [a, b] = operands;
        match self.op.arity() {
            Arity::One => arithmetic::unary(self.op, self.width, a, self.field),
            _ => arithmetic::binary(self.op, self.width, a, b, self.field),
        }
    }

    /// A value for an operand that gives the target while the other one keeps its value. One that
    /// is near the operand's value is preferred, but not always chosen.
    pub(crate) fn inverse(&self, which: usize, target: u128, random: &mut Random) -> Option<u128> {
        let check = |value: u128| (self.with(which, value) == Some(target)).then_some(value);
        if floats::is_float(self.op) {
            return floats::candidates(self, which, target, random)
                .into_iter()
                .find_map(|value| {
                    check(value).or_else(|| floats::nudged(self, which, value, target))
                });
        }
        let most = mask(self.operands[which].width);
        self.candidate(which, target, random)
            .and_then(|value| check(value & most))
    }

    /// Where no value gives the target with the other operand as it is: a value for which another
    /// value of the other operand might.
    pub(crate) fn consistent(&self, which: usize, target: u128, random: &mut Random) -> u128 {
        let Value { bits, width } = self.operands[which];
        let most = mask(width);
        let value = match self.op {
            Op::And => bits | target,
            Op::Or => bits & target,
            Op::Mul if target != 0 => {
                // No more zeros at the end than the target has.
                let keep = u128::MAX.checked_shl(target.trailing_zeros()).unwrap_or(0);
                match random.below(3) {
                    0 => 1,
                    1 => bits & keep | 1 << target.trailing_zeros(),
                    _ => random.wide() | 1,
                }
            }
            Op::UDiv if which == 0 => random.between(target & most, most),
            Op::Shl | Op::LShr | Op::AShr if which == 1 => random.below(width.into()) as u128,
            Op::Shl => target >> random.below(width.into()),
            Op::LShr | Op::AShr => target << random.below(width.into()),
            op if floats::is_float(op) => floats::candidates(self, which, target, random)
                .first()
                .copied()
                .unwrap_or_else(|| random.wide()),
            _ if random.once_in(2) => target,
            _ => random.wide(),
        };
        value & most
    }

    /// A value that gives the target if any does, with few exceptions.
    fn candidate(&self, which: usize, target: u128, random: &mut Random) -> Option<u128> {
        let Value { bits, width } = self.operands[which];
        let other = self.operands[1 - which].bits;
        let most = mask(width);
        let current = Around { bits, most };
        let free = if random.once_in(4) {
            random.wide()
        } else {
            bits
        };
        Some(match (self.op, which) {
            (Op::Add, _) => target.wrapping_sub(other),
            (Op::Sub, 0) => target.wrapping_add(other),
            (Op::Sub, _) => other.wrapping_sub(target),
            (Op::Xor, _) => target ^ other,
            (Op::And, _) => target | free & !other,
            (Op::Or, _) => target & !other | free & other,
            (Op::Mul, _) => factor(target, other, width, free, random)?,
            (Op::UDiv, 0) if other == 0 => free,
            (Op::UDiv, 0) => {
                let low = target.checked_mul(other)?;
                let high = low.saturating_add(other - 1).min(most);
                current.within(low, high, random)?
            }
            (Op::UDiv, _) => match target {
                _ if target == most && other == most && random.once_in(2) => 1,
                _ if target == most => 0,
                0 => current.within(other.checked_add(1)?, most, random)?,
                _ => current.within(other / (target + 1) + 1, other / target, random)?,
            },
            (Op::URem, 0) if other == 0 => target,
            (Op::URem, 0) => {
                let near = (bits - bits % other).saturating_add(target);
                if near <= most { near } else { target }
            }
            (Op::URem, _) if target == other => {
                let larger = other.checked_add(1).filter(|_| random.once_in(2));
                larger
                    .and_then(|low| current.within(low, most, random))
                    .unwrap_or(0)
            }
            (Op::URem, _) => {
                let multiple = other.checked_sub(target)?;
                let part = random.below(8) as u128 + 1;
                let divides = multiple % part == 0 && multiple / part > target;
                if divides { multiple / part } else { multiple }
            }
            (Op::SDiv | Op::SRem, _) => self.signed_candidate(which, target, random)?,
            (Op::Shl | Op::LShr | Op::AShr, 0) => {
                let Some(by) = u32::try_from(other).ok().filter(|&by| by < width.into()) else {
                    // Only the sign counts, if anything.
                    let sign = 1 << (width - 1);
                    return Some(if target == 0 {
                        free & !sign
                    } else {
                        free | sign
                    });
                };
                match self.op {
                    Op::Shl => target >> by | free & !(most >> by),
                    _ => target << by | free & !(u128::MAX << by),
                }
            }
            (Op::Shl | Op::LShr | Op::AShr, _) => {
                let fits = |&by: &u128| self.with(which, by) == Some(target);
                let fitting: Vec<u128> = (0..=u128::from(width).min(most)).filter(fits).collect();
                *fitting.get(random.below(fitting.len()))?
            }
            (Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle, _) => {
                self.comparison(which, target == 1, random)?
            }
            (Op::ZExt | Op::SExt, _) => target,
            (Op::Extract, _) => {
                let here = mask(self.width).checked_shl(self.field)?;
                bits & !here | target << self.field
            }
            (Op::Concat, 0) => target.checked_shr(self.operands[1].width.into())?,
            (Op::Concat, _) => target,
            (Op::Bswap, _) => arithmetic::unary(Op::Bswap, width, self.value(target), 0)?,
            (Op::Bitreverse, _) => arithmetic::unary(Op::Bitreverse, width, self.value(target), 0)?,
            (Op::Ctpop, _) => with_ones(bits, target, width, random)?,
            (Op::Ctlz, _) | (Op::Cttz, _) if target == u128::from(width) & most => {
                // One bit cannot count to 2 and so on: then it is the same as some small number.
                (self.with(0, 0) == Some(target)).then_some(0)?
            }
            (Op::Ctlz, _) => {
                let below = u32::from(width).checked_sub(u32::try_from(target).ok()? + 1)?;
                1 << below | free & !(u128::MAX << below)
            }
            (Op::Cttz, _) => {
                let bit = 1u128.checked_shl(u32::try_from(target).ok()?)?;
                free & !(bit - 1) | bit
            }
            _ => return None,
        })
    }

    fn value(&self, bits: u128) -> Value {
        let width = self.operands[0].width;
        Value { bits, width }
    }

    fn signed_candidate(&self, which: usize, target: u128, random: &mut Random) -> Option<u128> {
        let width = self.operands[which].width;
        let most = mask(width);
        let sign = 1u128 << (width - 1);
        let result = Value {
            bits: target,
            width,
        }
        .signed();
        let other_bits = self.operands[1 - which].bits;
        let other = self.operands[1 - which].signed();
        let fits = |value: i128| {
            let value = value as u128 & most;
            (self.with(which, value) == Some(target)).then_some(value)
        };
        let current = self.operands[which].signed();
        let tries = match (self.op, which) {
            (Op::SDiv, 0) if other == 0 => [current, 0, -1, 1],
            (Op::SDiv, 0) => {
                let exact = result.wrapping_mul(other);
                let rest = (random.wide() as i128).wrapping_rem(other);
                [exact.wrapping_add(rest), exact, 0, current]
            }
            (Op::SDiv, _) if result == 0 => [
                (sign - 1) as i128,
                sign as i128,
                other.wrapping_add(1),
                other.wrapping_sub(1),
            ],
            (Op::SDiv, _) => {
                let most_likely = other.wrapping_div(result);
                [most_likely, 0, (sign - 1) as i128, 1]
            }
            (_, 0) => {
                let near = if other == 0 {
                    result
                } else {
                    result.wrapping_add(current.wrapping_sub(current.wrapping_rem(other)))
                };
                [near, result, 0, current]
            }
            (_, _) => {
                let multiple = (other_bits.wrapping_sub(target)) as i128;
                let part = random.below(6) as i128 + 2;
                let small = if multiple % part == 0 {
                    multiple / part
                } else {
                    multiple
                };
                [small, multiple, 0, multiple.wrapping_neg()]
            }
        };
        tries.into_iter().find_map(fits)
    }

    /// A value for one side of a comparison.
    fn comparison(&self, which: usize, holds: bool, random: &mut Random) -> Option<u128> {
        let Value { bits, width } = self.operands[which];
        let other = self.operands[1 - which].bits;
        let most = mask(width);
        // With the sign flipped, signed order is unsigned order.
        let flip = match self.op {
            Op::Slt | Op::Sle => 1 << (width - 1),
            _ => 0,
        };
        let (here, there) = (bits ^ flip, other ^ flip);
        let current = Around { bits: here, most };
        let value = match self.op {
            Op::Eq | Op::Ne if (self.op == Op::Eq) == holds => there,
            Op::Eq | Op::Ne => match random.below(4) {
                0 => there.wrapping_add(1) & most,
                1 => there.wrapping_sub(1) & most,
                2 => there ^ 1 << random.below(width.into()),
                _ => random.wide() & most,
            },
            op => {
                let strict = matches!(op, Op::Ult | Op::Slt);
                // Whether this side must be the lesser one, and may be equal.
                let less = (which == 0) == holds;
                let equal = strict != holds;
                match (less, equal) {
                    (true, true) => current.within(0, there, random)?,
                    (true, false) => current.within(0, there.checked_sub(1)?, random)?,
                    (false, true) => current.within(there, most, random)?,
                    (false, false) => current.within(there.checked_add(1)?, most, random)?,
                }
            }
        };
        Some(value ^ flip)
    }
}

/// The value that an operand has.
#[derive(Clone, Copy)]
struct Around {
    bits: u128,
    most: u128,
}

impl Around {
    /// A value of the range: mostly the nearest.
    fn within(self, low: u128, high: u128, random: &mut Random) -> Option<u128> {
        let high = high.min(self.most);
        if low > high {
            return None;
        }
        Some(match random.below(8) {
            0..=4 => self.bits.clamp(low, high),
            5 => random.between(low, high.min(low.saturating_add(15))),
            6 => random.between(low.max(high.saturating_sub(15)), high),
            _ => random.between(low, high),
        })
    }
}

/// A number that multiplied with the other is the target, modulo 2 to the width.
fn factor(target: u128, other: u128, width: u16, free: u128, random: &mut Random) -> Option<u128> {
    if other == 0 {
        return (target == 0).then_some(free);
    }
    let zeros = other.trailing_zeros();
    if target.trailing_zeros() < zeros {
        return None;
    }
    let odd = other >> zeros;
    // Each round doubles the number of right bits.
    let mut inverse = odd;
    for _ in 0..6 {
        inverse = inverse.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    let open = u128::MAX.checked_shl(u32::from(width) - zeros).unwrap_or(0);
    let value = (target >> zeros).wrapping_mul(inverse) & !open;
    // The highest bits do not matter; a number without them does not overflow.
    Some(if random.once_in(2) {
        value
    } else {
        value | free & open
    })
}

/// The bits with as many flipped as are needed for that number of ones.
fn with_ones(bits: u128, target: u128, width: u16, random: &mut Random) -> Option<u128> {
    let target = u32::try_from(target)
        .ok()
        .filter(|&ones| ones <= width.into())?;
    let mut value = bits;
    while value.count_ones() != target {
        let more = value.count_ones() < target;
        let start = random.below(width.into()) as u16;
        let at = (0..width).map(|step| (start + step) % width);
        let bit = at
            .map(|at| 1u128 << at)
            .find(|&bit| (value & bit == 0) == more)?;
        value ^= bit;
    }
    Some(value)
}

#[cfg(test)]
mod tests;
