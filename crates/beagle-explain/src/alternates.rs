//! Alternate inputs: near to the one that is explained, but on which the versions part no more.
//!
//! With `f` and `f'` what had to hold for the run in old and in new, an input for which `f` holds and one condition of
//! `f'` does not goes the same way in old and another in new; the other way round it goes the same way in
//! new. What is found is run, as conditions may be weaker than the run was.

use std::time::{Duration, Instant};

use beagle_engine::{From, Place, Probe, Probed, Side, What};
use beagle_solver::{ConditionKind, Expr, Path};
use beagle_trace::event::Site;
use beagle_trace::{Input, Limits};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::align::{Decision, decisions, same_way};
use crate::predicates::predicates;
use crate::ways::ways;

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
    /// Where either goes on, such as `at new.c:7`, if the lines tell the sides apart.
    pub ways: Option<[String; 2]>,
}

impl Branch {
    /// What happens there with the input that is explained, and with the alternate, in words.
    pub fn said(&self) -> [String; 2] {
        match (self.explained, &self.ways) {
            (_, Some(ways)) => ways.each_ref().map(|way| format!("goes on {way}")),
            (What::Value(_), _) => {
                ["a value", "another value"].map(|it| format!("{it} is assigned"))
            }
            _ => ["one", "another"].map(|it| format!("takes {it} side")),
        }
    }
}

/// What may be spent.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// When to stop.
    pub deadline: Instant,
    /// What a traced run may take.
    pub limits: Limits,
    /// Whether to go on when there are some on which the versions do the same.
    pub thorough: bool,
}

