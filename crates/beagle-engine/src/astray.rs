//! Runs that did not come to where they were to, or to where the run that they come of came, and the
//! questions that would bring them back.
//!
//! A program that reads all of its input before it does anything turns most inputs away that one answer makes of
//! a good one. What made it turn away is the last condition: turned around, the input is good for longer.
//! A program that says what is wrong and goes on turns away a part of the input only: there it is the first
//! branch at which the run did not go on as the one that it comes of.

use beagle_program::FunctionId;
use beagle_trace::event::Site;
use rustc_hash::{FxHashMap, FxHashSet};

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
            questions.rposition(|question| is_sure(question) && is_back(question))
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
            _ if !asked.without.is_empty() || asked.is_resize() => {
                (Goal::Ways(ways(from, asked)), 0)
            }
            // What does nothing new is not worth it, and what was put in was to bring it back already.
            _ if asked.aim == Aim::Flip && product.news > 0 && !asked.moves_bytes() => {
                let after = from.visited.iter().filter(|(_, step)| **step > asked.step);
                (Goal::Changes(after.map(|(&key, _)| key).collect()), 0)
            }
            _ => return None,
        };
        let back = goal.back(product, asked.prefix);
        let back = back.or_else(|| match goal {
            // What a word of another length leaves does not lie beside what was there.
            Goal::Changes(_) if times == 0 && asked.guess.is_none() => {
                as_before(from, asked.prefix, product)
            }
            Goal::Changes(_) | Goal::Ways(_) => None,
        });
        (times < goal.most_times()).then_some(Self { goal, back, times })
    }
}

/// The question that would let the run go on as the one that it comes of, at the first branch soon after what was
/// asked about at which it did not.
fn as_before(from: &Product, asked: usize, product: &Product) -> Option<usize> {
    // With how often it was come to.
    let soon = |product: &'_ Product| {
        let mut times: FxHashMap<Site, u32> = FxHashMap::default();
        let held = product.held.iter().enumerate().skip(asked + 1).take(SOON);
        let taken = held.filter_map(|(at, held)| Some((at, held.site, held.taken()?)));
        let taken = taken.map(|(at, site, to)| {
            let time = times.entry(site).or_default();
            *time += 1;
            (at, (site, *time), to)
        });
        taken.collect::<Vec<_>>()
    };
    let before = soon(from);
    let other = soon(product).into_iter().find_map(|(at, there, to)| {
        let before = before.iter().find(|(_, known, _)| *known == there);
        let &(_, _, known) = before.filter(|(_, _, known)| *known != to)?;
        Some((at, known))
    });
    let (at, to) = other?;
    product.questions.iter().position(|question| {
        let is_way = question.prefix == at && question.edge.to == Some(to);
        is_sure(question) && is_way
    })
}

/// Whether a question turns a condition around, and can be asked as it stands.
fn is_sure(question: &Question) -> bool {
    question.aim == Aim::Flip && question.guess.is_none() && !question.is_settled
}

/// So many conditions are soon.
const SOON: usize = 6;

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
