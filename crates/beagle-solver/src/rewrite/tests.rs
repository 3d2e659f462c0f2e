//! Each rule is checked by evaluation, on all terms of few bits and on random ones, and proved by Z3
//! on terms that it applies to.

mod examples;
mod prove;
mod random;
mod small;

use std::cell::RefCell;

use beagle_trace::arithmetic::{self, Value};
use beagle_trace::node::mask;
use beagle_trace::op::{Arity, Op};

use crate::pool::{Expr, Pool, Term};
use crate::random::Random;
use crate::variable::{SourceKey, VariableKind};

/// An application of a rule: its name, the term before, the expression after.
pub(super) type Applied = (&'static str, Term, Expr);

thread_local! {
    static LOG: RefCell<Option<Vec<Applied>>> = const { RefCell::new(None) };
}

/// Notes the application of a rule, if anyone asked for it.
pub(super) fn log(rule: &'static str, term: Term, expr: Expr) {
    LOG.with_borrow_mut(|log| {
        if let Some(log) = log {
            log.push((rule, term, expr));
        }
    });
}

/// The applications of rules while something is done.
pub(super) fn logged<T>(work: impl FnOnce() -> T) -> (T, Vec<Applied>) {
    LOG.set(Some(Vec::new()));
    let result = work();
    (result, LOG.take().unwrap_or_default())
}

/// A byte of standard input.
pub(super) fn byte(pool: &mut Pool, index: u32) -> Expr {
    let source = pool.source(&SourceKey::Stdin);
    pool.variable(VariableKind::Byte(source, index))
}

/// An unknown of 64 bits.
pub(super) fn long(pool: &mut Pool, index: u32) -> Expr {
    let source = pool.source(&SourceKey::Argument(index));
    pool.variable(VariableKind::Size(source))
}

/// Random numbers, and constants at places where things go wrong.
pub(super) struct Dice(Random);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    pub(super) fn roll(&mut self) -> u64 {
        self.0.next()
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0.below(end)
    }

    pub(super) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        self.0.pick(all)
    }

    /// A number at one of the places where things go wrong, or any.
    pub(super) fn constant(&mut self, width: u16) -> u128 {
        let bit = 1u128 << self.below(width.into());
        let value = match self.below(12) {
            0 => 0,
            1 => 1,
            2 => u128::MAX,
            3 => 1 << (width - 1),
            4 => (1 << (width - 1)) - 1,
            5 => bit,
            6 => bit - 1,
            7 => bit.wrapping_neg(),
            8 => 48,
            9 => u128::from(self.roll() % 16),
            10 => u128::from(self.roll() % 256),
            _ => u128::from(self.roll()) << 64 | u128::from(self.roll()),
        };
        value & mask(width)
    }
}

/// A pool with the values of all its expressions for some inputs.
pub(super) struct Checker {
    pub pool: Pool,
    /// The values of each variable, by its number.
    inputs: Vec<Vec<u128>>,
    count: usize,
    values: Vec<Vec<Option<u128>>>,
}

impl Checker {
    pub(super) fn new(pool: Pool, inputs: Vec<Vec<u128>>) -> Self {
        let count = inputs[0].len();
        Self {
            pool,
            inputs,
            count,
            values: Vec::new(),
        }
    }

    fn compute(&self, term: &Term, at: usize) -> Option<u128> {
        let operand = |field: u32| {
            let bits = self.values[field as usize][at]?;
            let width = self.pool.width(Expr(field));
            Some(Value { bits, width })
        };
        match (term.op, term.op.arity()) {
            (Op::Const, _) => Some(self.pool.constant_value(term)),
            (_, Arity::Leaf) => Some(self.inputs[term.c as usize][at] & mask(term.width)),
            (Op::Ite, _) if operand(term.a)?.bits == 1 => Some(operand(term.b)?.bits),
            (Op::Ite, _) => Some(operand(term.c)?.bits),
            (_, Arity::One) => arithmetic::unary(term.op, term.width, operand(term.a)?, term.c),
            _ => {
                let (a, b) = (operand(term.a)?, operand(term.b)?);
                arithmetic::binary(term.op, term.width, a, b, term.c)
            }
        }
    }

    /// The values of a term.
    fn values_of(&mut self, term: &Term) -> Vec<Option<u128>> {
        self.update();
        (0..self.count).map(|at| self.compute(term, at)).collect()
    }

    fn update(&mut self) {
        for index in self.values.len()..self.pool.len() {
            let term = self.pool.term(Expr(index as u32));
            let values = (0..self.count).map(|at| self.compute(&term, at));
            let values = values.collect();
            self.values.push(values);
        }
    }

    /// The normal form of a term, of which it is checked that it has the values of the term where
    /// they are defined, and that it is its own normal form.
    pub(super) fn make(&mut self, term: Term) -> Expr {
        let plain = self.values_of(&term);
        let expr = self.pool.make(term);
        self.update();
        assert_eq!(self.pool.width(expr), term.width);
        for (at, expected) in plain.iter().enumerate() {
            let found = self.values[expr.index()][at];
            assert!(
                expected.is_none() || *expected == found,
                "{}\nbecame\n{}\nbut is {expected:x?}, not {found:x?}",
                self.show_term(&term, 5),
                self.show(expr, 5),
            );
        }
        let again = self.pool.make(self.pool.term(expr));
        assert!(
            again == expr,
            "{}\nbecame\n{}\nand then\n{}",
            self.show_term(&term, 5),
            self.show(expr, 5),
            self.show(again, 5),
        );
        expr
    }

    pub(super) fn show(&self, expr: Expr, depth: u32) -> String {
        show(&self.pool, expr, depth)
    }

    fn show_term(&self, term: &Term, depth: u32) -> String {
        show_term(&self.pool, term, depth)
    }
}

/// An expression in words, to some depth.
pub(super) fn show(pool: &Pool, expr: Expr, depth: u32) -> String {
    let term = pool.term(expr);
    match term.op {
        Op::Const => format!("{:#x}:{}", pool.constant_value(&term), term.width),
        Op::Var => format!("b{}", term.b),
        Op::Size => format!("s{}", term.a),
        _ if depth == 0 => format!("e{}:{}", expr.0, term.width),
        _ => show_term(pool, &term, depth),
    }
}

/// A term in words, to some depth.
pub(super) fn show_term(pool: &Pool, term: &Term, depth: u32) -> String {
    let operands = term
        .operands()
        .map(|operand| show(pool, operand, depth - 1));
    let mut parts: Vec<String> = operands.collect();
    if matches!(term.op, Op::Extract | Op::FCmp) {
        parts.push(term.c.to_string());
    }
    format!("{:?}{}({})", term.op, term.width, parts.join(", "))
}

/// A term of these operands.
pub(super) fn term(op: Op, width: u16, operands: &[Expr]) -> Term {
    let field = |at: usize| operands.get(at).map_or(0, |expr| expr.0);
    Term {
        op,
        width,
        a: field(0),
        b: field(1),
        c: field(2),
    }
}

/// The operators of two integers with a result of their width, and the comparisons.
pub(super) const BINARY: &[Op] = Op::BINARY.split_at(13).0;
pub(super) const COMPARISONS: &[Op] = Op::BINARY.split_at(13).1;
