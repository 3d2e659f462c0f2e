//! Expressions as a list of steps, to evaluate them many times.

use crate::clock::Moment;

use beagle_trace::node::mask;
use beagle_trace::op::{Arity, Op};
use beagle_trace::{arithmetic, render};
use rustc_hash::FxHashMap;

use crate::facts::mask64;
use crate::pool::{Expr, Pool, Table, Term};
use crate::variable::Variable;

/// Larger questions are only for those who have to.
const MOST_STEPS: usize = 1 << 17;
/// So many steps are made before the clock is looked at.
const STEPS_PER_CHECK: usize = 1 << 10;

/// One operation; operands are numbers of earlier steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// What the step computes, with operands as in the pool.
    pub term: Term,
    /// The steps of the operands.
    pub from: [u32; 3],
    /// The expression.
    pub expr: Expr,
}

/// What a look-up reads.
#[derive(Clone, Debug)]
pub(crate) struct Lookup {
    /// The bytes that do not depend on the input; 0 for the others.
    pub bytes: Vec<u8>,
    /// The steps of the bytes that depend on the input, by index.
    pub cells: Vec<(u32, u32)>,
}

/// Expressions with all that they are made of, in an order in which they can be computed.
#[derive(Clone, Debug)]
pub struct Tape {
    pub(crate) steps: Vec<Step>,
    constants: Vec<(u32, u128)>,
    roots: Vec<u32>,
    variables: Vec<(Variable, u32)>,
    lookups: FxHashMap<u32, Lookup>,
    conversions: FxHashMap<u32, String>,
    at: FxHashMap<Expr, u32>,
    wide: bool,
}

/// The values of the steps of a tape for one input; a value is `None` where an operator is not
/// defined.
#[derive(Clone, Debug, Default)]
pub struct Values {
    bits: Vec<u128>,
    undefined: Vec<bool>,
}

impl Tape {
    /// The steps that compute these expressions.
    pub fn new(pool: &Pool, roots: &[Expr]) -> Self {
        let mut tape = Self::empty();
        for &root in roots {
            tape.add(pool, root, |_| true);
        }
        tape
    }

    /// The same, unless there are too many steps or the time is up.
    pub(crate) fn until(pool: &Pool, roots: &[Expr], deadline: Moment) -> Option<Self> {
        let mut tape = Self::empty();
        let mut check = 0;
        let mut go_on = |steps: usize| {
            if steps < check {
                return true;
            }
            check = steps + STEPS_PER_CHECK;
            steps <= MOST_STEPS && Moment::now() < deadline
        };
        let complete = roots.iter().all(|&root| tape.add(pool, root, &mut go_on));
        complete.then_some(tape)
    }

    /// The steps that compute an expression, unless there are more than so many.
    pub(crate) fn at_most(pool: &Pool, root: Expr, most: usize) -> Option<Self> {
        let mut tape = Self::empty();
        tape.add(pool, root, |steps| steps < most).then_some(tape)
    }

    fn empty() -> Self {
        Self {
            steps: Vec::new(),
            constants: Vec::new(),
            roots: Vec::new(),
            variables: Vec::new(),
            lookups: FxHashMap::default(),
            conversions: FxHashMap::default(),
            at: FxHashMap::default(),
            wide: false,
        }
    }

    /// Adds an expression, unless it is told to stop on the way.
    fn add(&mut self, pool: &Pool, root: Expr, mut go_on: impl FnMut(usize) -> bool) -> bool {
        // Expressions are deep; no recursion.
        let mut todo = vec![(root, false)];
        while let Some((expr, ready)) = todo.pop() {
            if self.at.contains_key(&expr) {
                continue;
            }
            let term = pool.term(expr);
            if !ready {
                todo.push((expr, true));
                todo.extend(term.operands().map(|operand| (operand, false)));
                if term.op == Op::Lookup {
                    let cells = &pool.table(term.b).cells;
                    todo.extend(cells.iter().map(|&(_, cell)| (cell, false)));
                }
                continue;
            }
            if !go_on(self.steps.len()) {
                return false;
            }
            self.push(pool, expr, term);
        }
        self.roots.push(self.at[&root]);
        true
    }

