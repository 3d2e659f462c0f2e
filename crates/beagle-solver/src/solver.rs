//! Asks the layers, the cheapest first, and checks what they answer.

use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::clock::Moment;
use crate::conflicts::Conflicts;
use crate::inside;
use crate::interval::{self, Domains, Impossible};
use crate::known::parts;
use crate::layer::{Found, Question, Why};
use crate::lazy::Lazy;
use crate::limits::Limits;
use crate::model::{Hint, Model};
use crate::path::Path;
use crate::pool::{Expr, Pool};
use crate::sat::Sat;
use crate::search::{Patience, Search};
use crate::statistics::{Layer, Statistics};
use crate::structure::{self, Origin, Scope, Slice};
use crate::tape::Tape;
use crate::variable::{SourceKey, Variable, VariableKind};
use crate::z3_layer::Z3Layer;

/// How much may be spent.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Processor time for one question.
    pub question: Duration,
    /// When to stop altogether.
    pub deadline: Option<Instant>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            question: Duration::from_millis(500),
            deadline: None,
        }
    }
}

/// What a question has for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// These changes of the parent input make it so; evaluated.
    Satisfiable(Model),
    /// No input makes it so.
    Unsatisfiable(Core),
    /// Not known.
    Unknown(Unknown),
}

/// Conditions that exclude each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Core {
    /// Indexes of conditions of the path.
    pub path: Vec<usize>,
    /// Indexes of the conditions that were asked for.
    pub asked: Vec<usize>,
    /// Whether it is also because of what an input is: a string ends at its first 0, what is past
    /// the end of a file is 0.
    pub structure: bool,
}

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unknown {
    /// Out of time.
    Budget,
    /// It has an operator that no layer knows.
    Unsupported,
    /// It is too large.
    Size,
    /// No input of a sensible size makes it so.
    InputSize,
    /// The evaluator did not accept what the layers found.
    Unverified,
}

impl Unknown {
    /// The cause in words.
    pub fn text(self) -> &'static str {
        match self {
            Unknown::Budget => "out of time",
            Unknown::Unsupported => "an operator that no solver knows",
            Unknown::Size => "too large",
            Unknown::InputSize => "only with inputs of unusual size",
            Unknown::Unverified => "no solution was accepted by the evaluator",
        }
    }
}

/// From questions to inputs. For one pool.
pub struct Solver {
    budget: Budget,
    disabled: FxHashSet<Layer>,
    domains: Domains,
    conflicts: Conflicts,
    search: Search,
    sat: Sat,
    z3: Z3Layer,
    statistics: Statistics,
}

impl Solver {
    /// A solver that knows nothing yet.
    pub fn new(budget: Budget) -> Self {
        Self {
            budget,
            disabled: FxHashSet::default(),
            domains: FxHashMap::default(),
            conflicts: Conflicts::default(),
            search: Search::default(),
            sat: Sat::new(),
            z3: Z3Layer::new(),
            statistics: Statistics::default(),
        }
    }

    /// Changes what may be spent.
    pub fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// Does without a layer, to see what it is worth.
    pub fn disable(&mut self, layer: Layer) {
        self.disabled.insert(layer);
    }

    /// What was done so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Looks for an input near that of the path for which the first `prefix` conditions of the path
    /// hold and all that is asked for.
    pub fn ask(
        &mut self,
        pool: &mut Pool,
        path: &mut Path,
        prefix: usize,
        asked: &[Expr],
    ) -> Answer {
        self.statistics.questions += 1;
        let prefix = prefix.min(path.conditions().len());
        let mut answer = self.answer(pool, path, prefix as u32, asked);
        if let Answer::Unsatisfiable(core) = &mut answer {
            with_bounds(pool, path, prefix as u32, asked, core);
        }
        self.statistics.unknown += u64::from(matches!(answer, Answer::Unknown(_)));
        answer
    }

