//! The steps of a tape for 256 values of one variable at once.
//!
//! The loops are over plain arrays, one operator at a time, so that the compiler can make vector
//! code of them.

use beagle_trace::op::{Arity, Op};

use crate::bytes::ByteSet;
use crate::facts::mask64;
use crate::tape::{Lookup, Step, Tape, Values};

/// How many values there are at once.
pub(crate) const LANES: usize = 256;
/// The values of one step.
pub(crate) type Row = [u64; LANES];

/// Every value of a byte.
pub(crate) const IDENTITY: Row = {
    let mut row = [0; LANES];
    let mut at = 0;
    while at < LANES {
        row[at] = at as u64;
        at += 1;
    }
    row
};

const NONE: u32 = u32::MAX;

/// Values of the steps that depend on one variable.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    low: Vec<Row>,
    /// The bits above 64; only where some value has so many.
    high: Vec<Row>,
    undefined: Vec<ByteSet>,
    /// The row of a step.
    slot: Vec<u32>,
    bound: Vec<u32>,
    wide: bool,
}

/// An operand: one that varies, or one that does not.
#[derive(Clone, Copy)]
enum Side<'a> {
    Row(&'a Row),
    All(u64),
}

/// Applies an operator to all lanes.
#[inline(always)]
fn each(out: &mut Row, a: Side<'_>, b: Side<'_>, apply: impl Fn(u64, u64) -> u64) {
    match (a, b) {
        (Side::Row(a), Side::Row(b)) => {
            for lane in 0..LANES {
                out[lane] = apply(a[lane], b[lane]);
            }
        }
        (Side::Row(a), Side::All(b)) => {
            for lane in 0..LANES {
                out[lane] = apply(a[lane], b);
            }
        }
        (Side::All(a), Side::Row(b)) => {
            for lane in 0..LANES {
                out[lane] = apply(a, b[lane]);
            }
        }
        (Side::All(a), Side::All(b)) => out.fill(apply(a, b)),
    }
}

impl Lanes {
    /// Says which steps depend on the variable, in ascending order, and which values it takes.
    pub(crate) fn bind(&mut self, tape: &Tape, variable: u32, values: &Row, dependents: &[u32]) {
        for step in self.bound.drain(..) {
            self.slot[step as usize] = NONE;
        }
        if self.slot.len() < tape.len() {
            self.slot.resize(tape.len(), NONE);
        }
        let rows = dependents.len() + 1;
        if self.low.len() < rows {
            self.low.resize(rows, [0; LANES]);
            self.undefined.resize(rows, ByteSet::NONE);
        }
        self.bound.push(variable);
        self.bound.extend_from_slice(dependents);
        for (slot, &step) in self.bound.iter().enumerate() {
            self.slot[step as usize] = slot as u32;
        }
        let wide = |&step: &u32| tape.steps[step as usize].term.width > 64;
        self.wide = self.bound.iter().any(wide);
        if self.wide && self.high.len() < rows {
            self.high.resize(rows, [0; LANES]);
        }
        self.low[0] = *values;
        self.undefined[0] = ByteSet::NONE;
        if self.wide {
            self.high[0] = [0; LANES];
        }
    }

    /// Computes steps, of which the earlier ones are computed; those that do not depend on the
    /// variable have their values in `scalars`.
    pub(crate) fn compute(&mut self, tape: &Tape, scalars: &Values, steps: &[u32]) {
        for &number in steps {
            let step = &tape.steps[number as usize];
            let slot = self.slot[number as usize] as usize;
            if self.wide {
                self.high[slot].fill(0);
            }
            if !self.narrow(tape, scalars, step, slot) {
                self.general(tape, scalars, step, slot);
            }
        }
    }

    fn row(&self, step: u32) -> Option<usize> {
        match self.slot.get(step as usize) {
            Some(&slot) if slot != NONE => Some(slot as usize),
            _ => None,
        }
    }

