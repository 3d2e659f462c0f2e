//! Comparisons of sums: decimal numbers, words of several bytes, checksums.
//!
//! A comparison is read as one of a sum of bytes, each with a factor, over the integers; bytes are
//! then chosen from the greatest factor to the least, as one writes a number digit by digit, with an
//! eye on the other comparisons of the same bytes. What the reading leaves out (overflow, signs)
//! does not matter much: every answer is tried.

use beagle_trace::arithmetic::Value;
use beagle_trace::op::Op;

use super::problem::{NONE, Problem};
use crate::bytes::{ByteSet, reluctance};
use crate::tape::Values;

/// Longer sums are left alone.
const MOST_PARTS: usize = 24;
/// So many steps of an expression are read.
const MOST_STEPS: usize = 400;
/// So many choices are tried.
const MOST_CHOICES: usize = 3_000;
/// So many other conditions are looked at.
const MOST_OTHERS: usize = 64;
/// So many comparisons are solved at once.
const MOST_COMPARISONS: usize = 12;

/// A sum of bytes, each with a factor, and the bounds between which it must be.
#[derive(Clone, Debug, Default)]
struct Comparison {
    factors: Vec<(u32, i128)>,
    low: i128,
    high: i128,
}

/// Finds new values of bytes with which a condition that compares sums might hold, and adds how
/// much work it was.
pub(crate) fn solve(
    problem: &Problem<'_>,
    values: &Values,
    root: u32,
    work: &mut usize,
) -> Option<Vec<(u32, u128)>> {
    *work += 20;
    let first = Comparison::read(problem, values, root)?;
    let mut comparisons = vec![first];
    for &other in problem
        .roots
        .iter()
        .filter(|&&other| other != root)
        .take(MOST_OTHERS)
    {
        *work += 20;
        let Some(other) = Comparison::read(problem, values, other) else {
            continue;
        };
        let known = |unknown: u32| {
            let mut all = comparisons.iter().flat_map(|known| &known.factors);
            all.any(|&(at, _)| at == unknown)
        };
        if other.factors.iter().any(|&(unknown, _)| known(unknown)) {
            comparisons.push(other);
            if comparisons.len() == MOST_COMPARISONS {
                break;
            }
        }
    }
    let together = System::new(problem, values, &comparisons)
        .filter(|_| comparisons.len() > 1)
        .and_then(|mut system| system.solve(work));
    // The others may be misread.
    together.or_else(|| System::new(problem, values, &comparisons[..1])?.solve(work))
}

/// The comparison under negations, and which outcome is wanted of it.
fn peeled(problem: &Problem<'_>, values: &Values, root: u32) -> Option<(u32, bool)> {
    let (mut step, mut wanted) = (root, true);
    loop {
        let node = &problem.tape.steps[step as usize];
        let [a, b, _] = node.from;
        if node.term.op != Op::Xor || node.term.width != 1 {
            return node.term.op.is_comparison().then_some((step, wanted));
        }
        let (inner, outer) = if problem.varies[a as usize] {
            (a, b)
        } else {
            (b, a)
        };
        if problem.varies[outer as usize] {
            return None;
        }
        wanted ^= values.get(outer)? == 1;
        step = inner;
    }
}

impl Comparison {
    fn read(problem: &Problem<'_>, values: &Values, root: u32) -> Option<Self> {
        let (step, wanted) = peeled(problem, values, root)?;
        let node = &problem.tape.steps[step as usize];
        let [a, b, _] = node.from;
        let width = problem.tape.steps[a as usize].term.width;
        if width > 64 {
            return None;
        }
        // The difference of both sides.
        let far = 1i128 << 100;
        let (low, high) = match (node.term.op, wanted) {
            (Op::Eq, true) | (Op::Ne, false) => (0, 0),
            (Op::Ult | Op::Slt, true) => (-far, -1),
            (Op::Ult | Op::Slt, false) => (0, far),
            (Op::Ule | Op::Sle, true) => (-far, 0),
            (Op::Ule | Op::Sle, false) => (1, far),
            _ => return None,
        };
        let mut constant = 0;
        let mut sides = Vec::with_capacity(8);
        for (side, factor) in [(a, 1), (b, -1)] {
            if problem.varies[side as usize] {
                sides.push((side, factor));
            } else {
                let bits = values.get(side)?;
                let unsigned = matches!(node.term.op, Op::Ult | Op::Ule);
                let signed = Value { bits, width }.signed();
                constant += factor * if unsigned { bits as i128 } else { signed };
            }
        }
        let mut comparison = Self::default();
        constant += comparison.sum(problem, values, sides)?;
        (comparison.low, comparison.high) = (low - constant, high - constant);
        comparison.factors.retain(|&(_, factor)| factor != 0);
        if low == high {
            comparison.turn(problem, 1 << width)?;
        }
        (!comparison.factors.is_empty()).then_some(comparison)
    }