    fn answer(&mut self, pool: &mut Pool, path: &mut Path, prefix: u32, asked: &[Expr]) -> Answer {
        let now = Moment::now();
        let left = self.budget.deadline;
        let left = left.map(|end| end.saturating_duration_since(Instant::now()));
        let time = self.budget.question;
        let deadline = now + left.map_or(time, |left| left.min(time));
        let simple = self.timed(Layer::Rewriting, |_| {
            let all = asked.iter();
            let all = all.map(|&expr| path.simplify(pool, expr, prefix as usize));
            all.collect::<Vec<Expr>>()
        });
        if let Some(index) = simple.iter().position(|&expr| pool.value(expr) == Some(0)) {
            self.statistics.layer_mut(Layer::Rewriting).unsatisfiable += 1;
            let reasons = path.reasons(pool, asked[index], prefix);
            return Answer::Unsatisfiable(Core {
                path: reasons.iter().map(|&n| n as usize).collect(),
                asked: vec![index],
                structure: false,
            });
        }
        if self.holds_already(pool, path, &simple) {
            return Answer::Satisfiable(Model::default());
        }
        if let Some(conditions) = path.pinned(pool, asked, prefix) {
            let part = now + self.budget.question / 4;
            let slice = structure::slice(
                pool,
                path,
                path.view(true),
                prefix,
                &conditions,
                Scope::Restricted,
            );
            if let Found::Model(changes) = self.attempt(pool, path, &slice, deadline.min(part))
                && let Some(model) = verified(pool, path, prefix, asked, Model { changes })
            {
                return Answer::Satisfiable(model);
            }
        }
        let mut conditions: Vec<(Expr, Origin)> = Vec::new();
        for (index, &expr) in simple.iter().enumerate() {
            let parts = parts(pool, expr).into_iter();
            conditions.extend(parts.map(|part| (part, Origin::Asked(index as u32))));
        }
        for scope in [
            Scope::Restricted,
            Scope::Whole,
            Scope::Wide,
            Scope::Unbounded,
        ] {
            let view = path.view(false);
            let slice = structure::slice(pool, path, view, prefix, &conditions, scope);
            if scope == Scope::Wide && !slice.counts {
                // Nothing else is wider.
                continue;
            }
            match self.attempt(pool, path, &slice, deadline) {
                Found::Model(_) if scope == Scope::Unbounded => {
                    return Answer::Unknown(Unknown::InputSize);
                }
                Found::Model(changes) => {
                    let model = Model { changes };
                    if let Some(model) = verified(pool, path, prefix, asked, model) {
                        return Answer::Satisfiable(model);
                    }
                    self.statistics.unverified += 1;
                    if scope != Scope::Restricted {
                        return Answer::Unknown(Unknown::Unverified);
                    }
                }
                Found::Conflict(core) => {
                    let origins = core.iter().map(|&at| slice.conditions[at].1);
                    let origins: Vec<Origin> = origins.collect();
                    let ours = [Origin::Restriction, Origin::Bound];
                    if ours.iter().any(|origin| origins.contains(origin)) {
                        continue;
                    }
                    return Answer::Unsatisfiable(core_of(pool, path, prefix, asked, &origins));
                }
                Found::Nothing(why) => {
                    return Answer::Unknown(match why {
                        Why::Budget => Unknown::Budget,
                        Why::Unsupported => Unknown::Unsupported,
                        Why::Size => Unknown::Size,
                    });
                }
            }
        }
        Answer::Unknown(Unknown::InputSize)
    }

    /// Gives a slice to the layers.
    fn attempt(&mut self, pool: &Pool, path: &Path, slice: &Slice, deadline: Moment) -> Found {
        let (exprs, origins): (Vec<Expr>, Vec<Origin>) = slice.conditions.iter().copied().unzip();
        let hint = path.hint();
        let value = |variable: Variable| hint.value(pool.variable_kind(variable));
        let question = Question {
            conditions: &exprs,
            hint: &value,
            deadline,
        };
        self.decide(pool, &question, &origins)
    }

