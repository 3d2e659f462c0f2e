//! Questions that an earlier condition stands in the way of, although what they ask about is executed
//! whichever way that went: they are asked again without it.
//!
//! A checksum over a field of variable length, read in a loop before the field is looked at, leaves the
//! condition that the length is what it is. No other length can then be asked for after it. Without that
//! condition it can: what the expressions say of the longer field is a guess, which the next run puts right.

use std::time::{Duration, Instant};

use beagle_solver::{Answer, Budget, ConditionKind, Core, Expr, Path, Pool, Solver};
use beagle_trace::Input;
use beagle_trace::event::Site;

use crate::product::{Held, Product};
use crate::question::{Aim, Question};

/// Most conditions that a question may be asked without.
const MOST_WITHOUT: usize = 64;
/// Most branches that are tried, of those that left conditions.
const MOST_BRANCHES: usize = 3;
/// Longer paths are not made again.
const MOST_CONDITIONS: usize = 4000;

/// Whether a question is worth asking without some conditions: before a change and its effect there are
/// other ways.
pub fn is_worth_it(product: &Product, question: &Question, conflict: &[usize]) -> bool {
    let first = product.reached.values().min();
    let follows = first.is_some_and(|&first| first <= question.step);
    // A guess that led to nothing new is no reason for the next one of its kind.
    let possible =
        !product.is_vain_guess && question.aim != Aim::Fault && question.prefix <= MOST_CONDITIONS;
    follows && possible && free(product, question, conflict).next().is_some()
}

/// The conditions of a conflict that do not decide whether control comes to what a question is about.
fn free(product: &Product, question: &Question, conflict: &[usize]) -> impl Iterator<Item = usize> {
    let indexes = conflict.iter().copied();
    indexes.filter(|&index| {
        let closed = product.closed.get(index);
        closed.is_some_and(|&closed| closed <= question.step)
    })
}

/// The question without the conditions of a conflict that do not decide whether it comes to it: one question
/// for each branch that left such conditions, the last first. More than one may stand in the way; that
/// shows when it is asked.
pub fn loosened(product: &Product, question: &Question, conflict: &[usize]) -> Vec<Question> {
    let mut by_site: Vec<(Site, Vec<usize>)> = Vec::new();
    let mut indexes: Vec<usize> = free(product, question, conflict).collect();
    indexes.sort_unstable_by(|a, b| b.cmp(a));
    for index in indexes {
        let site = product.held[index].site;
        match by_site.iter_mut().find(|(known, _)| *known == site) {
            Some((_, all)) => all.push(index),
            None => by_site.push((site, vec![index])),
        }
    }
    let questions = by_site.into_iter().take(MOST_BRANCHES).map(|(_, more)| {
        let mut without = question.without.clone();
        without.extend(more);
        without.sort_unstable();
        without.dedup();
        Question {
            without,
            conflict: Vec::new(),
            ..question.clone()
        }
    });
    questions
        .filter(|question| question.without.len() <= MOST_WITHOUT)
        .collect()
}

/// Most conditions of a conflict that are turned around: of more, each alone hardly stands in the way.
const MOST_HINDRANCES: usize = 8;

/// The questions that turn around what stands in the way of another one, which is executed whichever way that
/// goes.
pub fn hindrances(product: &Product, question: &Question, conflict: &[usize]) -> Vec<usize> {
    if conflict.len() > MOST_HINDRANCES {
        return Vec::new();
    }
    let free: Vec<usize> = free(product, question, conflict).collect();
    let turns = |other: &Question| {
        let is_branch = |held: &Held| matches!(held.kind, ConditionKind::Branch { .. });
        other.aim == Aim::Flip
            && !other.is_loose()
            && !other.is_settled
            && free.contains(&other.prefix)
            && product.held.get(other.prefix).is_some_and(is_branch)
    };
    let questions = product.questions.iter().enumerate();
    let turning = questions.filter(|(_, other)| turns(other));
    turning.map(|(index, _)| index).collect()
}

/// The conditions that a loosened question insists on.
pub struct Loose {
    /// They alone.
    path: Path,
    /// The indexes that they have in the run.
    kept: Vec<usize>,
}

impl Loose {
    /// Of a question about a run on this input.
    pub fn of(pool: &mut Pool, product: &Product, input: &Input, question: &Question) -> Self {
        let kept = (0..question.prefix).filter(|index| !question.without.contains(index));
        Self::only(pool, product, input, kept.collect())
    }

    /// Of some conditions of a run.
    pub fn only(pool: &mut Pool, product: &Product, input: &Input, kept: Vec<usize>) -> Self {
        let mut path = Path::new(pool, input.clone());
        for &index in &kept {
            let condition = product.path.conditions()[index];
            path.push(pool, condition);
        }
        Self { path, kept }
    }

    /// What the solver says to it.
    pub fn ask(&mut self, pool: &mut Pool, solver: &mut Solver, asked: &[Expr]) -> Answer {
        let prefix = self.kept.len();
        match solver.ask(pool, &mut self.path, prefix, asked) {
            Answer::Unsatisfiable(core) => Answer::Unsatisfiable(self.core(core)),
            answer => answer,
        }
    }

    /// A conflict, in terms of the conditions of the run.
    fn core(&self, core: Core) -> Core {
        Core {
            path: core.path.iter().map(|&index| self.kept[index]).collect(),
            ..core
        }
    }
}

/// Conflicts of no more conditions are small enough.
const SMALL: usize = 4;
/// Most questions that making a conflict smaller may take, and the time for each.
const MOST_ATTEMPTS: usize = 24;
const ATTEMPT: Duration = Duration::from_millis(5);

/// A conflict with as few conditions as is quickly found: those that are not needed would be left out in
/// vain, and with them what makes the input what it is.
pub fn shrunk(
    (pool, solver): (&mut Pool, &mut Solver),
    (product, input): (&Product, &Input),
    question: &Question,
    deadline: Instant,
) -> Vec<usize> {
    let mut conflict = question.conflict.clone();
    solver.set_budget(Budget {
        question: ATTEMPT,
        deadline: Some(deadline),
    });
    let mut part = conflict.len().div_ceil(4);
    let (mut at, mut attempts) = (0, 0);
    while conflict.len() > SMALL && attempts < MOST_ATTEMPTS {
        if at >= conflict.len() {
            if part == 1 {
                break;
            }
            (at, part) = (0, part.div_ceil(4));
        }
        attempts += 1;
        let mut kept = conflict.clone();
        kept.drain(at..(at + part).min(conflict.len()));
        let mut loose = Loose::only(pool, product, input, kept);
        match loose.ask(pool, solver, &question.asked) {
            // What is before `at` was needed.
            Answer::Unsatisfiable(smaller) => conflict = smaller.path,
            _ => at += part,
        }
    }
    conflict
}
