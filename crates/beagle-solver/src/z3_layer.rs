//! Z3 as a layer: slow to start, but it knows nearly every operator and proves what it says.
//!
//! Everything is a bit-vector for Z3, floating point too, so that its incremental solver over SAT
//! serves all questions, with assumptions and cores.
//!
//! The `z3` crate keeps one context of Z3 per thread and its objects hold it by `Rc`. So a layer
//! stays in the thread that made it (it is not `Send`); threads with a layer each do not disturb each
//! other.

mod floats;
mod plain;
mod render;
mod terms;
mod watchdog;

use std::time::Duration;

use crate::clock::Moment;

use beagle_trace::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};
use z3::ast::{BV, Bool};
use z3::{Model, SatResult, Solver};

use crate::layer::{Found, Question, Why};
use crate::pool::{Expr, Pool};
use crate::variable::Variable;
pub use plain::PlainZ3;
use terms::Terms;

/// More new expressions in one question are too many.
const MAX_EXPRESSIONS: usize = 1 << 20;

/// With more terms than this, all are forgotten.
const MAX_TERMS: usize = 1 << 21;

/// With more terms asserted than this, an incremental solver is thrown away: it decides all of them
/// for every question.
const MAX_ASSERTED: usize = 20_000;

/// So many conditions are asserted before the clock is looked at.
const CONDITIONS_PER_CHECK: usize = 1 << 7;

/// The part of the time that the shared solver has before the question gets one of its own.
const INCREMENTAL_PART: u32 = 4;

/// The shared solver has at least this long, if there is so much.
const INCREMENTAL_LEAST: Duration = Duration::from_millis(50);

/// And no longer than this.
const INCREMENTAL_MOST: Duration = Duration::from_secs(1);

/// A model is improved for no longer than this.
const MOST_EFFORT: Duration = Duration::from_millis(500);

/// How often a model is asked to come nearer to the hint.
const ROUNDS: usize = 12;

/// How the questions share a solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Every question has its own, with all of Z3's preprocessing. The second opinion of tests.
    #[cfg(test)]
    Fresh,
    /// One for all, with each condition behind a literal of its own; what it does not answer in a
    /// part of the time gets its own.
    Incremental,
}

/// Z3, for the expressions of one pool.
pub(crate) struct Z3Layer {
    mode: Mode,
    terms: Terms,
    session: Option<Session>,
}

/// A solver and the literals that stand for what it was told.
struct Session {
    solver: Solver,
    conditions: FxHashMap<Expr, Bool>,
    wishes: FxHashMap<(Variable, Wish), Bool>,
    asserted: usize,
    /// Whether it was stopped half-way. Z3 has been seen to forget conditions then, so what it would say
    /// from then on counts for nothing.
    is_spoilt: bool,
}

/// What would be nice to have of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wish {
    /// This value.
    Equal(u128),
    /// A printable character.
    Printable,
}

/// The outcome of one call of the solver.
enum Outcome {
    Sat(Vec<(Variable, u128)>),
    /// The literals in conflict.
    Unsat(FxHashSet<Bool>),
    Unknown,
}

impl Session {
    fn new() -> Self {
        let solver = Solver::new_for_logic("QF_BV").unwrap_or_default();
        Self {
            solver,
            conditions: FxHashMap::default(),
            wishes: FxHashMap::default(),
            asserted: 0,
            is_spoilt: false,
        }
    }

    /// The literal of a condition.
    fn condition(&mut self, terms: &Terms, condition: Expr) -> Bool {
        let literal = self.conditions.entry(condition).or_insert_with(|| {
            let literal = Bool::fresh_const("condition");
            self.solver.assert(literal.implies(terms.bit(condition)));
            literal
        });
        literal.clone()
    }

    /// The literal of a wish.
    fn wish(&mut self, pool: &Pool, variable: Variable, wish: Wish) -> Bool {
        let literal = self.wishes.entry((variable, wish)).or_insert_with(|| {
            let literal = Bool::fresh_const("wish");
            let bits = term_of(pool, variable);
            let granted = match wish {
                Wish::Equal(value) => bits.eq(terms::constant(bits.get_size(), value)),
                Wish::Printable => Bool::and(&[bits.bvuge(b' '), bits.bvule(b'~')]),
            };
            self.solver.assert(literal.implies(granted));
            literal
        });
        literal.clone()
    }