    /// Chooses among equal numbers the one that the sum can be: 0xffffffff is -1.
    fn turn(&mut self, problem: &Problem<'_>, around: i128) -> Option<()> {
        let (mut least, mut most) = (0, 0);
        for &(unknown, factor) in &self.factors {
            let (low, high) = ends(problem.unknowns[unknown as usize].domain, factor)?;
            (least, most) = (least + low, most + high);
        }
        let turns = [0, around, -around];
        let turn = turns
            .into_iter()
            .find(|turn| (least..=most).contains(&(self.low + turn)))?;
        (self.low, self.high) = (self.low + turn, self.high + turn);
        Some(())
    }

    /// Reads a sum; the part that is constant.
    fn sum(
        &mut self,
        problem: &Problem<'_>,
        values: &Values,
        mut todo: Vec<(u32, i128)>,
    ) -> Option<i128> {
        let mut constant = 0;
        for _ in 0..MOST_STEPS {
            let Some((step, factor)) = todo.pop() else {
                return Some(constant);
            };
            let node = &problem.tape.steps[step as usize];
            let [a, b, _] = node.from;
            let Value { bits, width } = Value {
                bits: values.get(step)?,
                width: node.term.width,
            };
            let unknown = problem.unknown_at[step as usize];
            if unknown != NONE && problem.unknowns[unknown as usize].is_byte {
                self.add(unknown, factor)?;
                continue;
            }
            let fixed = |step: u32| !problem.varies[step as usize];
            let number = |step: u32| {
                let bits = values.get(step)?;
                let width = problem.tape.steps[step as usize].term.width;
                Some(Value { bits, width }.signed())
            };
            let disjoint = || {
                let zeros = |step: u32| {
                    problem
                        .pool
                        .facts(problem.tape.steps[step as usize].expr)
                        .zeros
                };
                zeros(a) | zeros(b) == u64::MAX
            };
            match node.term.op {
                Op::Add => todo.extend([(a, factor), (b, factor)]),
                Op::Or | Op::Xor if width <= 64 && disjoint() => {
                    todo.extend([(a, factor), (b, factor)])
                }
                Op::Sub => todo.extend([(a, factor), (b, factor.checked_neg()?)]),
                Op::Mul if fixed(a) => todo.push((b, factor.checked_mul(number(a)?)?)),
                Op::Mul if fixed(b) => todo.push((a, factor.checked_mul(number(b)?)?)),
                Op::Shl if fixed(b) && values.get(b)? < 64 => {
                    todo.push((a, factor.checked_mul(1 << values.get(b)?)?));
                }
                Op::ZExt | Op::SExt => todo.push((a, factor)),
                Op::Extract if node.term.c == 0 => todo.push((a, factor)),
                Op::Concat => {
                    let low = problem.tape.steps[b as usize].term.width;
                    todo.push((a, factor.checked_mul(1i128.checked_shl(low.into())?)?));
                    todo.push((b, factor));
                }
                _ => {
                    let value = Value { bits, width }.signed();
                    let total = factor.checked_mul(value)?;
                    // Far from where the sums below could overflow.
                    if total.unsigned_abs() >= 1 << 100 {
                        return None;
                    }
                    constant += total;
                }
            }
        }
        None
    }

    fn add(&mut self, unknown: u32, factor: i128) -> Option<()> {
        // So that no sum can overflow.
        if factor.unsigned_abs() >= 1 << 80 {
            return None;
        }
        if let Some(known) = self.factors.iter_mut().find(|known| known.0 == unknown) {
            known.1 += factor;
            return Some(());
        }
        self.factors.push((unknown, factor));
        (self.factors.len() <= MOST_PARTS).then_some(())
    }
}

/// The least and the greatest product of a factor with a value of the set.
fn ends(domain: ByteSet, factor: i128) -> Option<(i128, i128)> {
    let ends = [domain.least()?, domain.greatest()?];
    let [p, q] = ends.map(|end| factor * i128::from(end));
    Some((p.min(q), p.max(q)))
}

/// A byte of a system.
#[derive(Clone, Debug)]
struct Part {
    unknown: u32,
    current: u8,
    domain: ByteSet,
    /// How much it counts.
    greatest: u128,
}

/// A comparison of a system, while bytes are chosen.
#[derive(Clone, Debug)]
struct Row {
    /// For each part its factor; 0 if it does not count.
    factors: Vec<i128>,
    /// The least and the greatest sum of the parts from each on.
    rest: Vec<(i128, i128)>,
    low: i128,
    high: i128,
}