    /// The operators that are used most, on at most 64 bits. Whether it was one of them.
    fn narrow(&mut self, tape: &Tape, scalars: &Values, step: &Step, slot: usize) -> bool {
        let term = &step.term;
        let count = match term.op.arity() {
            Arity::Leaf => return false,
            Arity::One => 1,
            Arity::Two => 2,
            Arity::Three => 3,
        };
        let width_of = |at: usize| tape.steps[step.from[at] as usize].term.width;
        if term.width > 64 || (0..count).any(|at| width_of(at) > 64) {
            return false;
        }
        let mut undefined = ByteSet::NONE;
        for &from in &step.from[..count] {
            undefined = undefined.or(match self.row(from) {
                Some(slot) => self.undefined[slot],
                None if scalars.get(from).is_none() => ByteSet::ALL,
                None => ByteSet::NONE,
            });
        }
        if term.op == Op::Ite && !undefined.is_empty() {
            // What is not chosen may be undefined.
            return false;
        }
        let rows = step.from.map(|from| self.row(from));
        let (before, rest) = self.low.split_at_mut(slot);
        let out = &mut rest[0];
        let side = |at: usize| match rows[at] {
            Some(slot) => Side::Row(&before[slot]),
            None => Side::All(scalars.get(step.from[at]).unwrap_or(0) as u64),
        };
        let (a, b) = (side(0), if count > 1 { side(1) } else { Side::All(0) });
        let most = mask64(term.width);
        let width = u64::from(term.width);
        let unused = 64 - u32::from(width_of(0));
        let signed = |value: u64| ((value << unused) as i64) >> unused;
        match term.op {
            Op::Add => each(out, a, b, |a, b| a.wrapping_add(b) & most),
            Op::Sub => each(out, a, b, |a, b| a.wrapping_sub(b) & most),
            Op::Mul => each(out, a, b, |a, b| a.wrapping_mul(b) & most),
            Op::UDiv => each(out, a, b, |a, b| a.checked_div(b).unwrap_or(most)),
            Op::URem => each(out, a, b, |a, b| a.checked_rem(b).unwrap_or(a)),
            Op::SDiv => each(out, a, b, |a, b| match b {
                0 if signed(a) < 0 => 1,
                0 => most,
                _ => signed(a).wrapping_div(signed(b)) as u64 & most,
            }),
            Op::SRem => each(out, a, b, |a, b| match b {
                0 => a,
                _ => signed(a).wrapping_rem(signed(b)) as u64 & most,
            }),
            Op::And => each(out, a, b, |a, b| a & b),
            Op::Or => each(out, a, b, |a, b| a | b),
            Op::Xor => each(out, a, b, |a, b| a ^ b),
            Op::Shl => each(out, a, b, |a, b| if b < width { a << b & most } else { 0 }),
            Op::LShr => each(out, a, b, |a, b| if b < width { a >> b } else { 0 }),
            Op::AShr => each(out, a, b, |a, b| (signed(a) >> b.min(63)) as u64 & most),
            Op::Eq => each(out, a, b, |a, b| (a == b).into()),
            Op::Ne => each(out, a, b, |a, b| (a != b).into()),
            Op::Ult => each(out, a, b, |a, b| (a < b).into()),
            Op::Ule => each(out, a, b, |a, b| (a <= b).into()),
            Op::Slt => each(out, a, b, |a, b| (signed(a) < signed(b)).into()),
            Op::Sle => each(out, a, b, |a, b| (signed(a) <= signed(b)).into()),
            Op::ZExt => each(out, a, b, |a, _| a),
            Op::SExt => each(out, a, b, |a, _| signed(a) as u64 & most),
            Op::Extract => {
                let low = term.c;
                each(out, a, b, |a, _| a.checked_shr(low).unwrap_or(0) & most);
            }
            Op::Concat => {
                // The operands have less than 64 bits together with the other one.
                let low = u32::from(width_of(1)) & 63;
                each(out, a, b, |a, b| a << low | b);
            }
            Op::Ite => {
                let c = side(2);
                let mut chosen = [0; LANES];
                each(&mut chosen, a, b, |a, b| 0u64.wrapping_sub(a) & b);
                each(out, a, c, |a, c| a.wrapping_sub(1) & c);
                for lane in 0..LANES {
                    out[lane] |= chosen[lane];
                }
            }
            Op::Lookup => match (tape.table(term.b), a) {
                (Some(Lookup { bytes, cells }), Side::Row(offsets)) if cells.is_empty() => {
                    let size = usize::from(term.width / 8);
                    undefined = undefined.or(look_up(out, bytes, size, offsets));
                }
                _ => return false,
            },
            _ => return false,
        }
        self.undefined[slot] = undefined;
        true
    }

    /// Any operator, lane by lane.
    fn general(&mut self, tape: &Tape, scalars: &Values, step: &Step, slot: usize) {
        let mut undefined = ByteSet::NONE;
        for lane in 0..LANES {
            let value = tape.compute(step, |from| match self.row(from) {
                Some(_) => self.value(from, lane),
                None => scalars.get(from),
            });
            if value.is_none() {
                undefined.insert(lane as u8);
            }
            let value = value.unwrap_or(0);
            self.low[slot][lane] = value as u64;
            if self.wide {
                self.high[slot][lane] = (value >> 64) as u64;
            }
        }
        self.undefined[slot] = undefined;
    }

    /// The value of a step that depends on the variable; `None` if it is not defined.
    pub(crate) fn value(&self, step: u32, lane: usize) -> Option<u128> {
        let slot = self.row(step)?;
        if self.undefined[slot].contains(lane as u8) {
            return None;
        }
        let high = if self.wide { self.high[slot][lane] } else { 0 };
        Some(u128::from(self.low[slot][lane]) | u128::from(high) << 64)
    }

    /// Whether the step is one that depends on the variable.
    pub(crate) fn varies(&self, step: u32) -> bool {
        self.row(step).is_some()
    }

    /// For which lanes a step of one bit, which depends on the variable, is 1.
    pub(crate) fn holds(&self, step: u32) -> ByteSet {
        let Some(slot) = self.row(step) else {
            return ByteSet::NONE;
        };
        let ones = ByteSet::of_row(&self.low[slot], |value| value == 1);
        ones.and(self.undefined[slot].complement())
    }

    /// For which lanes a step is not defined.
    pub(crate) fn undefined(&self, step: u32) -> ByteSet {
        self.row(step)
            .map_or(ByteSet::NONE, |slot| self.undefined[slot])
    }
}

/// Reads a constant table; where it is not defined.
fn look_up(out: &mut Row, bytes: &[u8], size: usize, offsets: &Row) -> ByteSet {
    let mut undefined = ByteSet::NONE;
    for (lane, (out, &offset)) in out.iter_mut().zip(offsets).enumerate() {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let entry = bytes.get(start..start.saturating_add(size));
        match entry {
            Some(entry) => {
                let bytes = entry.iter().rev();
                *out = bytes.fold(0, |all, &byte| all << 8 | u64::from(byte));
            }
            None => {
                *out = 0;
                undefined.insert(lane as u8);
            }
        }
    }
    undefined
}