    /// Asks the solver. Without literals its strategy is the one for questions that come alone.
    fn check(
        &mut self,
        pool: &Pool,
        literals: &[Bool],
        variables: &[Variable],
        deadline: Moment,
    ) -> Outcome {
        let left = deadline.saturating_duration_since(Moment::now());
        if self.is_spoilt || left < Duration::from_millis(1) {
            return Outcome::Unknown;
        }
        let result = watchdog::until(deadline, || match literals {
            [] => self.solver.check(),
            _ => self.solver.check_assumptions(literals),
        });
        match result.unwrap_or(SatResult::Unknown) {
            SatResult::Unknown => {
                self.is_spoilt = true;
                Outcome::Unknown
            }
            SatResult::Unsat => Outcome::Unsat(self.solver.get_unsat_core().into_iter().collect()),
            SatResult::Sat => {
                let model = self.solver.get_model();
                match model.and_then(|model| values(pool, &model, variables)) {
                    Some(values) => Outcome::Sat(values),
                    None => Outcome::Unknown,
                }
            }
        }
    }
}

/// The unknown that a variable is for Z3.
fn term_of(pool: &Pool, variable: Variable) -> BV {
    let expr = pool.variable_expr(variable);
    BV::new_const(variable.0, pool.width(expr).into())
}

fn values(pool: &Pool, model: &Model, variables: &[Variable]) -> Option<Vec<(Variable, u128)>> {
    let value = |&variable: &Variable| {
        let value = model.eval(&term_of(pool, variable), true)?.as_u64()?;
        Some((variable, value.into()))
    };
    variables.iter().map(value).collect()
}

impl Z3Layer {
    /// A layer with one solver for all questions.
    pub(crate) fn new() -> Self {
        Self::with_mode(Mode::Incremental)
    }

    /// A layer that works in this way.
    pub(crate) fn with_mode(mode: Mode) -> Self {
        Self {
            mode,
            terms: Terms::default(),
            session: None,
        }
    }

    /// Answers a question. All questions must be about the same pool.
    pub(crate) fn solve(&mut self, pool: &Pool, question: &Question<'_>) -> Found {
        if self.terms.len() > MAX_TERMS {
            self.terms = Terms::default();
            self.session = None;
        }
        let Question {
            conditions,
            deadline,
            ..
        } = *question;
        let before = self.terms.len();
        let added = self.terms.add(pool, conditions, MAX_EXPRESSIONS, deadline);
        if let Err(why) = added {
            return Found::Nothing(why);
        }
        let variables = pool.variables_of_all(conditions.iter().copied());
        match self.mode {
            #[cfg(test)]
            Mode::Fresh => self.fresh(pool, question, &variables),
            Mode::Incremental => {
                let mut session = match self.session.take() {
                    Some(session) if session.asserted <= MAX_ASSERTED && !session.is_spoilt => {
                        session
                    }
                    _ => Session::new(),
                };
                session.asserted += self.terms.len() - before;
                let found = self.incremental(pool, question, &variables, &mut session);
                if !matches!(found, Found::Nothing(_)) {
                    self.session = Some(session);
                    return found;
                }
                // The solver is spoilt; and what is hard, such as products of floats, needs
                // the preprocessing that only a solver of its own does.
                drop(session);
                self.fresh(pool, question, &variables)
            }
        }
    }