    fn enabled(&self, layer: Layer) -> bool {
        !self.disabled.contains(&layer)
    }

    /// Counts the time of a layer.
    fn timed<T>(&mut self, layer: Layer, run: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let result = run(self);
        let one = self.statistics.layer_mut(layer);
        one.asked += 1;
        one.time += start.elapsed();
        result
    }

    /// Counts an answer.
    fn answered(&mut self, layer: Layer, found: Found) -> Found {
        let one = self.statistics.layer_mut(layer);
        match found {
            Found::Model(_) => one.satisfiable += 1,
            Found::Conflict(_) => one.unsatisfiable += 1,
            Found::Nothing(_) => {}
        }
        found
    }

    fn holds_already(&mut self, pool: &Pool, path: &mut Path, asked: &[Expr]) -> bool {
        if !self.enabled(Layer::Hint) {
            return false;
        }
        let holds = self.timed(Layer::Hint, |_| {
            asked.iter().all(|&condition| path.holds(pool, condition))
        });
        self.statistics.layer_mut(Layer::Hint).satisfiable += u64::from(holds);
        holds
    }

    /// Gives the question to the layers in turn.
    fn decide(&mut self, pool: &Pool, question: &Question<'_>, origins: &[Origin]) -> Found {
        let exprs = question.conditions;
        if let Some(at) = exprs.iter().position(|&expr| pool.value(expr) == Some(0)) {
            return self.answered(Layer::Rewriting, Found::Conflict(vec![at]));
        }
        let mut limits = Limits::none(exprs.len());
        if self.enabled(Layer::Bytes) {
            let found = self.timed(Layer::Bytes, |solver| {
                limits = Limits::new(pool, exprs, &mut solver.domains);
                limits.decide(origins, question.hint)
            });
            if let Some(found) = found {
                return self.answered(Layer::Bytes, found);
            }
        }
        if self.enabled(Layer::Conflicts) {
            let found = self.timed(Layer::Conflicts, |solver| solver.conflicts.find(exprs));
            if let Some(core) = found {
                return self.answered(Layer::Conflicts, Found::Conflict(core));
            }
        }
        let found = self.beyond(pool, &limits, question, origins);
        if let Found::Conflict(core) = &found {
            self.conflicts.add(core.iter().map(|&at| exprs[at]));
        }
        found
    }

    /// The layers for conditions over several bytes.
    fn beyond(
        &mut self,
        pool: &Pool,
        limits: &Limits,
        question: &Question<'_>,
        origins: &[Origin],
    ) -> Found {
        let places = limits.beyond_bytes(pool, question.conditions);
        let rest = places.iter().map(|&at| question.conditions[at]);
        let rest: Vec<Expr> = rest.collect();
        let mut size = 0;
        if self.enabled(Layer::Intervals) {
            // Mostly it is what is asked for that cannot be, or a condition over few bytes.
            let few = |at: usize| {
                let variables = pool.few_variables(question.conditions[at]);
                matches!(origins[at], Origin::Asked(_)) || variables <= FEW
            };
            let near: Vec<usize> = places.iter().copied().filter(|&at| few(at)).collect();
            let found = self.timed(Layer::Intervals, |solver| {
                let mut bounds =
                    |places: &[usize]| solver.bounds(pool, limits, question, places, &mut size);
                bounds(&near).or_else(|| {
                    let more = near.len() < places.len();
                    more.then(|| bounds(&places)).flatten()
                })
            });
            if let Some(found) = found {
                return self.answered(Layer::Intervals, found);
            }
        }
        let mut order = vec![
            (Layer::Search, Patience::Little),
            (Layer::Sat, Patience::Little),
            (Layer::Search, Patience::Much),
            (Layer::Sat, Patience::Much),
            (Layer::Z3, Patience::Much),
        ];
        if size > LARGE {
            // The set-up alone takes longer than a short search.
            order.drain(..2);
        }
        let mut last = Why::Unsupported;
        for (layer, patience) in order {
            if !self.enabled(layer) {
                continue;
            }
            if Moment::now() >= question.deadline {
                return Found::Nothing(Why::Budget);
            }
            let found = self.timed(layer, |solver| match (layer, patience) {
                (Layer::Search, _) => {
                    solver.search(pool, limits, question, (&rest, &places), patience)
                }
                (Layer::Sat, Patience::Little) => {
                    let near = solver.refute(pool, limits, question, origins);
                    near.unwrap_or_else(|| solver.solve(pool, limits, question, (layer, patience)))
                }
                _ => solver.solve(pool, limits, question, (layer, patience)),
            });
            match found {
                // What an earlier layer could not do for want of time is the better reason.
                Found::Nothing(Why::Unsupported) if last != Why::Unsupported => {}
                Found::Nothing(_) if layer == Layer::Search => {}
                Found::Nothing(why) => last = why,
                found => return self.answered(layer, found),
            }
        }
        Found::Nothing(last)
    }

