//! From a condition that does not hold down to the variables: at each operator the wanted value is
//! turned into wanted values of operands.
//!
//! Where one operand alone can bring the value about, the other is left as it is; where both can,
//! chance decides; where neither can, one of them gets a value with which the other could. Values
//! that are put together of disjoint parts are taken apart again, so that a number of several bytes
//! is set in one move.

use beagle_trace::arithmetic::Value;
use beagle_trace::node::mask;
use beagle_trace::op::{Arity, Op};
use beagle_trace::render;

use super::invert::Operation;
use super::problem::{NONE, Problem};
use crate::random::Random;
use crate::tape::{Lookup, Step, Values};

/// No more wanted values are followed in one move.
const MOST_TARGETS: usize = 50_000;
/// An inverse has several values; so often another is tried if one is impossible.
const TRIES: usize = 3;
/// So many entries of a table are looked at.
const MOST_ENTRIES: usize = 1 << 16;

/// Reusable memory.
#[derive(Debug, Default)]
pub(crate) struct Propagation {
    todo: Vec<(u32, u128)>,
    /// The variables that the last move would change, with their new values.
    pub changes: Vec<(u32, u128)>,
    /// How many operators the last move went through.
    pub work: usize,
}

/// What a move reads.
struct View<'a, 'b> {
    problem: &'a Problem<'b>,
    values: &'a Values,
}

impl View<'_, '_> {
    fn operand(&self, step: &Step, which: usize) -> Value {
        let from = step.from[which];
        Value {
            bits: self.values.get(from).unwrap_or(0),
            width: self.problem.tape.steps[from as usize].term.width,
        }
    }

    fn varies(&self, step: u32) -> bool {
        self.problem.varies[step as usize]
    }

    /// The bits that may be 1 in a step of at most 64 bits.
    fn reach(&self, step: u32) -> u128 {
        let step = &self.problem.tape.steps[step as usize];
        if step.term.width > 64 {
            return mask(step.term.width);
        }
        !u128::from(self.problem.pool.facts(step.expr).zeros) & mask(step.term.width)
    }
}

impl Propagation {
    /// Finds new values of variables that might make a condition hold.
    pub(crate) fn go(
        &mut self,
        problem: &Problem<'_>,
        values: &Values,
        root: u32,
        random: &mut Random,
    ) {
        self.changes.clear();
        self.todo.clear();
        self.work = 0;
        self.todo.push((root, 1));
        let view = View { problem, values };
        while let Some((number, target)) = self.todo.pop() {
            self.work += 1;
            if self.work > MOST_TARGETS {
                return;
            }
            if values.get(number) == Some(target) || !problem.varies[number as usize] {
                continue;
            }
            match problem.unknown_at[number as usize] {
                NONE => self.operator(&view, number, target, random),
                unknown => self.variable(problem, unknown, target, random),
            }
        }
    }

    fn variable(&mut self, problem: &Problem<'_>, unknown: u32, target: u128, random: &mut Random) {
        let about = &problem.unknowns[unknown as usize];
        let value = if about.allows(target) {
            target
        } else if about.is_byte {
            let near = if random.once_in(4) {
                random.next() as u8
            } else {
                target as u8
            };
            match about.domain.best(near) {
                Some(byte) => byte.into(),
                None => return,
            }
        } else {
            return;
        };
        match self.changes.iter_mut().find(|(at, _)| *at == unknown) {
            Some(change) => change.1 = value,
            None => self.changes.push((unknown, value)),
        }
    }

    fn operator(&mut self, view: &View<'_, '_>, number: u32, target: u128, random: &mut Random) {
        let step = &view.problem.tape.steps[number as usize];
        let term = &step.term;
        let [a, b, _] = step.from;
        match term.op {
            Op::Concat => {
                let low = view.operand(step, 1).width;
                self.todo.push((a, target >> low));
                self.todo.push((b, target & mask(low)));
            }
            Op::Ite => self.choice(view, step, target, random),
            Op::And if target == mask(term.width) => {
                self.todo.push((a, target));
                self.todo.push((b, target));
            }
            Op::Or if target == 0 => {
                self.todo.push((a, target));
                self.todo.push((b, target));
            }
            Op::Add | Op::Or | Op::Xor if view.reach(a) & view.reach(b) == 0 => {
                self.todo.push((a, target & view.reach(a)));
                self.todo.push((b, target & view.reach(b)));
            }
            Op::Lookup => self.table(view, step, target, random),
            Op::RenderByte | Op::RenderLen => self.text(view, step, target, random),
            op if op.arity() == Arity::One => {
                let value = self.operand_value(view, step, 0, target, random);
                let value =
                    value.unwrap_or_else(|| operation(view, step).consistent(0, target, random));
                self.todo.push((a, value));
            }
            _ => self.two(view, step, target, random),
        }
    }

