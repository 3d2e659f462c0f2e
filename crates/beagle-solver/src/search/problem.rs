//! What is searched: conditions as a tape, and how its steps depend on the variables.

use crate::clock::Moment;
use std::rc::Rc;

use beagle_trace::op::Op;

use super::floats;
use crate::bytes::ByteSet;
use crate::pool::{Expr, Pool};
use crate::tape::Tape;
use crate::variable::Variable;

/// No such thing.
pub(crate) const NONE: u32 = u32::MAX;
/// So many entries of lists of dependents are kept.
const KEPT: usize = 1 << 22;
/// No input is longer, as far as the search goes.
const LONGEST: u128 = 1 << 20;

/// A variable that the search may change.
#[derive(Clone, Debug)]
pub(crate) struct Unknown {
    /// The variable.
    pub variable: Variable,
    /// Its step.
    pub step: u32,
    /// Its value in the parent input.
    pub hint: u128,
    /// Whether it is a byte; else it is a length or a number of arguments.
    pub is_byte: bool,
    /// The values that a byte may have.
    pub domain: ByteSet,
    /// The values that are not excluded: also those for which a condition is not defined.
    pub open: ByteSet,
}

impl Unknown {
    /// Whether it may have a value.
    pub(crate) fn allows(&self, value: u128) -> bool {
        if self.is_byte {
            u8::try_from(value).is_ok_and(|byte| self.domain.contains(byte))
        } else {
            value <= LONGEST.max(self.hint)
        }
    }
}

/// Conditions that must hold at once.
pub(crate) struct Problem<'a> {
    /// Where the expressions are.
    pub pool: &'a Pool,
    /// The steps.
    pub tape: Tape,
    /// The variables.
    pub unknowns: Vec<Unknown>,
    /// The steps of the conditions, each once.
    pub roots: Vec<u32>,
    /// For each step the place of the condition that it is.
    pub root_at: Vec<u32>,
    /// For each step the place of the variable that it is.
    pub unknown_at: Vec<u32>,
    /// Whether a step depends on a variable.
    pub varies: Vec<bool>,
    /// Which steps use a step: for each the end of its part of `users`.
    ends: Vec<u32>,
    users: Vec<u32>,
    /// How much work a step is, in units of about twenty nanoseconds.
    pub work: Vec<u8>,
    dependents: Vec<Option<Rc<[u32]>>>,
    /// For each variable the work for the steps that depend on it, in all lanes.
    lane_work: Vec<usize>,
    kept: usize,
    variables: Vec<Option<Rc<[u32]>>>,
}

/// Calls with each step that a step reads.
fn operands(tape: &Tape, number: usize, mut found: impl FnMut(u32)) {
    let step = &tape.steps[number];
    for (_, from) in step.term.operands().zip(step.from) {
        found(from);
    }
    if step.term.op == Op::Lookup {
        let cells = tape
            .table(step.term.b)
            .map_or(&[][..], |table| &table.cells);
        for &(_, cell) in cells {
            found(cell);
        }
    }
}

/// The work of an operator that processors have.
const PLAIN: u8 = 1;

fn step_work(tape: &Tape, number: usize) -> u8 {
    let step = &tape.steps[number];
    let wide = step
        .from
        .iter()
        .any(|&from| tape.steps[from as usize].term.width > 64);
    match step.term.op {
        Op::RenderByte | Op::RenderLen => 50,
        op if floats::is_float(op) => 3,
        _ if wide || step.term.width > 64 => 3,
        _ => PLAIN,
    }
}

impl<'a> Problem<'a> {
    /// The conditions, with a way to know the hint and the domains of variables; `None` if they are too
    /// large or the time is up.
    pub(crate) fn new(
        pool: &'a Pool,
        conditions: &[Expr],
        deadline: Moment,
        mut unknown: impl FnMut(Variable, u32, bool) -> Unknown,
    ) -> Option<Self> {
        let tape = Tape::until(pool, conditions, deadline)?;
        let count = tape.len();
        let mut unknown_at = vec![NONE; count];
        let mut varies = vec![false; count];
        let mut unknowns = Vec::with_capacity(tape.variables().len());
        for &(variable, step) in tape.variables() {
            unknown_at[step as usize] = unknowns.len() as u32;
            varies[step as usize] = true;
            let is_byte = tape.steps[step as usize].term.op == Op::Var;
            unknowns.push(unknown(variable, step, is_byte));
        }
        let mut roots = Vec::with_capacity(conditions.len());
        let mut root_at = vec![NONE; count];
        for &root in tape.roots() {
            if root_at[root as usize] == NONE {
                root_at[root as usize] = roots.len() as u32;
                roots.push(root);
            }
        }
        let mut ends = vec![0; count + 1];
        for number in 0..count {
            let mut any = varies[number];
            operands(&tape, number, |from| {
                ends[from as usize] += 1;
                any |= varies[from as usize];
            });
            varies[number] = any;
        }
        let mut total = 0;
        for end in &mut ends {
            total += *end;
            *end = total;
        }
        // Filled from the back, the ends become starts.
        let mut users = vec![0; total as usize];
        for number in (0..count).rev() {
            operands(&tape, number, |from| {
                ends[from as usize] -= 1;
                users[ends[from as usize] as usize] = number as u32;
            });
        }
        let work = (0..count).map(|number| step_work(&tape, number)).collect();
        Some(Self {
            pool,
            work,
            lane_work: vec![0; unknowns.len()],
            dependents: vec![None; unknowns.len()],
            variables: vec![None; roots.len()],
            kept: 0,
            tape,
            unknowns,
            roots,
            root_at,
            unknown_at,
            varies,
            ends,
            users,
        })
    }