    /// What bits and bounds tell of the conditions at these places.
    fn bounds(
        &mut self,
        pool: &Pool,
        limits: &Limits,
        question: &Question<'_>,
        places: &[usize],
        size: &mut usize,
    ) -> Option<Found> {
        let rest = places.iter().map(|&at| question.conditions[at]);
        let rest: Vec<Expr> = rest.collect();
        let Some(tape) = Tape::until(pool, &rest, question.deadline) else {
            *size = usize::MAX;
            return None;
        };
        *size = tape.len();
        let Impossible { condition, words } =
            interval::impossible(pool, &tape, limits, &mut self.domains)?;
        let mut core: Vec<usize> = condition.iter().map(|&at| places[at]).collect();
        core.extend(words.into_iter().flat_map(|word| limits.on_word(word)));
        with_limits(pool, limits, question.conditions, &mut core);
        Some(Found::Conflict(core))
    }

    /// Search for values that satisfy the conditions at these places, with single bytes limited to
    /// sets.
    fn search(
        &mut self,
        pool: &Pool,
        limits: &Limits,
        question: &Question<'_>,
        (rest, places): (&[Expr], &[usize]),
        patience: Patience,
    ) -> Found {
        let time = match patience {
            Patience::Little => SEARCH_TIME,
            Patience::Much => LONG_SEARCH_TIME,
        };
        let part = Question {
            conditions: rest,
            hint: question.hint,
            deadline: question.deadline.min(Moment::now() + time),
        };
        let found = self
            .search
            .solve_within(pool, &part, limits.bytes(), patience);
        match found {
            Found::Model(mut model) => {
                let mentioned = pool.variables_of_all(rest.iter().copied());
                keep_all(&mut model, mentioned, question.hint);
                match limits.complete(&mut model, question.hint) {
                    Some(()) => Found::Model(model),
                    None => Found::Nothing(Why::Budget),
                }
            }
            // The sets of the bytes are part of the reason.
            Found::Conflict(core) => {
                let mut core: Vec<usize> = core.iter().map(|&at| places[at]).collect();
                with_limits(pool, limits, question.conditions, &mut core);
                Found::Conflict(core)
            }
            nothing => nothing,
        }
    }

    /// Whether what is asked for contradicts the conditions next to it.
    fn refute(
        &mut self,
        pool: &Pool,
        limits: &Limits,
        question: &Question<'_>,
        origins: &[Origin],
    ) -> Option<Found> {
        let places = next_to_asked(pool, limits, question.conditions, origins);
        let conditions: Vec<Expr> = places.iter().map(|&at| question.conditions[at]).collect();
        let part = Question {
            conditions: &conditions,
            hint: question.hint,
            deadline: question.deadline.min(Moment::now() + SHORT_SAT_TIME),
        };
        let core = self.sat.refute(pool, &part)?;
        Some(Found::Conflict(core.iter().map(|&at| places[at]).collect()))
    }

