//! Inverses of floating-point operators. They are computed in floating point, so they can be off by
//! a few units of the last place; [`nudged`] looks there.

use beagle_trace::arithmetic::Value;
use beagle_trace::node::mask;
use beagle_trace::op::Op;

use super::invert::Operation;
use crate::random::Random;

/// How many neighbours are looked at on each side.
const NEIGHBOURS: u128 = 4;

/// Whether operands or result are floating point.
pub(crate) fn is_float(op: Op) -> bool {
    (Op::FAdd as u8..=Op::FpCast as u8).contains(&(op as u8))
}

fn double(value: Value) -> f64 {
    if value.width == 32 {
        f32::from_bits(value.bits as u32).into()
    } else {
        f64::from_bits(value.bits as u64)
    }
}

fn bits(value: f64, width: u16) -> u128 {
    if width == 32 {
        (value as f32).to_bits().into()
    } else {
        value.to_bits().into()
    }
}

/// The next greater value, or the next less one.
fn next(value: f64, width: u16, up: bool) -> f64 {
    if width == 32 {
        let value = value as f32;
        let next = if up {
            value.next_up()
        } else {
            value.next_down()
        };
        next.into()
    } else if up {
        value.next_up()
    } else {
        value.next_down()
    }
}

/// A neighbour of the value for which the result is the target.
pub(crate) fn nudged(
    operation: &Operation,
    which: usize,
    value: u128,
    target: u128,
) -> Option<u128> {
    let most = mask(operation.operands[which].width);
    let near = (1..=NEIGHBOURS).flat_map(|by| [value.wrapping_add(by), value.wrapping_sub(by)]);
    near.map(|value| value & most)
        .find(|&value| operation.with(which, value) == Some(target))
}

/// Values of an operand that give the target or something near; the most likely first.
pub(crate) fn candidates(
    operation: &Operation,
    which: usize,
    target: u128,
    random: &mut Random,
) -> Vec<u128> {
    let operand = operation.operands[which];
    let width = operand.width;
    let other = operation.operands[1 - which];
    let wanted = Value {
        bits: target,
        width: operation.width,
    };
    let (t, s) = (double(wanted), double(other));
    let current = double(operand);
    let floats: Vec<f64> = match (operation.op, which) {
        (Op::FAdd, _) => vec![t - s],
        (Op::FSub, 0) => vec![t + s],
        (Op::FSub, _) => vec![s - t],
        (Op::FMul, _) if t == 0.0 => vec![0.0, -0.0],
        (Op::FMul, _) => vec![t / s],
        (Op::FDiv, 0) => vec![t * s],
        (Op::FDiv, _) if t == 0.0 => vec![f64::INFINITY, f64::NEG_INFINITY],
        (Op::FDiv, _) => vec![s / t],
        (Op::FRem, 0) => vec![t + (current / s).trunc() * s, t],
        (Op::FRem, _) => vec![s - t, f64::INFINITY],
        (Op::FSqrt, _) => vec![t * t],
        (Op::FMin | Op::FMax, _) => vec![t],
        (Op::FFloor, _) => vec![t + current.fract().abs(), t],
        (Op::FCeil, _) => vec![t - current.fract().abs(), t],
        (Op::FTrunc | Op::FRound | Op::FRint, _) => vec![t + t.signum() * 0.25, t],
        (Op::FCmp, _) => return compare(operation, which, target == 1, random),
        (Op::FNeg, _) => return vec![target ^ 1 << (width - 1)],
        (Op::FAbs, _) => return vec![target | operand.bits & 1 << (width - 1), target],
        (Op::FCopysign, 0) => {
            let sign = 1 << (width - 1);
            return vec![target & !sign | operand.bits & sign];
        }
        (Op::FCopysign, _) => {
            let sign = 1 << (width - 1);
            return vec![operand.bits & !sign | target & sign];
        }
        (Op::FpToSi, _) => {
            let width = operation.width;
            let whole = Value {
                bits: target,
                width,
            }
            .signed() as f64;
            vec![whole + whole.signum() * current.fract().abs(), whole]
        }
        (Op::FpToUi, _) => vec![target as f64 + current.fract().abs(), target as f64],
        (Op::SiToFp, _) => return vec![t as i128 as u128 & mask(width)],
        (Op::UiToFp, _) => return vec![t as u128 & mask(width)],
        (Op::FpCast, _) => vec![t],
        _ => Vec::new(),
    };
    floats.into_iter().map(|value| bits(value, width)).collect()
}

/// Values of one side of a comparison.
fn compare(operation: &Operation, which: usize, holds: bool, random: &mut Random) -> Vec<u128> {
    let Value { width, .. } = operation.operands[which];
    let other = double(operation.operands[1 - which]);
    let relations = if holds {
        operation.field & 15
    } else {
        !operation.field & 15
    };
    let (mut equal, mut greater) = (relations & 1 != 0, relations & 2 != 0);
    let (mut less, unordered) = (relations & 4 != 0, relations & 8 != 0);
    if which == 1 {
        (greater, less) = (less, greater);
    }
    if other.is_nan() {
        (equal, greater, less) = (false, false, false);
    }
    // Both directions are rarely wanted; then one of them is as good as the other.
    if greater && less {
        if random.once_in(2) {
            greater = false;
        } else {
            less = false;
        }
    }
    let mut values = Vec::new();
    if greater || less {
        let sign = if greater { 1.0 } else { -1.0 };
        let whole = if greater {
            other.floor() + 1.0
        } else {
            other.ceil() - 1.0
        };
        let far = other + sign * (other.abs() + 1.0);
        let steps = [next(other, width, greater), whole, far, sign * 1e9];
        let start = random.below(steps.len() + 2) % steps.len();
        values.extend((0..steps.len()).map(|at| steps[(start + at) % steps.len()]));
    }
    if equal {
        values.push(other);
        if random.once_in(2) {
            values.rotate_right(1);
        }
    }
    if unordered {
        values.push(f64::NAN);
    }
    values.into_iter().map(|value| bits(value, width)).collect()
}

/// The place of a value among all of its width, in ascending order.
pub(crate) fn rank(bits: u128, width: u16) -> u128 {
    let sign = 1 << (width - 1);
    if bits & sign == 0 {
        bits | sign
    } else {
        !bits & mask(width)
    }
}