    /// The steps that depend on a variable, in ascending order, without its own.
    pub(crate) fn dependents(&mut self, unknown: u32) -> Rc<[u32]> {
        if let Some(known) = &self.dependents[unknown as usize] {
            return known.clone();
        }
        let start = self.unknowns[unknown as usize].step;
        let mut marks = vec![0u64; self.tape.len() / 64 + 1];
        let mut todo = vec![start];
        let mut found = 0;
        while let Some(step) = todo.pop() {
            let from = self.ends[step as usize] as usize;
            let to = self.ends[step as usize + 1] as usize;
            for &user in &self.users[from..to] {
                let word = &mut marks[user as usize / 64];
                if *word >> (user % 64) & 1 == 0 {
                    *word |= 1 << (user % 64);
                    found += 1;
                    todo.push(user);
                }
            }
        }
        let mut list = Vec::with_capacity(found);
        drain_marks(&mut marks, |step| list.push(step));
        if self.kept + list.len() > KEPT {
            // Along a checksum all lists together would be too long.
            self.dependents.fill(None);
            self.kept = 0;
        }
        self.kept += list.len();
        let work = list.iter().map(|&step| self.step_lane_work(step));
        self.lane_work[unknown as usize] = work.sum();
        let list: Rc<[u32]> = list.into();
        self.dependents[unknown as usize] = Some(list.clone());
        list
    }

    fn step_lane_work(&self, step: u32) -> usize {
        match (
            self.tape.steps[step as usize].term.op,
            self.work[step as usize],
        ) {
            (Op::UDiv | Op::URem | Op::SDiv | Op::SRem, PLAIN) => 100,
            (_, PLAIN) => 8,
            (_, work) => usize::from(work) * 128,
        }
    }

    /// How much work it is to compute what depends on a variable in all lanes.
    pub(crate) fn lane_work(&mut self, unknown: u32) -> usize {
        self.dependents(unknown);
        self.lane_work[unknown as usize]
    }

    /// The variables of a condition, by place.
    pub(crate) fn variables(&mut self, root: u32) -> Rc<[u32]> {
        if let Some(known) = &self.variables[root as usize] {
            return known.clone();
        }
        let expr = self.tape.steps[self.roots[root as usize] as usize].expr;
        let list: Rc<[u32]> = if self.unknowns.len() == 1 {
            Rc::new([0])
        } else {
            let variables = self.pool.variables_of(expr);
            let known = self.unknowns.iter().enumerate();
            let found =
                known.filter(|(_, unknown)| variables.binary_search(&unknown.variable).is_ok());
            found.map(|(at, _)| at as u32).collect()
        };
        self.variables[root as usize] = Some(list.clone());
        list
    }

    /// Whether what is known of a step allows a value.
    pub(crate) fn possible(&self, step: u32, value: u128) -> bool {
        let Some(&unknown) = self.unknown_at.get(step as usize) else {
            return false;
        };
        if unknown != NONE {
            return self.unknowns[unknown as usize].allows(value);
        }
        let step = &self.tape.steps[step as usize];
        let Ok(value) = u64::try_from(value) else {
            return step.term.width > 64;
        };
        if step.term.width > 64 {
            return true;
        }
        let facts = self.pool.facts(step.expr);
        let bits = value & facts.zeros == 0 && value & facts.ones == facts.ones;
        bits && (facts.min..=facts.max).contains(&value)
    }
}

/// Calls with the marked numbers in ascending order and takes the marks away.
pub(crate) fn drain_marks(marks: &mut [u64], mut found: impl FnMut(u32)) {
    for (at, word) in marks.iter_mut().enumerate() {
        while *word != 0 {
            found(at as u32 * 64 + word.trailing_zeros());
            *word &= *word - 1;
        }
    }
}
