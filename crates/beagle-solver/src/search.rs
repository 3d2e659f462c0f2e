//! Search near the parent input.
//!
//! Most questions about a path differ from what the parent input satisfies in one condition over a
//! few bytes. So first all values of one byte are tried, then sums are solved digit by digit, then
//! all values of two bytes are tried; and then a walk of bounded length follows, in which wanted
//! values are propagated from conditions that do not hold to variables. Only where all values were
//! tried can the answer be that there is none.

mod cost;
mod floats;
mod invert;
pub(crate) mod lanes;
mod linear;
mod problem;
mod propagate;
#[cfg(test)]
pub(crate) mod samples;
mod scan;
mod state;
mod walk;

use crate::clock::Moment;

use rustc_hash::FxHashMap;

use crate::bytes::{ByteSet, Truth};
use crate::layer::{Found, Question, Why};
use crate::pool::{Expr, Pool};
use crate::random::Random;
use crate::variable::Variable;
use lanes::Lanes;
use problem::{Problem, Unknown};
use propagate::Propagation;
use state::{Budget, State};

/// How much work any question is worth, in units of about twenty nanoseconds.
const EFFORT: u64 = 25_000;
/// How much more it is worth for each step.
const STEP_EFFORT: u64 = 50;
/// How much work it is worth to have better values.
const TIDY_EFFORT: u64 = 50_000;
/// So many times more it is worth once other means have failed.
const PATIENCE: u64 = 20;
/// Except with floating point, because the other layers are slow there.
const FLOAT_EFFORT: u64 = 3_000_000;
/// To decide a question on two bytes for good is worth this.
const PAIRS_EFFORT: u64 = 2_000_000;

/// How long to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// For what is found soon.
    Little,
    /// Other means have failed.
    Much,
}

/// Finds inputs by search. Keeps its memory from question to question.
#[derive(Debug, Default)]
pub(crate) struct Search {
    lanes: Lanes,
    state: State,
    propagation: Propagation,
}

/// What conditions over one byte say of it.
#[derive(Clone, Debug)]
struct Domain {
    /// All of them hold.
    holds: ByteSet,
    /// None of them is defined and does not hold.
    open: ByteSet,
    /// The conditions, by index, with what each leaves open.
    conditions: Vec<(usize, ByteSet)>,
}

impl Default for Domain {
    fn default() -> Self {
        Self {
            holds: ByteSet::ALL,
            open: ByteSet::ALL,
            conditions: Vec::new(),
        }
    }
}

impl Domain {
    fn restrict(&mut self, index: usize, truth: &Truth) {
        let open = truth.holds.or(truth.undefined);
        self.holds = self.holds.and(truth.holds);
        self.open = self.open.and(open);
        self.conditions.push((index, open));
    }

    /// Conditions that leave nothing open together, where all of them do.
    fn core(&self, given: ByteSet) -> Vec<usize> {
        let mut core = Vec::new();
        let mut open = given;
        // Each round ends with a condition without which something would be open.
        while !open.is_empty() {
            let mut left = open;
            let next = self.conditions.iter().find(|(_, set)| {
                left = left.and(*set);
                left.is_empty()
            });
            let Some(&(index, set)) = next else {
                break;
            };
            core.push(index);
            open = open.and(set);
        }
        core.sort_unstable();
        core
    }
}

impl Search {
    /// Looks for values that satisfy the conditions, near the hint.
    #[cfg(test)]
    pub(crate) fn solve(&mut self, pool: &Pool, question: &Question<'_>) -> Found {
        self.solve_within(pool, question, &FxHashMap::default(), Patience::Much)
    }

