//! How far a condition is from holding, as fuzzers measure it.

use beagle_trace::op::Op;

use super::floats;
use super::lanes::Lanes;
use crate::tape::{Tape, Values};

/// What is not defined is farther than anything else.
const UNDEFINED: u32 = 4096;
/// A condition of which no more is known.
const PLAIN: u32 = 512;
/// Deeper parts of a condition are not looked at.
const DEEPEST: u32 = 6;

/// 0 if the bit is as wanted; else the more, the farther it is from it.
pub(crate) fn of(tape: &Tape, values: &Values, step: u32, wanted: bool) -> u32 {
    at_depth(tape, values, step, wanted, DEEPEST).min(UNDEFINED)
}

fn at_depth(tape: &Tape, values: &Values, step: u32, wanted: bool, depth: u32) -> u32 {
    let Some(value) = values.get(step) else {
        return UNDEFINED;
    };
    if (value == 1) == wanted {
        return 0;
    }
    let term = tape.steps[step as usize].term;
    let [a, b, c] = tape.steps[step as usize].from;
    if depth == 0 || term.width != 1 {
        return PLAIN;
    }
    let of = |step: u32, wanted: bool| at_depth(tape, values, step, wanted, depth - 1);
    let flipped = |step: u32| match (tape.steps[step as usize].term.op, values.get(step)) {
        (Op::Const, _) | (_, None) => UNDEFINED,
        (_, Some(value)) => of(step, value == 0),
    };
    let bit = tape.steps[a as usize].term.width == 1;
    match term.op {
        Op::And if wanted => of(a, true) + of(b, true),
        Op::And => of(a, false).min(of(b, false)),
        Op::Or if wanted => of(a, true).min(of(b, true)),
        Op::Or => of(a, false) + of(b, false),
        Op::Xor => flipped(a).min(flipped(b)),
        Op::Eq | Op::Ne if bit => flipped(a).min(flipped(b)),
        Op::Ite => {
            let chosen = values.get(a) == Some(1);
            let (here, there) = if chosen { (b, c) } else { (c, b) };
            of(here, wanted).min(flipped(a) + of(there, wanted))
        }
        op if op.is_comparison() => match (values.get(a), values.get(b)) {
            (Some(x), Some(y)) => {
                let width = tape.steps[a as usize].term.width;
                comparison(op, width, x, y, wanted)
            }
            _ => UNDEFINED,
        },
        _ => PLAIN,
    }
}

/// The distance of a comparison that does not have the wanted outcome.
pub(crate) fn comparison(op: Op, width: u16, x: u128, y: u128, wanted: bool) -> u32 {
    let scaled = |distance: u128| 16 + magnitude(distance) * 64 / u32::from(width);
    match op {
        // All values but one will do.
        Op::Eq if !wanted => 16,
        Op::Ne if wanted => 16,
        Op::Eq | Op::Ne => {
            let differing = (x ^ y).count_ones() * 1024 / u32::from(width);
            (scaled(x.abs_diff(y)) + 16 + differing) / 2
        }
        Op::Ult | Op::Ule => scaled(x.abs_diff(y)),
        Op::Slt | Op::Sle => {
            let sign = 1 << (width - 1);
            scaled((x ^ sign).abs_diff(y ^ sign))
        }
        Op::FCmp => scaled(floats::rank(x, width).abs_diff(floats::rank(y, width))),
        _ => PLAIN,
    }
}

/// The logarithm, with 4 bits below the point, of a number plus 1.
fn magnitude(distance: u128) -> u32 {
    let number = distance.saturating_add(1);
    let high = 127 - number.leading_zeros();
    let below = if high >= 4 {
        number >> (high - 4)
    } else {
        number << (4 - high)
    };
    high * 16 + (below as u32 & 15)
}

/// The distance of a condition in one lane.
pub(crate) fn in_lane(tape: &Tape, values: &Values, lanes: &Lanes, step: u32, lane: usize) -> u32 {
    let value = |step: u32| match lanes.varies(step) {
        true => lanes.value(step, lane),
        false => values.get(step),
    };
    let (mut step, mut wanted) = (step, true);
    // Negations are common, other connectives at the top are not.
    loop {
        match value(step) {
            None => return UNDEFINED,
            Some(bit) if (bit == 1) == wanted => return 0,
            Some(_) => {}
        }
        let node = &tape.steps[step as usize];
        let [a, b, _] = node.from;
        let fixed = |step: u32| tape.steps[step as usize].term.op == Op::Const;
        match node.term.op {
            Op::Xor if fixed(b) => {
                wanted ^= value(b) == Some(1);
                step = a;
            }
            Op::Xor if fixed(a) => {
                wanted ^= value(a) == Some(1);
                step = b;
            }
            op if op.is_comparison() => {
                let width = tape.steps[a as usize].term.width;
                return match (value(a), value(b)) {
                    (Some(x), Some(y)) => comparison(op, width, x, y, wanted),
                    _ => UNDEFINED,
                };
            }
            _ => return PLAIN,
        }
    }
}