    fn incremental(
        &self,
        pool: &Pool,
        question: &Question<'_>,
        variables: &[Variable],
        session: &mut Session,
    ) -> Found {
        let mut literals: Vec<Bool> = Vec::new();
        for &condition in question.conditions {
            if literals.len().is_multiple_of(CONDITIONS_PER_CHECK)
                && Moment::now() >= question.deadline
            {
                return Found::Nothing(Why::Budget);
            }
            literals.push(session.condition(&self.terms, condition));
        }
        let start = Moment::now();
        let left = question.deadline.saturating_duration_since(start);
        let part = (left / INCREMENTAL_PART).clamp(INCREMENTAL_LEAST, INCREMENTAL_MOST);
        let deadline = start + part.min(left);
        match session.check(pool, &literals, variables, deadline) {
            Outcome::Unknown => Found::Nothing(Why::Budget),
            Outcome::Unsat(core) => Found::Conflict(indexes(&literals, &core)),
            Outcome::Sat(model) => {
                let mut nearer = Nearer {
                    pool,
                    question,
                    variables,
                    session,
                    fixed: literals,
                    rounds: ROUNDS,
                    deadline: effort(start, question.deadline),
                };
                Found::Model(nearer.improve(model))
            }
        }
    }

    fn fresh(&self, pool: &Pool, question: &Question<'_>, variables: &[Variable]) -> Found {
        let mut session = Session::new();
        for (index, &condition) in question.conditions.iter().enumerate() {
            if index % CONDITIONS_PER_CHECK == 0 && Moment::now() >= question.deadline {
                return Found::Nothing(Why::Budget);
            }
            session.solver.assert(self.terms.bit(condition));
        }
        let start = Moment::now();
        match session.check(pool, &[], variables, question.deadline) {
            Outcome::Unknown => Found::Nothing(Why::Budget),
            Outcome::Unsat(_) => Found::Conflict(self.core(pool, question)),
            Outcome::Sat(model) => {
                let mut nearer = Nearer {
                    pool,
                    question,
                    variables,
                    session: &mut session,
                    fixed: Vec::new(),
                    rounds: ROUNDS,
                    deadline: effort(start, question.deadline),
                };
                Found::Model(nearer.improve(model))
            }
        }
    }

    /// Which of the conditions conflict, as far as it is found out in time.
    fn core(&self, pool: &Pool, question: &Question<'_>) -> Vec<usize> {
        let all = || (0..question.conditions.len()).collect();
        if question.conditions.len() == 1 {
            return all();
        }
        let mut session = Session::new();
        let conditions = question.conditions.iter();
        let literals: Vec<Bool> = conditions
            .map(|&condition| session.condition(&self.terms, condition))
            .collect();
        match session.check(pool, &literals, &[], question.deadline) {
            Outcome::Unsat(core) => indexes(&literals, &core),
            _ => all(),
        }
    }
}

/// The places of the literals of a core; all if it names none.
fn indexes(literals: &[Bool], core: &FxHashSet<Bool>) -> Vec<usize> {
    let mut left = core.clone();
    // A condition that occurs twice counts once.
    let named = |index: &usize| left.remove(&literals[*index]);
    let found: Vec<usize> = (0..literals.len()).filter(named).collect();
    match found.is_empty() {
        true => (0..literals.len()).collect(),
        false => found,
    }
}

/// How long it is worth to improve a model that took from `start` until now.
fn effort(start: Moment, deadline: Moment) -> Moment {
    let now = Moment::now();
    let worth = 2 * now.saturating_duration_since(start) + Duration::from_millis(20);
    deadline.min(now + worth.min(MOST_EFFORT))
}

/// The search for a model near to the hint.
struct Nearer<'a> {
    pool: &'a Pool,
    question: &'a Question<'a>,
    variables: &'a [Variable],
    session: &'a mut Session,
    /// What must hold.
    fixed: Vec<Bool>,
    rounds: usize,
    deadline: Moment,
}