    fn push(&mut self, pool: &Pool, expr: Expr, term: Term) {
        let number = self.steps.len() as u32;
        let mut from = [0; 3];
        for (field, operand) in from.iter_mut().zip(term.operands()) {
            *field = self.at[&operand];
        }
        match term.op {
            Op::Const => self.constants.push((number, pool.constant_value(&term))),
            Op::Var | Op::Size | Op::ArgCount => self.variables.push((Variable(term.c), number)),
            Op::Lookup if !self.lookups.contains_key(&term.b) => {
                let Table { bytes, cells } = pool.table(term.b);
                let cells = cells.iter().map(|&(index, cell)| (index, self.at[&cell]));
                let (bytes, cells) = (bytes.clone(), cells.collect());
                self.lookups.insert(term.b, Lookup { bytes, cells });
            }
            Op::RenderByte | Op::RenderLen => {
                let text = pool.conversion(term.b);
                self.conversions
                    .entry(term.b)
                    .or_insert_with(|| text.into());
            }
            _ => {}
        }
        self.wide |= term.width > 64;
        self.at.insert(expr, number);
        self.steps.push(Step { term, from, expr });
    }

    /// The variables with their steps.
    pub(crate) fn variables(&self) -> &[(Variable, u32)] {
        &self.variables
    }

    /// The steps of the expressions that the tape was made for, in their order.
    pub(crate) fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Computes all steps. Bits of a variable above its width do not count.
    pub fn run(&self, values: &mut Values, variable: impl FnMut(Variable) -> u128) {
        self.prepare(values, variable);
        for number in 0..self.steps.len() {
            self.step(values, number);
        }
    }

    /// Sets constants and variables.
    pub(crate) fn prepare(&self, values: &mut Values, mut variable: impl FnMut(Variable) -> u128) {
        values.bits.clear();
        values.bits.resize(self.steps.len(), 0);
        values.undefined.clear();
        values.undefined.resize(self.steps.len(), false);
        for &(step, value) in &self.constants {
            values.bits[step as usize] = value;
        }
        for &(name, step) in &self.variables {
            let width = self.steps[step as usize].term.width;
            values.bits[step as usize] = variable(name) & mask(width);
        }
    }

    /// Computes one step, of which the earlier ones are computed.
    pub(crate) fn step(&self, values: &mut Values, number: usize) {
        let step = &self.steps[number];
        if step.term.op.arity() == Arity::Leaf {
            return;
        }
        let fast = if self.wide {
            None
        } else {
            self.narrow(values, step)
        };
        let value = match fast {
            Some(bits) => Some(u128::from(bits)),
            None => self.compute(step, |step| values.get(step)),
        };
        values.bits[number] = value.unwrap_or(0);
        values.undefined[number] = value.is_none();
    }

    /// The operators that are used most, where all operands are defined.
    #[inline]
    fn narrow(&self, values: &Values, step: &Step) -> Option<u64> {
        let term = &step.term;
        let [i, j, k] = step.from.map(|from| from as usize);
        if values.undefined[i] || values.undefined[j] || values.undefined[k] {
            return None;
        }
        let (a, b) = (values.bits[i] as u64, values.bits[j] as u64);
        let width = term.width;
        let operand_width = self.steps[i].term.width;
        let signed = |value: u64, width: u16| {
            let unused = 64 - u32::from(width);
            ((value << unused) as i64) >> unused
        };
        let bits = match term.op {
            Op::Add => a.wrapping_add(b),
            Op::Sub => a.wrapping_sub(b),
            Op::Mul => a.wrapping_mul(b),
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::UDiv if b != 0 => a / b,
            Op::URem if b != 0 => a % b,
            Op::Shl if b < width.into() => a << b,
            Op::LShr if b < width.into() => a >> b,
            Op::Eq => (a == b).into(),
            Op::Ne => (a != b).into(),
            Op::Ult => (a < b).into(),
            Op::Ule => (a <= b).into(),
            Op::Slt => (signed(a, operand_width) < signed(b, operand_width)).into(),
            Op::Sle => (signed(a, operand_width) <= signed(b, operand_width)).into(),
            Op::ZExt => a,
            Op::SExt => signed(a, operand_width) as u64,
            Op::Extract => a >> term.c,
            Op::Concat => a << self.steps[j].term.width | b,
            Op::Ite if a != 0 => b,
            Op::Ite => values.bits[k] as u64,
            _ => return None,
        };
        Some(bits & mask64(width))
    }

