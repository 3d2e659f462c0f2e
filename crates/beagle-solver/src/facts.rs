//! What is known of the value of an expression for every input: bits and bounds.
//!
//! Computed once from the operands when an expression is made. Rewriting uses it to decide
//! comparisons and to see that the parts of a sum do not overlap.

use beagle_trace::op::{Arity, Op};

use crate::pool::{Expr, Pool, Term};

/// Bits and bounds of a value of at most 64 bits; of wider values nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Bits that are 0.
    pub zeros: u64,
    /// Bits that are 1.
    pub ones: u64,
    /// The least value, unsigned.
    pub min: u64,
    /// The greatest value, unsigned.
    pub max: u64,
}

/// Tables with more bytes are not looked through.
const MAX_TABLE: usize = 4096;

/// All ones of this width, 64 at most.
pub(crate) const fn mask64(width: u16) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

impl Facts {
    /// What holds of all these values of this width.
    pub(crate) fn among(values: impl Iterator<Item = u64>, width: u16) -> Self {
        let all = values.map(Self::exactly).reduce(Self::or);
        all.unwrap_or(Self::unknown(width))
    }

    pub(crate) fn unknown(width: u16) -> Self {
        Self {
            zeros: !mask64(width),
            ones: 0,
            min: 0,
            max: mask64(width),
        }
    }

    /// Only this value.
    pub(crate) fn exactly(value: u64) -> Self {
        Self {
            zeros: !value,
            ones: value,
            min: value,
            max: value,
        }
    }

    fn bits(zeros: u64, ones: u64, width: u16) -> Self {
        Self {
            zeros: zeros | !mask64(width),
            ones,
            min: 0,
            max: mask64(width),
        }
        .closed()
    }

    fn range(min: u64, max: u64, width: u16) -> Self {
        Self {
            min,
            max,
            ..Self::unknown(width)
        }
        .closed()
    }

    /// Bits and bounds that follow from each other.
    fn closed(mut self) -> Self {
        self.min = self.min.max(self.ones);
        self.max = self.max.min(!self.zeros);
        // Above the highest bit in which the bounds differ, all values agree.
        let agree = match (self.min ^ self.max).leading_zeros() {
            0 => 0,
            same => !(u64::MAX.checked_shr(same).unwrap_or(0)),
        };
        self.ones |= self.min & agree;
        self.zeros |= !self.min & agree;
        self
    }

    fn and(self, other: Self) -> Self {
        Self {
            zeros: self.zeros | other.zeros,
            ones: self.ones | other.ones,
            min: self.min.max(other.min),
            max: self.max.min(other.max),
        }
        .closed()
    }