impl Nearer<'_> {
    fn improve(&mut self, model: Vec<(Variable, u128)>) -> Vec<(Variable, u128)> {
        let model = self.relax(model);
        let model = self.thin_out(model);
        self.printable(model)
    }

    fn hint(&self, variable: Variable) -> u128 {
        let width = self.pool.width(self.pool.variable_expr(variable));
        (self.question.hint)(variable) & beagle_trace::node::mask(width)
    }

    fn changed(&self, model: &[(Variable, u128)]) -> Vec<Variable> {
        let differs = |&&(variable, value): &&(Variable, u128)| value != self.hint(variable);
        let changed = model.iter().filter(differs);
        changed.map(|&(variable, _)| variable).collect()
    }

    /// Asks for a model that grants these wishes; `None` when it is time to stop.
    fn ask(&mut self, wishes: &[Bool]) -> Option<Outcome> {
        self.rounds = self.rounds.checked_sub(1)?;
        let literals = [&self.fixed[..], wishes].concat();
        let outcome = self
            .session
            .check(self.pool, &literals, self.variables, self.deadline);
        match outcome {
            Outcome::Unknown => {
                self.rounds = 0;
                None
            }
            outcome => Some(outcome),
        }
    }

    fn keep(&mut self, variable: Variable) -> Bool {
        let wish = Wish::Equal(self.hint(variable));
        self.session.wish(self.pool, variable, wish)
    }

    /// Keeps all variables, then all but those that are in the way of it, and so on.
    fn relax(&mut self, model: Vec<(Variable, u128)>) -> Vec<(Variable, u128)> {
        if self.changed(&model).len() < 2 {
            return model;
        }
        let mut kept: Vec<(Variable, Bool)> = Vec::new();
        for &variable in self.variables {
            kept.push((variable, self.keep(variable)));
        }
        // Half of the rounds is left for what follows.
        for _ in 0..ROUNDS / 2 {
            let wishes: Vec<Bool> = kept.iter().map(|(_, wish)| wish.clone()).collect();
            match self.ask(&wishes) {
                Some(Outcome::Sat(better)) => {
                    let fewer = self.changed(&better).len() <= self.changed(&model).len();
                    return if fewer { better } else { model };
                }
                Some(Outcome::Unsat(core)) => {
                    let before = kept.len();
                    kept.retain(|(_, wish)| !core.contains(wish));
                    if kept.len() == before {
                        return model;
                    }
                }
                _ => return model,
            }
        }
        model
    }

    /// Takes changes back one by one.
    fn thin_out(&mut self, mut model: Vec<(Variable, u128)>) -> Vec<(Variable, u128)> {
        let mut needed: FxHashSet<Variable> = FxHashSet::default();
        loop {
            let changed = self.changed(&model);
            let next = changed.iter().find(|variable| !needed.contains(variable));
            let Some(&candidate) = next.filter(|_| changed.len() > 1) else {
                return model;
            };
            let unchanged: Vec<Variable> = self
                .variables
                .iter()
                .filter(|&&variable| variable == candidate || !changed.contains(&variable))
                .copied()
                .collect();
            let wishes: Vec<Bool> = unchanged
                .into_iter()
                .map(|variable| self.keep(variable))
                .collect();
            match self.ask(&wishes) {
                Some(Outcome::Sat(better)) => model = better,
                Some(Outcome::Unsat(_)) => {
                    needed.insert(candidate);
                }
                _ => return model,
            }
        }
    }

    /// Makes changed bytes printable, as many as possible.
    fn printable(&mut self, model: Vec<(Variable, u128)>) -> Vec<(Variable, u128)> {
        let changed = self.changed(&model);
        let is_byte = |variable: Variable| {
            let expr = self.pool.variable_expr(variable);
            self.pool.term(expr).op == Op::Var
        };
        let ugly = |&(variable, value): &(Variable, u128)| {
            let shown = (u128::from(b' ')..=u128::from(b'~')).contains(&value);
            is_byte(variable) && !shown && changed.contains(&variable)
        };
        if !model.iter().any(ugly) {
            return model;
        }
        let (mut fixed, mut nice) = (Vec::new(), Vec::new());
        for &variable in self.variables {
            if !changed.contains(&variable) {
                fixed.push(self.keep(variable));
            } else if is_byte(variable) {
                nice.push(self.session.wish(self.pool, variable, Wish::Printable));
            }
        }
        self.rounds = self.rounds.max(2);
        while !nice.is_empty() {
            match self.ask(&[&fixed[..], &nice].concat()) {
                Some(Outcome::Sat(better)) => return better,
                Some(Outcome::Unsat(core)) => {
                    let before = nice.len();
                    nice.retain(|wish| !core.contains(wish));
                    if nice.len() == before {
                        return model;
                    }
                }
                _ => return model,
            }
        }
        model
    }
}

#[cfg(test)]
mod tests;