    /// A layer that decides any question.
    fn solve(
        &mut self,
        pool: &Pool,
        limits: &Limits,
        question: &Question<'_>,
        (layer, patience): (Layer, Patience),
    ) -> Found {
        // Variables that occur only in conditions of their own are decided by their sets.
        let related = limits.related(pool, question.conditions);
        let conditions = related.iter().map(|&at| question.conditions[at]);
        let conditions: Vec<Expr> = conditions.collect();
        let mut part = Question {
            conditions: &conditions,
            ..*question
        };
        let found = match layer {
            Layer::Sat => {
                let now = Moment::now();
                // Z3 gets a chance, too.
                let time = question.deadline.saturating_duration_since(now) * 3 / 4;
                part.deadline = match patience {
                    Patience::Little => now + time.min(SHORT_SAT_TIME),
                    Patience::Much => now + time,
                };
                self.sat.solve(pool, &part)
            }
            _ => self.z3.solve(pool, &part),
        };
        match found {
            Found::Model(mut model) => {
                let value = question.hint;
                let mentioned = pool.variables_of_all(conditions.iter().copied());
                keep_all(&mut model, mentioned, value);
                match limits.complete(&mut model, value) {
                    Some(()) => Found::Model(model),
                    None => Found::Nothing(Why::Budget),
                }
            }
            Found::Conflict(core) => Found::Conflict(core.iter().map(|&at| related[at]).collect()),
            nothing => nothing,
        }
    }
}

/// So many variables of a condition are few.
const FEW: usize = 8;
/// So many conditions next to what is asked for are looked at first.
const NEXT: usize = 16;
/// Questions of so many steps are large.
const LARGE: usize = 1 << 14;
/// Time for local search on one question: it finds an answer soon or not at all.
const SEARCH_TIME: Duration = Duration::from_micros(500);
/// The same once circuits have failed.
const LONG_SEARCH_TIME: Duration = Duration::from_millis(50);
/// Time for circuits before search is tried again.
const SHORT_SAT_TIME: Duration = Duration::from_millis(10);

/// What is asked for, the conditions that have fewest variables besides its own, and those over single variables of
/// them.
fn next_to_asked(
    pool: &Pool,
    limits: &Limits,
    conditions: &[Expr],
    origins: &[Origin],
) -> Vec<usize> {
    let is_asked = |at: &usize| matches!(origins[*at], Origin::Asked(_));
    let asked: Vec<usize> = (0..conditions.len()).filter(is_asked).collect();
    let of_asked = pool.variables_of_all(asked.iter().map(|&at| conditions[at]));
    let mut near: Vec<(usize, usize)> = Vec::new();
    for &at in limits.rest().iter().filter(|at| !is_asked(at)) {
        let Some(variables) = pool.few_variables_of(conditions[at]) else {
            continue;
        };
        let shared = variables
            .iter()
            .filter(|name| of_asked.binary_search(name).is_ok())
            .count();
        if shared > 0 {
            near.push((variables.len() - shared, at));
        }
    }
    near.sort_unstable();
    near.truncate(NEXT);
    let mut places = asked;
    places.extend(near.into_iter().map(|(_, at)| at));
    let variables = pool.variables_of_all(places.iter().map(|&at| conditions[at]));
    places.extend(variables.into_iter().flat_map(|name| limits.of(name)));
    places.sort_unstable();
    places.dedup();
    places
}

/// Adds the conditions on single variables of those in a core.
fn with_limits(pool: &Pool, limits: &Limits, conditions: &[Expr], core: &mut Vec<usize>) {
    let variables = pool.variables_of_all(core.iter().map(|&at| conditions[at]));
    core.extend(variables.into_iter().flat_map(|name| limits.of(name)));
    core.sort_unstable();
    core.dedup();
}

