//! Evaluation of what matters for one input only.
//!
//! Of a look-up only the cells that are read are computed, of a choice only the arm that is taken, so
//! that a look-up in a large table that depends on the input is cheap. Values are kept.

use beagle_trace::arithmetic::{self, Value};
use beagle_trace::node::mask;
use beagle_trace::op::{Arity, Op};
use beagle_trace::render;
use rustc_hash::FxHashMap;

use crate::pool::{Expr, Pool, Term};
use crate::support::{NONE, Support, Supports};
use crate::variable::Variable;

/// Values of expressions for one input, as far as they were asked for; `None` where undefined. With
/// each the variables that were read for it: while these stay the same, so does the value.
#[derive(Debug, Default)]
pub(crate) struct Lazy {
    known: FxHashMap<Expr, (Option<u128>, Support)>,
    variables: Supports<Variable>,
    values_only: bool,
}

/// What is still to be computed for an expression.
enum Need {
    /// First this one.
    First(Expr),
    /// Nothing: this is its value.
    Value(Option<u128>),
}

impl Lazy {
    /// Does not keep which variables were read.
    pub(crate) fn without_support() -> Self {
        Self {
            values_only: true,
            ..Self::default()
        }
    }

    /// The value of an expression for the input. That must be the same one each time.
    pub(crate) fn value(
        &mut self,
        pool: &Pool,
        variable: &dyn Fn(Variable) -> u128,
        root: Expr,
    ) -> Option<u128> {
        let mut todo = vec![root];
        while let Some(&expr) = todo.last() {
            if self.known.contains_key(&expr) {
                todo.pop();
                continue;
            }
            let step = Step {
                pool,
                variable,
                known: &self.known,
            };
            match step.need(&pool.term(expr)) {
                Need::First(other) => todo.push(other),
                Need::Value(value) => {
                    let term = pool.term(expr);
                    let read = match term.is_variable() {
                        _ if self.values_only => NONE,
                        true => self.variables.one(Variable(term.c)),
                        false => {
                            let used = step.used(&term);
                            let used = used.iter().filter_map(|operand| self.known.get(operand));
                            let sets: Vec<Support> = used.map(|&(_, read)| read).collect();
                            let sets = sets.into_iter();
                            sets.fold(NONE, |all, set| self.variables.union(all, set))
                        }
                    };
                    self.known.insert(expr, (value, read));
                    todo.pop();
                }
            }
        }
        self.known.get(&root).and_then(|&(value, _)| value)
    }

    /// The variables that were read for an expression whose value was asked for; `None` if they are
    /// too many to keep.
    pub(crate) fn read(&self, expr: Expr) -> Option<&[Variable]> {
        let &(_, read) = self.known.get(&expr)?;
        self.variables.get(read)
    }
}

/// The computation of one value from known ones.
struct Step<'a> {
    pool: &'a Pool,
    variable: &'a dyn Fn(Variable) -> u128,
    known: &'a FxHashMap<Expr, (Option<u128>, Support)>,
}