    /// Looks for values that satisfy the conditions, of bytes that may only have values of their
    /// domains. A conflict is one of the conditions together with all that the domains stand for;
    /// values that a domain leaves out must not satisfy them in any reading of what is undefined.
    pub(crate) fn solve_within(
        &mut self,
        pool: &Pool,
        question: &Question<'_>,
        domains: &FxHashMap<Variable, ByteSet>,
        patience: Patience,
    ) -> Found {
        let mut known: FxHashMap<Variable, Domain> = FxHashMap::default();
        for (&variable, &set) in domains {
            let domain = known.entry(variable).or_default();
            (domain.holds, domain.open) = (set, set);
        }
        let mut conditions: Vec<Expr> = Vec::new();
        let mut indexes: FxHashMap<Expr, usize> = FxHashMap::default();
        for (index, &condition) in question.conditions.iter().enumerate() {
            if pool.value(condition) == Some(1) || indexes.contains_key(&condition) {
                continue;
            }
            if pool.value(condition) == Some(0) {
                return Found::Conflict(vec![index]);
            }
            indexes.insert(condition, index);
            match Truth::of(pool, condition, &mut self.lanes) {
                Some(truth) => {
                    let domain = known.entry(truth.variable).or_default();
                    domain.restrict(index, &truth);
                    if domain.open.is_empty() {
                        let given = domains.get(&truth.variable).copied();
                        return Found::Conflict(domain.core(given.unwrap_or(ByteSet::ALL)));
                    }
                }
                None => conditions.push(condition),
            }
        }
        if known.values().any(|domain| domain.holds.is_empty()) {
            return Found::Nothing(Why::Budget);
        }
        let deadline = question.deadline;
        let problem = Problem::new(pool, &conditions, deadline, |variable, step, is_byte| {
            let domain = known.get(&variable);
            Unknown {
                variable,
                step,
                hint: (question.hint)(variable) & if is_byte { 0xff } else { u128::from(u64::MAX) },
                is_byte,
                domain: domain.map_or(ByteSet::ALL, |domain| domain.holds),
                open: domain.map_or(ByteSet::ALL, |domain| domain.open),
            }
        });
        let Some(problem) = problem else {
            let late = Moment::now() >= deadline;
            return Found::Nothing(if late { Why::Budget } else { Why::Size });
        };
        let found = self.search(problem, question, patience);
        match found {
            Outcome::Model(mut model) => {
                // Bytes that only conditions over one byte speak of.
                let alone = known.iter().filter_map(|(&variable, domain)| {
                    let hint = (question.hint)(variable) as u8;
                    let value = domain.holds.best(hint).filter(|&value| value != hint)?;
                    let missing = !model.iter().any(|&(known, _)| known == variable);
                    missing.then_some((variable, u128::from(value)))
                });
                let alone: Vec<(Variable, u128)> = alone.collect();
                model.extend(alone);
                model.sort_unstable_by_key(|&(variable, _)| variable);
                Found::Model(model)
            }
            Outcome::Excluded(excluding, variables) => {
                let mut core: Vec<usize> = excluding.iter().map(|expr| indexes[expr]).collect();
                for variable in variables {
                    let domain = known.get(&variable);
                    core.extend(
                        domain
                            .iter()
                            .flat_map(|domain| &domain.conditions)
                            .map(|&(index, _)| index),
                    );
                }
                core.sort_unstable();
                Found::Conflict(core)
            }
            Outcome::Nothing(why) => Found::Nothing(why),
        }
    }

    fn search(
        &mut self,
        mut problem: Problem<'_>,
        question: &Question<'_>,
        patience: Patience,
    ) -> Outcome {
        let float = |step: &crate::tape::Step| floats::is_float(step.term.op);
        let effort = if problem.tape.steps.iter().any(float) {
            FLOAT_EFFORT
        } else {
            let effort = EFFORT + STEP_EFFORT * problem.tape.len() as u64;
            match patience {
                Patience::Little => effort,
                Patience::Much => effort * PATIENCE,
            }
        };
        let mut budget = Budget::new(effort, question.deadline);
        if !budget.spend(problem.tape.len()) {
            return Outcome::Nothing(Why::Budget);
        }
        self.state.begin(&problem);
        if let Some(constant) = self.hopeless(&problem) {
            return constant;
        }
        if !self.quick(&mut problem, &mut budget) {
            let mut pairs = Budget::new(PAIRS_EFFORT, question.deadline);
            match scan::pairs(&mut problem, &mut self.state, &mut self.lanes, &mut pairs) {
                scan::Pairs::Found(pair) => self.state.assign(&mut problem, &pair),
                scan::Pairs::Excluded(places) => {
                    let expr = |place: u32| {
                        let step = problem.roots[place as usize];
                        problem.tape.steps[step as usize].expr
                    };
                    let excluding = places.into_iter().map(expr).collect();
                    let variables = problem.unknowns.iter().map(|unknown| unknown.variable);
                    return Outcome::Excluded(excluding, variables.collect());
                }
                scan::Pairs::Undefined => return Outcome::Nothing(Why::Budget),
                scan::Pairs::Open => {
                    self.state.start(&problem);
                    let mut random = Random::new(7 ^ problem.tape.len() as u64);
                    let found = walk::walk(
                        &mut problem,
                        &mut self.state,
                        &mut self.lanes,
                        &mut self.propagation,
                        &mut random,
                        &mut budget,
                    );
                    if !found {
                        return Outcome::Nothing(Why::Budget);
                    }
                }
            }
        }
        self.tidy(&mut problem, &mut budget);
        let unknowns = problem.unknowns.iter().enumerate();
        let values =
            unknowns.map(|(at, unknown)| (unknown.variable, self.state.value(&problem, at as u32)));
        Outcome::Model(values.collect())
    }

