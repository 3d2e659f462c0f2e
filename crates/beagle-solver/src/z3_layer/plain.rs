//! Z3 as one would use it without anything in front of it: the yardstick of benchmarks, and a second
//! opinion in tests.

use std::time::Duration;

use crate::clock::Moment;

use z3::ast::{Ast, Bool};
use z3::{Model, SatResult, Solver};

use super::terms::{Terms, constant};
use super::watchdog;
use crate::pool::{Expr, Pool};
use crate::variable::Variable;

/// Time to add conditions: Z3 simplifies them at once, which can take it minutes and all memory.
const ASSERT_TIME: Duration = Duration::from_secs(5);

/// Z3 with a stack of conditions.
pub struct PlainZ3 {
    terms: Terms,
    solver: Solver,
    limit: Duration,
}

impl PlainZ3 {
    /// With no conditions, and a limit of time for each question.
    pub fn new(limit: Duration) -> Self {
        Self {
            terms: Terms::default(),
            solver: Solver::new(),
            limit,
        }
    }

    /// Makes Z3's terms of these conditions, so that it is not part of what is measured; whether all
    /// could be made.
    pub fn prepare(&mut self, pool: &Pool, conditions: &[Expr]) -> bool {
        let deadline = Moment::now() + Duration::from_secs(60);
        let added = self.terms.add(pool, conditions, usize::MAX, deadline);
        added.is_ok()
    }

    /// Adds conditions that were prepared; whether there was time for it. What was not added in time must not be
    /// followed by a question.
    pub fn assert_all(&mut self, conditions: &[Expr]) -> bool {
        let deadline = Moment::now() + ASSERT_TIME;
        let add = || {
            for &condition in conditions {
                self.solver.assert(self.terms.bit(condition));
            }
        };
        watchdog::until(deadline, add).is_some() && Moment::now() < deadline
    }

    /// Whether the conditions and these, which were prepared, can all hold; `None` if Z3 does not
    /// know.
    pub fn check(&mut self, asked: &[Expr]) -> Option<bool> {
        self.solver.push();
        let answer = decide(&self.solver, &self.terms, asked, self.limit);
        self.solver.pop(1);
        answer
    }

    /// The same with a solver for this question alone.
    pub fn check_alone(&mut self, conditions: &[Expr]) -> Option<bool> {
        decide(&Solver::new(), &self.terms, conditions, self.limit)
    }

    /// Whether conditions, which were prepared, hold for these values of their variables; `None` if Z3
    /// does not know.
    pub fn accepts(
        &mut self,
        pool: &Pool,
        conditions: &[Expr],
        value: impl Fn(Variable) -> u128,
    ) -> Option<bool> {
        // Evaluating takes time linear in the terms; a solver that is told the values may take minutes.
        let model = Model::new();
        for variable in pool.variables_of_all(conditions.iter().copied()) {
            let expr = pool.variable_expr(variable);
            let width = u32::from(pool.width(expr));
            let value = constant(width, value(variable));
            model.add_const_interp(&self.terms.bits(expr).decl(), &value);
        }
        let all: Vec<Bool> = conditions.iter().map(|&it| self.terms.bit(it)).collect();
        let deadline = Moment::now() + self.limit;
        let all = watchdog::until(deadline, || model.eval(&Bool::and(&all), true))??;
        all.as_bool()
    }
}

fn decide(solver: &Solver, terms: &Terms, asked: &[Expr], limit: Duration) -> Option<bool> {
    for &condition in asked {
        solver.assert(terms.bit(condition));
    }
    let deadline = Moment::now() + limit;
    match watchdog::until(deadline, || solver.check())? {
        SatResult::Sat => Some(true),
        SatResult::Unsat => Some(false),
        SatResult::Unknown => None,
    }
}
