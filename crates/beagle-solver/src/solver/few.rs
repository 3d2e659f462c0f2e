//! A few of the conditions first.
//!
//! Of hundreds of conditions that hang together, an answer mostly depends on a handful. So only those are solved that
//! the parent input does not satisfy; what the answer breaks is added, until nothing is broken or what was
//! taken already excludes itself. Either is an answer to the whole question.

use std::time::Duration;

use rustc_hash::FxHashMap;

use super::{Solver, keep_all};
use crate::clock::Moment;
use crate::layer::{Found, Question};
use crate::lazy::Lazy;
use crate::limits::Limits;
use crate::pool::{Expr, Pool};
use crate::search::Patience;
use crate::statistics::Layer;
use crate::structure::Origin;
use crate::variable::Variable;

/// Questions with fewer conditions over several variables are solved as they are.
pub(super) const LEAST: usize = 6;
/// How often conditions are added.
const ROUNDS: usize = 8;
/// How many at a time.
const ADDED: usize = 4;
/// Time for all of it: what takes longer is not as easy as it looked.
const TIME: Duration = Duration::from_millis(4);

impl Solver {
    /// Whether there are so many conditions that a few may do.
    pub(super) fn takes_few(&self, limits: &Limits) -> bool {
        self.enabled(Layer::Few) && limits.rest().len() >= self.few_from
    }

    /// The answer, if a few of the conditions tell.
    pub(super) fn few(
        &mut self,
        pool: &Pool,
        limits: &Limits,
        question: &Question<'_>,
        origins: &[Origin],
    ) -> Option<Found> {
        let rest = limits.rest();
        let deadline = question.deadline.min(Moment::now() + TIME);
        let mut model: Vec<(Variable, u128)> = Vec::new();
        limits.complete(&mut model, question.hint)?;
        let mut taken: Vec<usize> = Vec::new();
        for _ in 0..ROUNDS {
            let missed = missed(pool, question, origins, (rest, &taken), &model);
            if missed.is_empty() {
                return Some(Found::Model(model));
            }
            if Moment::now() >= deadline {
                return None;
            }
            taken.extend(missed);
            match self.part(pool, limits, question, origins, &taken, deadline)? {
                Found::Model(found) => {
                    model = found;
                    limits.complete(&mut model, question.hint)?;
                }
                found => return Some(found),
            }
        }
        None
    }

    /// Solves the conditions at these places, with those over single variables of them.
    fn part(
        &mut self,
        pool: &Pool,
        limits: &Limits,
        question: &Question<'_>,
        origins: &[Origin],
        taken: &[usize],
        deadline: Moment,
    ) -> Option<Found> {
        let exprs = |places: &[usize]| -> Vec<Expr> {
            places.iter().map(|&at| question.conditions[at]).collect()
        };
        let variables = pool.variables_of_all(exprs(taken));
        let single = variables.iter().flat_map(|&name| limits.of(name));
        let places: Vec<usize> = taken.iter().copied().chain(single).collect();
        let conditions = exprs(&places);
        let part = Question {
            conditions: &conditions,
            hint: question.hint,
            deadline,
        };
        let origins: Vec<Origin> = places.iter().map(|&at| origins[at]).collect();
        let mut limits = Limits::new(pool, &conditions, &mut self.domains);
        let found = match limits.decide(&origins, question.hint) {
            Some(found) => found,
            None => self.solved(pool, &limits, &part)?,
        };
        Some(match found {
            Found::Model(mut model) => {
                keep_all(&mut model, variables, question.hint);
                Found::Model(model)
            }
            Found::Conflict(core) => Found::Conflict(core.iter().map(|&at| places[at]).collect()),
            Found::Nothing(_) => return None,
        })
    }

    /// The layers that are quick on few conditions.
    fn solved(&mut self, pool: &Pool, limits: &Limits, part: &Question<'_>) -> Option<Found> {
        let places = limits.beyond_bytes(pool, part.conditions);
        if self.enabled(Layer::Intervals)
            && let Some(found) = self.bounds(pool, limits, part, &places, &mut 0)
        {
            return Some(found);
        }
        if self.enabled(Layer::Sat)
            && let Some(found) = self.gates(pool, limits, part)
        {
            return Some(found);
        }
        let rest: Vec<Expr> = places.iter().map(|&at| part.conditions[at]).collect();
        for layer in [Layer::Search, Layer::Sat] {
            if !self.enabled(layer) {
                continue;
            }
            let found = match layer {
                Layer::Search => {
                    self.search(pool, limits, part, (&rest, &places), Patience::Little)
                }
                _ => self.solve(pool, limits, part, (layer, Patience::Little)),
            };
            if !matches!(found, Found::Nothing(_)) {
                return Some(found);
            }
        }
        None
    }
}

/// The first few conditions that do not hold for a model. Those of the path hold for the parent input, so of these
/// only such are looked at as have a variable that changes.
fn missed(
    pool: &Pool,
    question: &Question<'_>,
    origins: &[Origin],
    (rest, taken): (&[usize], &[usize]),
    model: &[(Variable, u128)],
) -> Vec<usize> {
    let values: FxHashMap<Variable, u128> = model.iter().copied().collect();
    let was = question.hint;
    let value = |name: Variable| values.get(&name).copied().unwrap_or_else(|| was(name));
    let changes = |name: &Variable| values.get(name).is_some_and(|&value| value != was(*name));
    let concerned = |at: usize| {
        !matches!(origins[at], Origin::Atom(_))
            || pool
                .small_support(question.conditions[at])
                .is_none_or(|variables| variables.iter().any(changes))
    };
    let mut lazy = Lazy::without_support();
    let mut fails = |at: usize| lazy.value(pool, &value, question.conditions[at]) != Some(1);
    let open = rest.iter().copied().filter(|at| !taken.contains(at));
    let mut missed: Vec<usize> = open.filter(|&at| concerned(at) && fails(at)).collect();
    missed.sort_by_key(|&at| pool.few_variables(question.conditions[at]));
    missed.truncate(ADDED);
    missed
}