/// Adds variables that a layer left as they are, so that nobody else changes them.
fn keep_all(
    model: &mut Vec<(Variable, u128)>,
    variables: Vec<Variable>,
    hint: &dyn Fn(Variable) -> u128,
) {
    let mut known: FxHashSet<Variable> = model.iter().map(|&(variable, _)| variable).collect();
    for variable in variables {
        if known.insert(variable) {
            model.push((variable, hint(variable)));
        }
    }
}

/// The model without what changes nothing, if the evaluator accepts the input that it makes.
fn verified(
    pool: &mut Pool,
    path: &Path,
    prefix: u32,
    asked: &[Expr],
    mut model: Model,
) -> Option<Model> {
    let hint = path.hint();
    model
        .changes
        .retain(|&(variable, value)| hint.value(pool.variable_kind(variable)) != value);
    let input = model.apply(pool, hint).ok()?;
    let made = Hint::new(pool, input);
    let changed = changed_variables(pool, path, prefix, &model, &made);
    let mut conditions = path.decided_by(prefix, &changed);
    conditions.extend_from_slice(asked);
    // Only what matters is computed: conditions can be large.
    let mut values = Lazy::without_support();
    let value = |variable: Variable| made.value(pool.variable_kind(variable));
    let mut conditions = conditions.iter();
    let good = conditions.all(|&condition| values.value(pool, &value, condition) == Some(1));
    good.then_some(model)
}

/// The variables of the path whose values differ in the new input, also where a source was cut.
fn changed_variables(
    pool: &Pool,
    path: &Path,
    prefix: u32,
    model: &Model,
    made: &Hint,
) -> Vec<Variable> {
    let mut changed = Vec::new();
    let mut sources = Vec::new();
    for &(variable, _) in &model.changes {
        changed.push(variable);
        match pool.variable_kind(variable) {
            VariableKind::Byte(source, _) | VariableKind::Size(source) => sources.push(source),
            VariableKind::ArgCount => sources.extend(
                path.sources(prefix)
                    .filter(|&s| matches!(pool.source_key(s), SourceKey::Argument(_))),
            ),
        }
    }
    sources.sort_unstable();
    sources.dedup();
    for source in sources {
        changed.extend(path.bytes(prefix, source).filter_map(|(_, variable)| {
            let kind = pool.variable_kind(variable);
            (made.value(kind) != path.hint().value(kind)).then_some(variable)
        }));
        if let Some(size) = pool.known_size(source)
            && made.size(source) != path.hint().size(source)
        {
            changed.push(size);
        }
    }
    changed.sort_unstable();
    changed.dedup();
    changed
}

fn core_of(
    pool: &mut Pool,
    path: &mut Path,
    prefix: u32,
    asked: &[Expr],
    origins: &[Origin],
) -> Core {
    let mut core = Core::default();
    for &origin in origins {
        match origin {
            Origin::Atom(number) => {
                let conditions = path.of_atom(number);
                core.path.extend(conditions.iter().map(|&n| n as usize));
            }
            Origin::Asked(index) => {
                core.asked.push(index as usize);
                let reasons = path.reasons(pool, asked[index as usize], prefix);
                core.path.extend(reasons.iter().map(|&n| n as usize));
            }
            Origin::Structure | Origin::Restriction | Origin::Bound => core.structure = true,
        }
    }
    core.path.sort_unstable();
    core.path.dedup();
    core.asked.sort_unstable();
    core.asked.dedup();
    core
}

/// Adds the conditions that keep the look-ups of a core inside their tables.
fn with_bounds(pool: &mut Pool, path: &mut Path, prefix: u32, asked: &[Expr], core: &mut Core) {
    let of_path = core.path.iter().map(|&at| path.conditions()[at]);
    let roots: Vec<Expr> = of_path
        .chain(core.asked.iter().map(|&at| asked[at]))
        .collect();
    let bounds = inside::needed(pool, path, prefix, &roots);
    core.path.extend(bounds.iter().map(|&n| n as usize));
    core.path.sort_unstable();
    core.path.dedup();
}

#[cfg(test)]
mod tests;
