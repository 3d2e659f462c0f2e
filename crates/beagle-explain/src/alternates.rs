//! Alternate inputs: near to the one that is explained, but on which the versions part no more.
//!
//! With `f` and `f'` what had to hold for the run in old and in new, an input for which `f` holds and one condition of
//! `f'` does not goes the same way in old and another in new; the other way round it goes the same way in
//! new. What is found is run, as conditions may be weaker than the run was.

use std::time::{Duration, Instant};

use beagle_engine::{From, Place, Probe, Probed, Side, What};
use beagle_solver::{Condition, ConditionKind, Expr, Path};
use beagle_trace::event::Site;
use beagle_trace::{Input, Limits};
use rustc_hash::FxHashSet;

use crate::align::{decisions, same_way};

/// An input that is near to the one that is explained, and what it tells.
#[derive(Clone, Debug)]
pub struct Alternate {
    /// The input.
    pub input: Input,
    /// The version in which it goes another way.
    pub side: Side,
    /// How many bytes differ from those of the input that is explained.
    pub bytes: usize,
    /// Whether both versions do the same on it, as seen on the real programs.
    pub agrees: bool,
    /// Whether the other version goes the same way as before.
    pub same_way: bool,
    /// Where it is decided differently, in order, each place once.
    pub branches: Vec<Branch>,
}

/// A branch that the alternate takes to another side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Where.
    pub place: Place,
    /// The branch or switch.
    pub site: Site,
    /// The side that the input that is explained takes.
    pub explained: What,
    /// The side that the alternate takes.
    pub alternate: What,
}

/// What may be spent.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// When to stop.
    pub deadline: Instant,
    /// What a traced run may take.
    pub limits: Limits,
}

/// The time for one question.
const QUESTION: Duration = Duration::from_millis(150);
/// So many questions are asked for each version.
const MOST_QUESTIONS: usize = 64;
/// So many alternates are run for each version.
const MOST_ALTERNATES: usize = 12;
/// So many conditions of a run are followed; alternates that leave the path behind them are still found out
/// when they are run.
const MOST_CONDITIONS: usize = 20_000;
/// So many branches of an alternate are kept.
const MOST_BRANCHES: usize = 64;

/// Looks for alternates, the best first. `agree` says whether the real versions do the same on an input.
pub fn search(
    probe: &mut Probe<'_>,
    run: &Probed,
    agree: &mut dyn FnMut(&Input) -> Option<bool>,
    effort: &Effort,
    notes: &mut Vec<String>,
) -> Vec<Alternate> {
    let mut searcher = Searcher {
        probe,
        run,
        agree,
        effort,
        seen: FxHashSet::default(),
        found: Vec::new(),
    };
    for side in [Side::New, Side::Old] {
        searcher.other_way(side, notes);
    }
    if !searcher.found.iter().any(|it| it.agrees) {
        searcher.together_again();
    }
    let mut found = searcher.found;
    found.sort_by_key(|it| {
        (
            !it.agrees,
            !it.same_way,
            it.branches.is_empty(),
            it.branches.len(),
            it.bytes,
            it.side == Side::Old,
        )
    });
    found
}

struct Searcher<'s, 'a> {
    probe: &'s mut Probe<'a>,
    run: &'s Probed,
    agree: &'s mut dyn FnMut(&Input) -> Option<bool>,
    effort: &'s Effort,
    seen: FxHashSet<Input>,
    found: Vec<Alternate>,
}

impl Searcher<'_, '_> {
    /// Inputs that go another way in one version and the same way in the other.
    fn other_way(&mut self, side: Side, notes: &mut Vec<String>) {
        let own = self.run.traced(side).conditions();
        let others = self.run.traced(side.other()).conditions();
        let known: FxHashSet<Expr> = others.iter().map(|it| it.expr).collect();
        let wanted = in_turns(own.iter().filter(|it| {
            // That an access stays inside its object is nothing to leave a path by.
            !known.contains(&it.expr) && !matches!(it.kind, ConditionKind::Bounds { .. })
        }));
        if wanted.is_empty() {
            return;
        }
        if others.len() > MOST_CONDITIONS {
            notes.push(format!(
                "the path of {} has {} conditions, of which the first {MOST_CONDITIONS} are followed",
                name(side.other()),
                others.len()
            ));
        }
        let mut path = Path::new(&mut self.probe.pool, self.run.input.clone());
        for condition in others.iter().take(MOST_CONDITIONS) {
            path.push(&mut self.probe.pool, condition.expr);
        }
        let all = path.conditions().len();
        let before = self.found.len();
        for condition in wanted.into_iter().take(MOST_QUESTIONS) {
            if self.is_over() {
                notes.push("there was no time to try all alternate inputs".to_owned());
                return;
            }
            if self.found.len() - before >= MOST_ALTERNATES {
                return;
            }
            let other = self.probe.pool.not(condition.expr);
            let time = (QUESTION, self.effort.deadline);
            if let Some(input) = self.probe.ask(&mut path, all, &[other], time) {
                self.try_out(input, side);
            }
        }
    }