    /// What a step computes, with the values of earlier steps from elsewhere.
    pub(crate) fn compute(&self, step: &Step, value: impl Fn(u32) -> Option<u128>) -> Option<u128> {
        let term = &step.term;
        let operand = |at: usize| {
            let from = step.from[at];
            let width = self.steps[from as usize].term.width;
            value(from).map(|bits| arithmetic::Value { bits, width })
        };
        match term.op {
            Op::Ite if operand(0)?.bits != 0 => Some(operand(1)?.bits),
            Op::Ite => Some(operand(2)?.bits),
            Op::Lookup => self.lookup(term, operand(0)?.bits, value),
            Op::RenderByte => {
                let byte = self
                    .text(term.b, operand(0)?)?
                    .get(term.c as usize)
                    .copied();
                Some(byte.unwrap_or(0).into())
            }
            Op::RenderLen => Some(self.text(term.b, operand(0)?)?.len() as u128 & mask(term.width)),
            op if op.arity() == Arity::One => {
                arithmetic::unary(op, term.width, operand(0)?, term.c)
            }
            op => arithmetic::binary(op, term.width, operand(0)?, operand(1)?, term.c),
        }
    }

    fn text(&self, conversion: u32, value: arithmetic::Value) -> Option<Vec<u8>> {
        render(self.conversions.get(&conversion)?, value.bits, value.width)
    }

    fn lookup(
        &self,
        term: &Term,
        offset: u128,
        value: impl Fn(u32) -> Option<u128>,
    ) -> Option<u128> {
        let Lookup { bytes, cells } = self.table(term.b)?;
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(usize::from(term.width / 8))?;
        let mut result = 0;
        for index in (start..end).rev() {
            let constant = *bytes.get(index)?;
            let cell = cells.binary_search_by_key(&index, |&(at, _)| at as usize);
            let byte = match cell {
                Ok(at) => value(cells[at].1)?,
                Err(_) => constant.into(),
            };
            result = result << 8 | byte;
        }
        Some(result)
    }

    /// What look-ups in the table with this number read.
    pub(crate) fn table(&self, number: u32) -> Option<&Lookup> {
        self.lookups.get(&number)
    }

    /// Whether all the expressions that the tape was made for are 1, where they are one bit.
    pub fn all_hold(&self, values: &Values) -> bool {
        self.roots.iter().all(|&root| values.get(root) == Some(1))
    }

    /// The value of the expression at this place of the list that the tape was made for.
    pub fn root(&self, values: &Values, index: usize) -> Option<u128> {
        values.get(self.roots[index])
    }
}

impl Values {
    /// The value of a step.
    pub(crate) fn get(&self, step: u32) -> Option<u128> {
        let at = step as usize;
        (!self.undefined[at]).then(|| self.bits[at])
    }

    /// Changes the value of a step that is a variable.
    pub(crate) fn set(&mut self, step: u32, value: u128) {
        self.bits[step as usize] = value;
    }

    /// Puts back the value of a step as it was before.
    pub(crate) fn restore(&mut self, step: u32, value: Option<u128>) {
        self.bits[step as usize] = value.unwrap_or(0);
        self.undefined[step as usize] = value.is_none();
    }
}