/// The time for one question.
const QUESTION: Duration = Duration::from_millis(150);
/// So many questions are asked for each version.
const MOST_QUESTIONS: usize = 64;
/// So many alternates are run for each version.
const MOST_ALTERNATES: usize = 12;
/// So many on which the versions do the same are enough.
const ENOUGH: usize = 4;
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
        if !searcher.is_over() {
            searcher.other_way(side, notes);
        }
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
        let others = self.run.traced(side.other()).conditions();
        let wanted = self.wanted(side);
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
        for wanted in wanted.into_iter().take(MOST_QUESTIONS) {
            if self.is_over() {
                notes.push("there was no time to try all alternate inputs".to_owned());
                return;
            }
            let agreeing = self.found.iter().filter(|it| it.agrees).count();
            // What assignments would decide tells less.
            let enough = match wanted.assignment {
                Some(_) => 1,
                None => ENOUGH,
            };
            let is_enough = agreeing >= enough && !self.effort.thorough;
            if is_enough || self.found.len() - before >= MOST_ALTERNATES {
                return;
            }
            self.ask(&mut path, all, wanted, side);
        }
    }

    /// What only one version decides so: conditions, and then what its assignments would decide.
    fn wanted(&mut self, side: Side) -> Vec<Wanted> {
        let (own, others) = (self.run.traced(side), self.run.traced(side.other()));
        let known: FxHashSet<Expr> = others.conditions().iter().map(|it| it.expr).collect();
        // That an access stays inside its object is nothing to leave a path by.
        let own_conditions = own.conditions().iter().filter(|it| {
            !known.contains(&it.expr) && !matches!(it.kind, ConditionKind::Bounds { .. })
        });
        let conditions = own_conditions.map(|it| Wanted {
            site: it.site,
            expr: it.expr,
            assignment: None,
        });
        let conditions = in_turns(conditions);
        let twin = self.probe.twin;
        let pool = &mut self.probe.pool;
        let input = &self.run.input;
        let of_others: FxHashSet<Expr> = predicates(pool, twin.half(side.other()), input, others)
            .iter()
            .map(|it| it.expr)
            .collect();
        let assigned = predicates(pool, twin.half(side), input, own).into_iter();
        let assigned = assigned.filter(|it| !of_others.contains(&it.expr));
        let assigned = in_turns(assigned.map(|it| Wanted {
            site: it.site,
            expr: it.expr,
            assignment: Some(it.place),
        }));
        conditions.into_iter().chain(assigned).collect()
    }

    fn ask(&mut self, path: &mut Path, prefix: usize, wanted: Wanted, side: Side) {
        let other = self.probe.pool.not(wanted.expr);
        let time = (QUESTION, self.effort.deadline);
        if let Some(input) = self.probe.ask(path, prefix, &[other], time) {
            self.try_out(input, side, wanted);
        }
    }

    /// Inputs that are the same up to a condition that only one version has, or at which the versions part, and
    /// then go another way there: what comes later may have been taken to be what it was.
    fn together_again(&mut self) {
        let long = self.run.old.conditions().len() + self.run.new.conditions().len();
        if self.run.order.is_empty() || long > MOST_CONDITIONS {
            return;
        }
        let mut product = self.probe.product(self.run);
        let parted: FxHashSet<Site> = product
            .effects
            .iter()
            .filter(|effect| effect.is_parting())
            .map(|effect| effect.site)
            .collect();
        let conditions = product.path.conditions().iter();
        let branches = product.held.iter().zip(conditions).enumerate();
        let branches = branches.filter(|(_, (held, _))| {
            matches!(
                held.kind,
                ConditionKind::Branch { .. } | ConditionKind::Switch { .. }
            )
        });
        let (mut own, mut shared) = (Vec::new(), Vec::new());
        for (at, (held, &expr)) in branches {
            let wanted = Wanted {
                site: held.site,
                expr,
                assignment: None,
            };
            match held.from {
                From::One(side) => own.push((at, wanted, side)),
                From::Both if parted.contains(&held.site) => shared.push((at, wanted, Side::New)),
                From::Both => {}
            }
        }
        for (at, wanted, side) in own.into_iter().chain(shared).take(MOST_QUESTIONS) {
            if self.found.iter().any(|it| it.agrees) || self.is_over() {
                return;
            }
            self.ask(&mut product.path, at, wanted, side);
        }
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.effort.deadline
    }

    /// Runs an input, and keeps what it tells.
    fn try_out(&mut self, input: Input, side: Side, wanted: Wanted) {
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
        let assigned = wanted.assignment.map(|place| Decision {
            site: wanted.site,
            first: What::Value(place),
            second: What::Value(place),
            at: 0,
        });
        let mut branches: Vec<Branch> = Vec::new();
        for decision in assigned.into_iter().chain(found) {
            let place = half.stmt(decision.site).and_then(|stmt| half.place(stmt));
            let Some(place) = place else { continue };
            if branches.len() < MOST_BRANCHES && !branches.iter().any(|it| it.place == place) {
                branches.push(Branch {
                    place,
                    site: decision.site,
                    explained: decision.first,
                    alternate: decision.second,
                    ways: ways(half, decision.site, [decision.first, decision.second]),
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

/// Something that is to be otherwise.
#[derive(Clone, Copy)]
struct Wanted {
    site: Site,
    /// What holds now.
    expr: Expr,
    /// The variable, if it is about what an assignment would decide.
    assignment: Option<u32>,
}

/// Those of different places first, then the second of each place, and so on.
fn in_turns(all: impl Iterator<Item = Wanted>) -> Vec<Wanted> {
    let mut times = FxHashMap::default();
    let mut seen = FxHashSet::default();
    let mut turns: Vec<(usize, Wanted)> = Vec::new();
    for wanted in all {
        if seen.insert(wanted.expr) {
            let time = times.entry(wanted.site).or_insert(0usize);
            turns.push((*time, wanted));
            *time += 1;
        }
    }
    turns.sort_by_key(|(time, _)| *time);
    turns.into_iter().map(|(_, wanted)| wanted).collect()
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
        input
            .sources
            .get(at)
            .map_or(Vec::new(), |source| source.content().to_vec())
    };
    let differing = (0..count).map(|at| {
        let (x, y) = (content(a, at), content(b, at));
        let same = x.iter().zip(&y).filter(|(p, q)| p == q).count();
        x.len().max(y.len()) - same
    });
    differing.sum()
}