    /// Inputs that are the same up to a condition that only one version has, and then go another way there: what
    /// comes later may have been taken to be what it was.
    fn together_again(&mut self) {
        let product = &self.run.product;
        let conditions = product.path.conditions().iter().take(MOST_CONDITIONS);
        let mut path = Path::new(&mut self.probe.pool, self.run.input.clone());
        let mut asked = 0;
        for (held, &expr) in product.held.iter().zip(conditions) {
            let is_branch = matches!(
                held.kind,
                ConditionKind::Branch { .. } | ConditionKind::Switch { .. }
            );
            if let From::One(side) = held.from
                && is_branch
            {
                let agrees = self.found.iter().any(|it| it.agrees);
                if agrees || asked >= MOST_QUESTIONS || self.is_over() {
                    return;
                }
                asked += 1;
                let prefix = path.conditions().len();
                let other = self.probe.pool.not(expr);
                let time = (QUESTION, self.effort.deadline);
                if let Some(input) = self.probe.ask(&mut path, prefix, &[other], time) {
                    self.try_out(input, side);
                }
            }
            path.push(&mut self.probe.pool, expr);
        }
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.effort.deadline
    }

    /// Runs an input, and keeps it if it goes another way than the one that is explained.
    fn try_out(&mut self, input: Input, side: Side) {
        if input == self.run.input || !self.seen.insert(input.clone()) {
            return;
        }
        let Some(agrees) = (self.agree)(&input) else {
            return;
        };
        let Ok(courses) = self.probe.courses(&input, &self.effort.limits) else {
            return;
        };
        let twin = self.probe.twin;
        let half = twin.half(side);
        let steps = self.run.traced(side).steps();
        let found = decisions(half, steps, &courses[side as usize].steps);
        let other = side.other();
        let others = (
            self.run.traced(other).steps(),
            &courses[other as usize].steps,
        );
        let mut branches: Vec<Branch> = Vec::new();
        for decision in found {
            let place = half.stmt(decision.site).and_then(|stmt| half.place(stmt));
            let Some(place) = place else { continue };
            if branches.len() < MOST_BRANCHES && !branches.iter().any(|it| it.place == place) {
                branches.push(Branch {
                    place,
                    site: decision.site,
                    explained: decision.first,
                    alternate: decision.second,
                });
            }
        }
        self.found.push(Alternate {
            bytes: distance(&self.run.input, &input),
            same_way: same_way(others.0, others.1),
            agrees,
            branches,
            side,
            input,
        });
    }
}

/// Conditions of different places first, then the second of each place, and so on.
fn in_turns<'c>(conditions: impl Iterator<Item = &'c Condition>) -> Vec<&'c Condition> {
    let mut times = rustc_hash::FxHashMap::default();
    let mut seen = FxHashSet::default();
    let mut all: Vec<(usize, &Condition)> = Vec::new();
    for condition in conditions {
        if seen.insert(condition.expr) {
            let time = times.entry(condition.site).or_insert(0usize);
            all.push((*time, condition));
            *time += 1;
        }
    }
    all.sort_by_key(|(time, _)| *time);
    all.into_iter().map(|(_, condition)| condition).collect()
}

/// What a version is called in what is said.
pub fn name(side: Side) -> &'static str {
    match side {
        Side::Old => "old",
        Side::New => "new",
    }
}

/// How many bytes of two inputs differ; what only one has counts, too.
pub fn distance(a: &Input, b: &Input) -> usize {
    let count = a.sources.len().max(b.sources.len());
    let content = |input: &Input, at: usize| -> Vec<u8> {
        input.sources.get(at).map_or(Vec::new(), |source| source.content().to_vec())
    };
    let differing = (0..count).map(|at| {
        let (x, y) = (content(a, at), content(b, at));
        let same = x.iter().zip(&y).filter(|(p, q)| p == q).count();
        x.len().max(y.len()) - same
    });
    differing.sum()
}