    /// What holds of either.
    fn or(self, other: Self) -> Self {
        Self {
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// What holds of those of the values that are between these.
    pub(crate) fn within(self, min: u64, max: u64, width: u16) -> Self {
        self.and(Self::range(min, max, width))
    }

    /// What holds of those of the values that have this part from bit `low` on.
    pub(crate) fn with_part(self, part: u64, low: u32, count: u16, width: u16) -> Self {
        let cover = mask64(count) << low;
        self.and(Self::bits(cover & !(part << low), part << low, width))
    }

    /// The value, if only one is possible.
    pub(crate) fn value(self) -> Option<u64> {
        (self.min == self.max).then_some(self.min)
    }

    /// The sign bit of a value of this width, if it is known.
    pub(crate) fn sign(self, width: u16) -> Option<bool> {
        let bit = 1 << (width - 1);
        if self.zeros & bit != 0 {
            Some(false)
        } else if self.ones & bit != 0 {
            Some(true)
        } else {
            None
        }
    }
}

/// What follows for a term that is not a variable from what is known of its operands.
pub(crate) fn of(pool: &Pool, term: &Term, operand: impl Fn(Expr) -> Facts) -> Facts {
    let width = term.width;
    if width > 64 {
        return Facts {
            zeros: 0,
            ones: 0,
            min: 0,
            max: u64::MAX,
        };
    }
    // The facts of an operand of at most 64 bits.
    let known = |field: u32| {
        let expr = Expr(field);
        (pool.width(expr) <= 64).then(|| operand(expr))
    };
    let unknown = Facts::unknown(width);
    match term.op {
        Op::Const => Facts::exactly(pool.constant_value(term) as u64),
        Op::Ite => match operand(Expr(term.a)).value() {
            Some(0) => operand(Expr(term.c)),
            Some(_) => operand(Expr(term.b)),
            None => operand(Expr(term.b)).or(operand(Expr(term.c))),
        },
        Op::Lookup => table(pool, term),
        Op::Extract => known(term.a).map_or(unknown, |a| extract(a, term.c, width)),
        Op::ZExt => operand(Expr(term.a)),
        Op::SExt => sign_extended(operand(Expr(term.a)), pool.width(Expr(term.a)), width),
        Op::Concat => {
            let low = pool.width(Expr(term.b));
            let (a, b) = (operand(Expr(term.a)), operand(Expr(term.b)));
            Facts {
                zeros: a.zeros << low | b.zeros & mask64(low),
                ones: a.ones << low | b.ones,
                min: a.min << low | b.min,
                max: a.max << low | b.max,
            }
        }
        Op::Ctpop | Op::Ctlz | Op::Cttz => Facts::range(0, width.into(), width),
        Op::RenderLen => unknown,
        op if op.arity() == Arity::Two => match (known(term.a), known(term.b)) {
            (Some(a), Some(b)) => {
                let from = pool.width(Expr(term.a));
                comparison(op, from, a, b).unwrap_or_else(|| binary(op, width, a, b))
            }
            _ => unknown,
        },
        _ => unknown,
    }
}

/// Whether a comparison of operands of this width is decided.
fn comparison(op: Op, from: u16, a: Facts, b: Facts) -> Option<Facts> {
    // Flipping the sign bit turns signed order into unsigned order, unless the bit is open.
    let flip = |facts: Facts| {
        let bit = 1u64 << (from - 1);
        let flipped = Facts {
            min: facts.min ^ bit,
            max: facts.max ^ bit,
            ..facts
        };
        facts.sign(from).map(|_| flipped)
    };
    let less = |a: Facts, b: Facts| match () {
        () if a.max < b.min => Some(true),
        () if a.min >= b.max => Some(false),
        () => None,
    };
    let equal = || {
        let differ = (a.ones & b.zeros | a.zeros & b.ones) != 0 || a.max < b.min || b.max < a.min;
        match (a.value(), b.value()) {
            (Some(x), Some(y)) if x == y => Some(true),
            _ if differ => Some(false),
            _ => None,
        }
    };
    let decided = match op {
        Op::Eq => equal()?,
        Op::Ne => !equal()?,
        Op::Ult => less(a, b)?,
        Op::Ule => !less(b, a)?,
        Op::Slt => less(flip(a)?, flip(b)?)?,
        Op::Sle => !less(flip(b)?, flip(a)?)?,
        _ => return None,
    };
    Some(Facts::exactly(decided.into()))
}

fn extract(a: Facts, low: u32, width: u16) -> Facts {
    let zeros = a.zeros >> low | if low == 0 { 0 } else { !(u64::MAX >> low) };
    let bits = Facts::bits(zeros, a.ones >> low & mask64(width), width);
    if a.max >> low <= mask64(width) {
        // Nothing is cut off above.
        bits.and(Facts::range(a.min >> low, a.max >> low, width))
    } else {
        bits
    }
}

fn sign_extended(a: Facts, from: u16, width: u16) -> Facts {
    let above = mask64(width) & !mask64(from);
    match a.sign(from) {
        Some(false) => a,
        Some(true) => Facts {
            zeros: a.zeros & mask64(from) | !mask64(width),
            ones: a.ones | above,
            min: a.min | above,
            max: a.max | above,
        },
        None => Facts::bits(a.zeros & mask64(from - 1), a.ones, width),
    }
}

fn binary(op: Op, width: u16, a: Facts, b: Facts) -> Facts {
    let unknown = Facts::unknown(width);
    let most = mask64(width);
    match op {
        Op::And => Facts::bits(a.zeros | b.zeros, a.ones & b.ones, width).and(Facts::range(
            0,
            a.max.min(b.max),
            width,
        )),
        Op::Or => Facts::bits(a.zeros & b.zeros, a.ones | b.ones, width).and(Facts::range(
            a.min.max(b.min),
            most,
            width,
        )),
        Op::Xor => {
            let ones = a.ones & b.zeros | a.zeros & b.ones;
            Facts::bits(a.zeros & b.zeros | a.ones & b.ones, ones, width)
        }
        Op::Add => {
            // Low bits that are 0 in both stay 0.
            let low = (a.zeros & b.zeros).trailing_ones();
            let zeros = !(u64::MAX.checked_shl(low).unwrap_or(0));
            let [least, greatest] =
                [(a.min, b.min), (a.max, b.max)].map(|(a, b)| i128::from(a) + i128::from(b));
            Facts::bits(zeros, 0, width).and(wrapped(least, greatest, width))
        }
        Op::Sub => {
            let least = i128::from(a.min) - i128::from(b.max);
            wrapped(least, i128::from(a.max) - i128::from(b.min), width)
        }
        Op::Mul => {
            let low = a.zeros.trailing_ones() + b.zeros.trailing_ones();
            let zeros = !(u64::MAX.checked_shl(low).unwrap_or(0));
            let bits = Facts::bits(zeros, 0, width);
            match a.max.checked_mul(b.max) {
                Some(max) if max <= most => bits.and(Facts::range(a.min * b.min, max, width)),
                _ => bits,
            }
        }
        Op::UDiv if b.min > 0 => Facts::range(a.min / b.max, a.max / b.min, width),
        Op::URem if b.min > 0 => Facts::range(0, a.max.min(b.max - 1), width),
        Op::Shl => match b.value() {
            Some(by) if by < u64::from(width) => {
                let zeros = a.zeros << by | !(u64::MAX << by);
                let bits = Facts::bits(zeros, a.ones << by & most, width);
                if a.max <= most >> by {
                    bits.and(Facts::range(a.min << by, a.max << by, width))
                } else {
                    bits
                }
            }
            Some(_) => Facts::exactly(0),
            None => unknown,
        },
        Op::LShr => match b.value() {
            Some(by) if by < u64::from(width) => extract(a, by as u32, width),
            Some(_) => Facts::exactly(0),
            None => Facts::range(0, a.max, width),
        },
        _ => unknown,
    }
}

/// The bounds of a result that is cut to the width, if all of its values lose the same.
fn wrapped(least: i128, greatest: i128, width: u16) -> Facts {
    if least >> width == greatest >> width {
        let most = mask64(width);
        Facts::range(least as u64 & most, greatest as u64 & most, width)
    } else {
        Facts::unknown(width)
    }
}

/// The bounds of what a constant table holds.
fn table(pool: &Pool, term: &Term) -> Facts {
    let table = pool.table(term.b);
    let bytes = usize::from(term.width / 8);
    let usable = table.cells.is_empty() && (bytes..=MAX_TABLE).contains(&table.bytes.len());
    if !usable {
        return Facts::unknown(term.width);
    }
    let entries = table.bytes.windows(bytes).map(|window| {
        let value = window
            .iter()
            .rev()
            .fold(0, |all, &byte| all << 8 | u64::from(byte));
        Facts::exactly(value)
    });
    entries
        .reduce(Facts::or)
        .unwrap_or(Facts::unknown(term.width))
}