    /// A possible value of an operand that gives the target.
    fn operand_value(
        &mut self,
        view: &View<'_, '_>,
        step: &Step,
        which: usize,
        target: u128,
        random: &mut Random,
    ) -> Option<u128> {
        let operation = operation(view, step);
        let from = step.from[which];
        for _ in 0..TRIES {
            self.work += 1;
            let value = operation.inverse(which, target, random)?;
            if view.problem.possible(from, value) {
                return Some(value);
            }
        }
        None
    }

    fn two(&mut self, view: &View<'_, '_>, step: &Step, target: u128, random: &mut Random) {
        let [a, b, _] = step.from;
        if a == b {
            // Both change at once: only a square is of use.
            if let Some(root) = square_root(view, step, target) {
                self.todo.push((a, root));
                return;
            }
        }
        // What is not defined must become so first.
        for from in [a, b] {
            if view.values.get(from).is_none() {
                let width = view.problem.tape.steps[from as usize].term.width;
                let wish = if random.once_in(2) {
                    target
                } else {
                    random.wide()
                };
                self.todo.push((from, wish & mask(width)));
                return;
            }
        }
        let mut options = [None; 2];
        for (which, from) in [a, b].into_iter().enumerate() {
            if view.varies(from) {
                options[which] = self.operand_value(view, step, which, target, random);
            }
        }
        let which = match (options, view.varies(a), view.varies(b)) {
            ([Some(_), None], _, _) | (_, true, false) => 0,
            ([None, Some(_)], _, _) | (_, false, true) => 1,
            _ => random.below(2),
        };
        let value = options[which]
            .unwrap_or_else(|| operation(view, step).consistent(which, target, random));
        self.todo.push((step.from[which], value));
    }

    fn choice(&mut self, view: &View<'_, '_>, step: &Step, target: u128, random: &mut Random) {
        let [condition, yes, no] = step.from;
        let chosen = view.values.get(condition) == Some(1);
        let (here, there) = if chosen { (yes, no) } else { (no, yes) };
        let flip = (condition, u128::from(!chosen));
        let stays = view.varies(here) && view.problem.possible(here, target);
        let flips = view.varies(condition);
        if flips && view.values.get(there) == Some(target) && !(stays && random.once_in(3)) {
            self.todo.push(flip);
            return;
        }
        let useful = flips && view.varies(there) && view.problem.possible(there, target);
        if stays && !(useful && random.once_in(4)) {
            self.todo.push((here, target));
        } else if flips {
            self.todo.push(flip);
            self.todo.push((there, target));
        } else {
            self.todo.push((here, target));
        }
    }

    fn table(&mut self, view: &View<'_, '_>, step: &Step, target: u128, random: &mut Random) {
        let Some(Lookup { bytes, cells }) = view.problem.tape.table(step.term.b) else {
            return;
        };
        let size = usize::from(step.term.width / 8);
        let offset = step.from[0];
        let byte = |at: usize| match cells.binary_search_by_key(&at, |&(at, _)| at as usize) {
            Ok(place) => view.values.get(cells[place].1).unwrap_or(0) as u8,
            Err(_) => bytes[at],
        };
        let current = view
            .values
            .get(offset)
            .and_then(|at| usize::try_from(at).ok());
        let inside = current.filter(|&at| at.saturating_add(size) <= bytes.len());
        if let Some(start) = inside.filter(|_| !cells.is_empty() && random.once_in(2)) {
            // The bytes that are there can change, too.
            let first = cells.partition_point(|&(at, _)| (at as usize) < start);
            let read = cells[first..]
                .iter()
                .take_while(|&&(at, _)| (at as usize) < start + size);
            let before = self.todo.len();
            for &(at, cell) in read {
                let shift = 8 * (at as usize - start);
                self.todo.push((cell, target >> shift & 0xff));
            }
            if self.todo.len() > before {
                return;
            }
        }
        if !view.varies(offset) || size == 0 || bytes.len() < size {
            return;
        }
        let count = bytes.len() - size + 1;
        let start = random.below(count);
        self.work += count.min(MOST_ENTRIES) / 8;
        let places = (0..count.min(MOST_ENTRIES)).map(|step| (start + step) % count);
        let possible = |&at: &usize| view.problem.possible(offset, at as u128);
        let equal = |&at: &usize| (0..size).all(|of| byte(at + of) == (target >> (8 * of)) as u8);
        let found = places.clone().filter(equal).find(possible);
        let found = found.or_else(|| places.clone().find(possible));
        if let Some(at) = found {
            self.todo.push((offset, at as u128));
        }
    }