    /// The answer, if a condition is the same for all values of the variables.
    fn hopeless(&self, problem: &Problem<'_>) -> Option<Outcome> {
        let steps = self
            .state
            .broken
            .iter()
            .map(|&root| problem.roots[root as usize]);
        let step = steps
            .into_iter()
            .find(|&step| !problem.varies[step as usize])?;
        let expr = problem.tape.steps[step as usize].expr;
        Some(match self.state.values.get(step) {
            Some(_) => Outcome::Excluded(vec![expr], Vec::new()),
            None => Outcome::Nothing(Why::Budget),
        })
    }

    /// The moves that answer most questions; whether they did.
    fn quick(&mut self, problem: &mut Problem<'_>, budget: &mut Budget) -> bool {
        if self.state.broken.is_empty() {
            return true;
        }
        let one = scan::one(problem, &self.state, &mut self.lanes, &mut budget.half());
        if let Some(change) = one {
            self.state.assign(problem, &[change]);
            return true;
        }
        if problem.unknowns.len() <= 1 {
            return false;
        }
        // Two conditions may speak of different numbers.
        for _ in 0..4 {
            let Some(&root) = self.state.broken.first() else {
                return true;
            };
            let before = self.state.broken.len();
            let mut work = 0;
            let step = problem.roots[root as usize];
            let changes = linear::solve(problem, &self.state.values, step, &mut work);
            let Some(changes) = changes.filter(|_| budget.spend(work)) else {
                return false;
            };
            self.state.assign(problem, &changes);
            budget.spend(self.state.work);
            if self.state.broken.len() >= before {
                self.state.undo(problem);
                return false;
            }
        }
        self.state.broken.is_empty()
    }

    /// Puts changed variables back where the conditions allow it, and else makes them printable.
    fn tidy(&mut self, problem: &mut Problem<'_>, budget: &mut Budget) {
        // The values are worth some work even if the search took all.
        budget.refill(TIDY_EFFORT);
        for _ in 0..3 {
            let mut again = false;
            for at in 0..problem.unknowns.len() as u32 {
                let unknown = problem.unknowns[at as usize].clone();
                let value = self.state.value(problem, at);
                if value == unknown.hint {
                    continue;
                }
                let new = self.tidy_value(problem, at, &unknown, value, budget);
                if new != value {
                    self.state.assign(problem, &[(at, new)]);
                    again = true;
                    if !self.state.broken.is_empty() {
                        self.state.undo(problem);
                    }
                }
            }
            if !again || budget.is_spent() {
                break;
            }
        }
    }

    /// The best value of a variable with which all conditions still hold.
    fn tidy_value(
        &mut self,
        problem: &mut Problem<'_>,
        at: u32,
        unknown: &Unknown,
        value: u128,
        budget: &mut Budget,
    ) -> u128 {
        if !unknown.is_byte {
            return unknown.hint;
        }
        let values = &self.state.values;
        if !scan::fill(
            problem,
            values,
            &mut self.lanes,
            at,
            &lanes::IDENTITY,
            budget,
        ) {
            return value;
        }
        let found = scan::solutions(problem, &self.lanes, at).and(unknown.domain);
        found.best(unknown.hint as u8).map_or(value, u128::from)
    }
}

/// What came of a search.
enum Outcome {
    Model(Vec<(Variable, u128)>),
    /// These conditions exclude all values of these bytes.
    Excluded(Vec<Expr>, Vec<Variable>),
    Nothing(Why),
}

#[cfg(test)]
mod tests;
