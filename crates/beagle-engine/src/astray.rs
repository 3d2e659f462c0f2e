//! Runs that did not come to where they were to, or to where the run that they come of came, and the
//! questions that would bring them back.
//!
//! A program that reads all of its input before it does anything turns most inputs away that one answer makes of
//! a good one. What made it turn away is the last condition: turned around, the input is good for longer.

use beagle_program::FunctionId;
use beagle_trace::event::Site;
use rustc_hash::FxHashSet;

use crate::product::Product;
use crate::question::{Aim, Edge, Question};
use crate::twin::Side;

/// A run that may not have come to where it was to.
#[derive(Debug)]
pub struct Astray {
    goal: Goal,
    /// The question that would bring it back.
    pub back: Option<usize>,
    /// How often it was brought back.
    times: u32,
}

/// Where a run was to come.
#[derive(Clone, Debug)]
enum Goal {
    /// To what a loosened question is about: the ways that decide whether it comes there, by branch and
    /// successor.
    Ways(FxHashSet<(Site, u32)>),
    /// To all functions with changes to which the run came that it comes of.
    Changes(FxHashSet<(Side, FunctionId)>),
}

impl Goal {
    /// So often a run is brought back.
    fn most_times(&self) -> u32 {
        match self {
            Goal::Ways(_) => 4,
            Goal::Changes(_) => 6,
        }
    }

    /// The question that would bring a run there, if it is not there: it was asked for one with this many
    /// conditions before it.
    fn back(&self, product: &Product, prefix: usize) -> Option<usize> {
        let last = |is_back: &dyn Fn(&Question) -> bool| {
            let mut questions = product.questions.iter();
            questions.rposition(|question| question.aim == Aim::Flip && is_back(question))
        };
        match self {
            // The last branch where it left these ways.
            Goal::Ways(ways) => last(&|question| {
                let Edge { site, to, .. } = question.edge;
                to.is_some_and(|to| ways.contains(&(site, to)))
            }),
            Goal::Changes(wanted) => {
                let is_there = wanted.iter().all(|key| product.visited.contains_key(key));
                let back = last(&|question| question.edge.to.is_some() && question.prefix > prefix);
                back.filter(|_| !is_there)
            }
        }
    }
}

impl Astray {
    /// Of the run that came of a question about another.
    pub fn of(from: &Product, question: usize, product: &Product) -> Option<Self> {
        let asked = &from.questions[question];
        let (goal, times) = match &from.astray {
            Some(before) if before.back == Some(question) => {
                (before.goal.clone(), before.times + 1)
            }
            _ if !asked.without.is_empty() => (Goal::Ways(ways(from, asked)), 0),
            // What does nothing new is not worth it.
            _ if asked.aim == Aim::Flip && product.news > 0 => {
                let after = from.visited.iter().filter(|(_, step)| **step > asked.step);
                (Goal::Changes(after.map(|(&key, _)| key).collect()), 0)
            }
            _ => return None,
        };
        let back = goal.back(product, asked.prefix);
        (times < goal.most_times()).then_some(Self { goal, back, times })
    }
}

/// The ways that decide whether control comes to what a question is about.
fn ways(product: &Product, question: &Question) -> FxHashSet<(Site, u32)> {
    let held = product.held.iter().zip(&product.closed);
    let open = held
        .take(question.prefix)
        .filter(|(_, closed)| **closed > question.step);
    let taken = open.filter_map(|(held, _)| Some((held.site, held.taken()?)));
    let asked = question.edge.to.map(|to| (question.edge.site, to));
    taken.chain(asked).collect()
}