    /// The number whose text has the wanted byte or length.
    fn text(&mut self, view: &View<'_, '_>, step: &Step, target: u128, random: &mut Random) {
        let operand = view.operand(step, 0);
        let conversion = view.problem.pool.conversion(step.term.b);
        let shown = |bits: u128| render(conversion, bits, operand.width);
        let gives = |bits: u128| match (step.term.op, shown(bits)) {
            (Op::RenderLen, Some(text)) => text.len() as u128 == target,
            (_, Some(text)) => {
                let byte = text.get(step.term.c as usize).copied().unwrap_or(0);
                u128::from(byte) == target
            }
            (_, None) => false,
        };
        let mut tries = Vec::new();
        if step.term.op == Op::RenderByte {
            let mut text = shown(operand.bits).unwrap_or_default();
            let at = step.term.c as usize;
            if at < text.len() {
                text[at] = target as u8;
                tries.extend(read_number(&text, conversion, operand.width));
            }
        }
        let radix: u128 = match conversion.as_bytes().last() {
            Some(b'x' | b'X') => 16,
            Some(b'o') => 8,
            _ => 10,
        };
        // Numbers of each length, of both signs.
        for power in 0..20 {
            let digit = (target & 15).clamp(1, radix - 1);
            let number = digit * radix.pow(power);
            tries.extend([number, number.wrapping_neg(), number + radix.pow(power) / 3]);
        }
        let tries = tries.into_iter().map(|bits| bits & mask(operand.width));
        self.work += 600;
        let found = tries
            .filter(|&bits| view.problem.possible(step.from[0], bits))
            .find(|&bits| gives(bits));
        let value = found.unwrap_or_else(|| random.wide() & mask(operand.width));
        self.todo.push((step.from[0], value));
    }
}

fn operation(view: &View<'_, '_>, step: &Step) -> Operation {
    let second = match step.term.op.arity() {
        Arity::Two => view.operand(step, 1),
        _ => view.operand(step, 0),
    };
    Operation {
        op: step.term.op,
        width: step.term.width,
        field: step.term.c,
        operands: [view.operand(step, 0), second],
    }
}

fn square_root(view: &View<'_, '_>, step: &Step, target: u128) -> Option<u128> {
    let sign = view.operand(step, 0).bits >> (step.term.width - 1) & 1 == 1;
    match (step.term.op, step.term.width) {
        (Op::Mul, _) => Some(target.isqrt()),
        (Op::FMul, 32) => {
            let root = f32::from_bits(target as u32).sqrt();
            Some(if sign { -root } else { root }.to_bits().into())
        }
        (Op::FMul, _) => {
            let root = f64::from_bits(target as u64).sqrt();
            Some(if sign { -root } else { root }.to_bits().into())
        }
        (Op::Add, _) => Some(target >> 1),
        (Op::FAdd, 32) => Some((f32::from_bits(target as u32) / 2.0).to_bits().into()),
        (Op::FAdd, _) => Some((f64::from_bits(target as u64) / 2.0).to_bits().into()),
        _ => None,
    }
}

/// The number that a text shows.
fn read_number(text: &[u8], conversion: &str, width: u16) -> Option<u128> {
    let text = std::str::from_utf8(text).ok()?.trim();
    match conversion.as_bytes().last()? {
        b'd' | b'i' | b'u' => {
            let number: i128 = text.parse().ok()?;
            Some(number as u128)
        }
        b'x' | b'X' => {
            let digits = text.trim_start_matches("0x").trim_start_matches("0X");
            u128::from_str_radix(digits, 16).ok()
        }
        b'o' => u128::from_str_radix(text, 8).ok(),
        b'c' => text.bytes().next().map(u128::from),
        _ => {
            let number: f64 = text.parse().ok()?;
            Some(if width == 32 {
                (number as f32).to_bits().into()
            } else {
                number.to_bits().into()
            })
        }
    }
}