impl Step<'_> {
    fn need(&self, term: &Term) -> Need {
        match self.compute(term) {
            Ok(value) => Need::Value(Some(value & mask(term.width))),
            Err(Some(missing)) => Need::First(missing),
            Err(None) => Need::Value(None),
        }
    }

    /// The value of an operand; an error if it is missing, or (`None`) undefined.
    fn operand(&self, field: u32) -> Result<Value, Option<Expr>> {
        let expr = Expr(field);
        match self.known.get(&expr) {
            None => Err(Some(expr)),
            Some((None, _)) => Err(None),
            Some(&(Some(bits), _)) => {
                let width = self.pool.width(expr);
                Ok(Value { bits, width })
            }
        }
    }

    /// The operands that the value of a term was made of; all of them must be known.
    fn used(&self, term: &Term) -> Vec<Expr> {
        let value = |field: u32| self.operand(field).ok().map(|value| value.bits);
        match term.op {
            Op::Ite => match value(term.a) {
                Some(0) => vec![Expr(term.a), Expr(term.c)],
                Some(_) => vec![Expr(term.a), Expr(term.b)],
                None => vec![Expr(term.a)],
            },
            Op::Lookup => {
                let table = self.pool.table(term.b);
                let start = value(term.a).and_then(|start| usize::try_from(start).ok());
                let end = start.and_then(|start| start.checked_add(usize::from(term.width / 8)));
                let cells = match (start, end) {
                    (Some(start), Some(end)) if end <= table.bytes.len() => start..end,
                    _ => 0..0,
                };
                let cells = cells.filter_map(|index| table.cell(index));
                [Expr(term.a)].into_iter().chain(cells).collect()
            }
            _ => term.operands().collect(),
        }
    }

    fn compute(&self, term: &Term) -> Result<u128, Option<Expr>> {
        match term.op {
            Op::Const => Ok(self.pool.constant_value(term)),
            _ if term.is_variable() => Ok((self.variable)(Variable(term.c))),
            Op::Ite => {
                let chosen = match self.operand(term.a)?.bits {
                    0 => term.c,
                    _ => term.b,
                };
                Ok(self.operand(chosen)?.bits)
            }
            Op::Lookup => self.lookup(term),
            Op::RenderByte | Op::RenderLen => {
                let value = self.operand(term.a)?;
                let text = render(self.pool.conversion(term.b), value.bits, value.width);
                let text = text.ok_or(None)?;
                Ok(match term.op {
                    Op::RenderLen => text.len() as u128,
                    _ => text.get(term.c as usize).copied().unwrap_or(0).into(),
                })
            }
            op if op.arity() == Arity::One => {
                arithmetic::unary(op, term.width, self.operand(term.a)?, term.c).ok_or(None)
            }
            op => {
                let (a, b) = (self.operand(term.a)?, self.operand(term.b)?);
                arithmetic::binary(op, term.width, a, b, term.c).ok_or(None)
            }
        }
    }

    fn lookup(&self, term: &Term) -> Result<u128, Option<Expr>> {
        let table = self.pool.table(term.b);
        let start = usize::try_from(self.operand(term.a)?.bits).map_err(|_| None)?;
        let end = start.checked_add(usize::from(term.width / 8));
        let mut result = 0;
        for index in (start..end.ok_or(None)?).rev() {
            let constant = *table.bytes.get(index).ok_or(None)?;
            let byte = match table.cell(index) {
                Some(cell) => self.operand(cell.0)?.bits,
                None => constant.into(),
            };
            result = result << 8 | byte;
        }
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Kind, Query};
    use crate::tape::{Tape, Values};

    #[test]
    fn a_value_stays_while_the_variables_that_were_read_stay() {
        let mut checked = 0;
        for seed in 0..200 {
            let query = Query::new(Kind::INTEGERS, seed);
            let hint = |variable: Variable| query.hint(variable);
            let mut lazy = Lazy::default();
            for &condition in &query.plain {
                let value = lazy.value(&query.pool, &hint, condition);
                let read = lazy.read(condition).expect("few variables").to_vec();
                let tape = Tape::new(&query.pool, &[condition]);
                let mut values = Values::default();
                for change in [1, 0x55, 0xff] {
                    tape.run(&mut values, |variable| match read.contains(&variable) {
                        true => hint(variable),
                        false => hint(variable) ^ change,
                    });
                    assert_eq!(tape.root(&values, 0), value, "seed {seed}");
                }
                checked += usize::from(read.len() < tape.variables().len());
            }
        }
        assert!(
            checked > 20,
            "{checked} conditions do not read all their variables"
        );
    }

    #[test]
    fn values_are_those_of_the_evaluator() {
        let mut defined = 0;
        for (kind, seed) in [Kind::INTEGERS, Kind::FLOATS]
            .into_iter()
            .flat_map(|kind| (0..300).map(move |seed| (kind, seed)))
        {
            let query = Query::new(kind, seed);
            let tape = Tape::new(&query.pool, &query.plain);
            let mut values = Values::default();
            tape.run(&mut values, |variable| query.hint(variable));
            let hint = |variable: Variable| query.hint(variable);
            let mut lazy = Lazy::default();
            for (index, &condition) in query.plain.iter().enumerate() {
                let expected = tape.root(&values, index);
                defined += usize::from(expected.is_some());
                let value = lazy.value(&query.pool, &hint, condition);
                assert_eq!(value, expected, "seed {seed}");
            }
        }
        assert!(defined > 1000, "{defined} values are defined");
    }
}