impl Row {
    /// The values of a part with which the other parts can still do the rest.
    fn values(&self, at: usize) -> Option<(i128, i128)> {
        let (least, most) = self.rest[at + 1];
        let (low, high) = (self.low - most, self.high - least);
        // Where the factor is negative, so are the bounds.
        let (factor, low, high) = match self.factors[at] {
            0 => return None,
            factor if factor < 0 => (-factor, -high, -low),
            factor => (factor, low, high),
        };
        let first = low.div_euclid(factor) + i128::from(low.rem_euclid(factor) != 0);
        Some((first, high.div_euclid(factor)))
    }

    fn take(&mut self, at: usize, value: i128) {
        self.low -= self.factors[at] * value;
        self.high -= self.factors[at] * value;
    }
}

/// Comparisons that are to hold at once.
struct System {
    parts: Vec<Part>,
    rows: Vec<Row>,
    chosen: Vec<u8>,
    choices: usize,
}

impl System {
    fn new(problem: &Problem<'_>, values: &Values, comparisons: &[Comparison]) -> Option<Self> {
        let mut parts: Vec<Part> = Vec::new();
        for &(unknown, factor) in comparisons.iter().flat_map(|known| &known.factors) {
            let size = factor.unsigned_abs();
            match parts.iter_mut().find(|part| part.unknown == unknown) {
                Some(part) => part.greatest = part.greatest.max(size),
                None => {
                    let about = &problem.unknowns[unknown as usize];
                    parts.push(Part {
                        unknown,
                        current: values.get(about.step)? as u8,
                        domain: about.domain,
                        greatest: size,
                    });
                }
            }
        }
        if parts.len() > MOST_PARTS {
            return None;
        }
        parts.sort_by_key(|part| std::cmp::Reverse(part.greatest));
        let mut rows = Vec::with_capacity(comparisons.len());
        for comparison in comparisons {
            let factor = |part: &Part| {
                let mut factors = comparison.factors.iter();
                factors
                    .find(|known| known.0 == part.unknown)
                    .map_or(0, |known| known.1)
            };
            let factors: Vec<i128> = parts.iter().map(factor).collect();
            let mut rest = vec![(0, 0); parts.len() + 1];
            for (at, part) in parts.iter().enumerate().rev() {
                let (low, high) = ends(part.domain, factors[at])?;
                rest[at] = (rest[at + 1].0 + low, rest[at + 1].1 + high);
            }
            let (low, high) = (comparison.low, comparison.high);
            rows.push(Row {
                factors,
                rest,
                low,
                high,
            });
        }
        Some(Self {
            chosen: Vec::with_capacity(parts.len()),
            parts,
            rows,
            choices: MOST_CHOICES,
        })
    }

    /// Values for the parts with as few changes as possible, as far as the work allows.
    fn solve(&mut self, work: &mut usize) -> Option<Vec<(u32, u128)>> {
        let found = (1..=self.parts.len()).any(|changes| self.find(changes));
        *work += (MOST_CHOICES - self.choices) * (2 + self.rows.len());
        let chosen = self.parts.iter().zip(&self.chosen);
        let changed = chosen.filter(|(part, value)| part.current != **value);
        let changes = changed.map(|(part, &value)| (part.unknown, value.into()));
        found.then(|| changes.collect())
    }

    /// Chooses the parts from the next on; the depth is at most [`MOST_PARTS`].
    fn find(&mut self, changes: usize) -> bool {
        let at = self.chosen.len();
        let Some(part) = self.parts.get(at) else {
            return self.rows.iter().all(|row| row.low <= 0 && 0 <= row.high);
        };
        let (mut first, mut last) = (0, 255);
        for (low, high) in self.rows.iter().filter_map(|row| row.values(at)) {
            (first, last) = (low.max(first), high.min(last));
        }
        let current = part.current;
        let possible = |&value: &u8| part.domain.contains(value);
        let mut values: Vec<u8> = if changes == 0 {
            let fits = (first..=last).contains(&i128::from(current));
            fits.then_some(current).into_iter().collect()
        } else {
            (first..=last)
                .map(|value| value as u8)
                .filter(possible)
                .collect()
        };
        values.sort_unstable_by_key(|&value| reluctance(value, current));
        for value in values {
            if self.choices == 0 {
                return false;
            }
            self.choices -= 1;
            self.chosen.push(value);
            let number = i128::from(value);
            self.rows.iter_mut().for_each(|row| row.take(at, number));
            if self.find(changes - usize::from(value != current)) {
                return true;
            }
            self.rows.iter_mut().for_each(|row| row.take(at, -number));
            self.chosen.pop();
        }
        false
    }
}
