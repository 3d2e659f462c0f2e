//! The changes that a run executed, in order, and the order in which they act.

use std::collections::{BTreeMap, BTreeSet};

use beagle_program::Op;
use rustc_hash::FxHashSet;

/// A longer sequence is cut.
const MOST: usize = 64;

/// In which way a change was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// New passed where something was deleted.
    Passed,
    /// One of its statements was executed.
    Executed,
    /// A statement that does something: it stores, calls or returns.
    Did,
}

impl How {
    /// That a statement was executed.
    pub(crate) fn of(op: &Op) -> Self {
        match op {
            Op::Store { .. }
            | Op::Call(_)
            | Op::Invoke(_)
            | Op::Return
            | Op::AtomicUpdate(_)
            | Op::CompareExchange => Self::Did,
            _ => Self::Executed,
        }
    }
}

/// That a change was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Act {
    /// The step of the product.
    pub time: u32,
    /// The change.
    pub change: usize,
    /// In which way.
    pub how: How,
    /// Whether that was in something that one version alone called.
    pub inside: bool,
    /// Whether old did it, of a change that is in new as well, where it counts as executed.
    pub aside: bool,
}

/// The changes that a run executed.
#[derive(Clone, Debug, Default)]
pub struct Acts {
    acts: Vec<Act>,
    /// When an effect was seen.
    effects: Vec<u32>,
    /// Changes of which the first makes what the second reads, and not the other way round.
    feeds: BTreeSet<(usize, usize)>,
}

impl Acts {
    /// That new passed where something was deleted counts only if old did not execute it.
    pub(crate) fn new(mut acts: Vec<Act>, mut effects: Vec<u32>) -> Self {
        let executed = acts.iter().filter(|act| act.how > How::Passed);
        let executed: FxHashSet<usize> = executed.map(|act| act.change).collect();
        acts.retain(|act| act.how > How::Passed || !executed.contains(&act.change));
        effects.sort_unstable();
        Self {
            acts,
            effects,
            feeds: BTreeSet::new(),
        }
    }

    /// With changes of which the first makes what the second reads, each list for itself: of a coarse one a
    /// finer one may know more.
    pub(crate) fn with_feeds(mut self, lists: &[BTreeSet<(usize, usize)>]) -> Self {
        for pairs in lists {
            let one_way = pairs.iter().filter(|&&(a, b)| !pairs.contains(&(b, a)));
            self.feeds.extend(one_way);
        }
        self
    }

    /// Changes that did something in this order, without an effect.
    pub fn executed(changes: &[usize]) -> Self {
        let acts = (0..).zip(changes).map(|(time, &change)| Act {
            time,
            change,
            how: How::Did,
            inside: false,
            aside: false,
        });
        Self::new(acts.collect(), Vec::new())
    }

    /// The changes that were executed.
    pub fn changes(&self) -> BTreeSet<usize> {
        let acts = self.acts.iter().filter(|act| !act.aside);
        acts.map(|act| act.change).collect()
    }

    /// The changes in order; what was done before in this order is left out.
    pub fn sequence(&self) -> Vec<usize> {
        let mut changes: Vec<usize> = Vec::new();
        let mut taken = FxHashSet::default();
        let mut last = None;
        for act in self.acts.iter().filter(|act| !act.aside) {
            let next = act.change;
            match last.replace(next) {
                None => changes.push(next),
                Some(before) if before != next && taken.insert((before, next)) => {
                    if changes.last() != Some(&before) {
                        changes.push(before);
                    }
                    changes.push(next);
                }
                Some(_) => {}
            }
            if changes.len() >= MOST {
                // What comes only after that is still named.
                let rest = self.changes().into_iter();
                let rest: Vec<usize> = rest.filter(|change| !changes.contains(change)).collect();
                changes.extend(rest);
                break;
            }
        }
        changes
    }

    /// Some changes in the order in which they act: each when it last did something before an effect
    /// of all of them was seen. If it never did anything, when it was last executed; rather by itself than
    /// in what one version alone called. What makes something that another one reads acts before that one,
    /// if it ever did.
    pub fn order(&self, of: &[usize]) -> Vec<usize> {
        // By change, where it did most.
        let mut most: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, act) in self.acts.iter().enumerate() {
            if !of.contains(&act.change) {
                continue;
            }
            let places = most.entry(act.change).or_default();
            let known = places
                .first()
                .map_or(act.how, |&first| self.acts[first].how);
            if known < act.how {
                places.clear();
            }
            if known <= act.how {
                places.push(at);
            }
        }
        let time = |at: &usize| self.acts[*at].time;
        let firsts = most.values().filter_map(|places| places.first());
        let all_there = firsts.map(time).max().unwrap_or(0);
        let effect = self.effects.iter().find(|&&time| time >= all_there);
        let effect = effect.copied().unwrap_or(u32::MAX);
        let last = |places: &[usize], until: u32| {
            let before = &places[..places.partition_point(|at| time(at) <= until)];
            let by_itself = before.iter().rfind(|&&at| !self.acts[at].inside);
            by_itself.or(before.last()).copied()
        };
        let chosen = |places: &[usize]| last(places, effect).or(places.first().copied());
        let mut when: BTreeMap<usize, usize> = most
            .iter()
            .filter_map(|(&change, places)| Some((change, chosen(places)?)))
            .collect();
        for (from, to) in &self.feeds {
            if let (Some(places), Some(read)) = (most.get(from), when.get(to))
                && let Some(made) = last(places, time(read))
            {
                when.entry(*from).and_modify(|at| *at = made.min(*at));
            }
        }
        let mut changes: Vec<usize> = when.keys().copied().collect();
        changes.sort_by_key(|change| when[change]);
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_gone_through_once() {
        let of = |changes: &[usize]| Acts::executed(changes).sequence();
        assert_eq!(of(&[1, 1, 2, 2, 1, 2, 1, 2]), [1, 2, 1]);
        assert_eq!(of(&[1, 2, 1, 2, 3]), [1, 2, 1, 2, 3]);
        assert_eq!(of(&[]), [0; 0]);
    }

    fn acts(list: &[(u32, usize, How)], effects: &[u32]) -> Acts {
        let acts = list.iter().map(|&(time, change, how)| Act {
            time,
            change,
            how,
            inside: false,
            aside: false,
        });
        Acts::new(acts.collect(), effects.to_vec())
    }

    #[test]
    fn what_did_something_last_before_the_effect_acts_last() {
        use How::{Did, Executed};
        let list = [
            (0, 2, Did),
            (1, 1, Did),
            (2, 2, Did),
            (3, 1, Executed),
            (5, 1, Did),
        ];
        // The first effect is seen before both were there.
        assert_eq!(acts(&list, &[0, 4]).order(&[1, 2]), [1, 2]);
        assert_eq!(acts(&list, &[]).order(&[1, 2]), [2, 1]);
        assert_eq!(acts(&list, &[1]).order(&[1, 2]), [2, 1]);
        assert_eq!(acts(&list, &[]).order(&[1, 7]), [1]);
    }

    #[test]
    fn what_acts_by_itself_counts_most() {
        use How::Did;
        let mut called = acts(&[(0, 1, Did), (1, 2, Did), (2, 1, Did)], &[]);
        assert_eq!(called.order(&[1, 2]), [2, 1]);
        called.acts[2].inside = true;
        assert_eq!(called.order(&[1, 2]), [1, 2]);
        // What comes after the effect had no part in it.
        let list = [(0, 1, Did), (1, 2, Did), (9, 1, Did)];
        let mut called = acts(&list, &[3]);
        called.acts[0].inside = true;
        assert_eq!(called.order(&[1, 2]), [1, 2]);
    }

    #[test]
    fn what_old_did_counts_for_the_order_only() {
        use How::{Did, Executed};
        let mut both = acts(&[(0, 1, Executed), (1, 2, Executed), (2, 1, Did)], &[]);
        both.acts[2].aside = true;
        assert_eq!(both.order(&[1, 2]), [2, 1]);
        assert_eq!(both.sequence(), [1, 2]);
        both.acts[0].aside = true;
        assert_eq!(both.changes(), BTreeSet::from([2]));
    }

    #[test]
    fn what_makes_something_acts_before_what_reads_it() {
        let of = |feeds: &[(usize, usize)]| {
            let acts = Acts::executed(&[2, 1, 2, 1]);
            let feeds = feeds.iter().copied().collect();
            acts.with_feeds(&[feeds]).order(&[1, 2])
        };
        assert_eq!(of(&[(1, 2)]), [1, 2]);
        assert_eq!(of(&[(2, 1)]), [2, 1]);
        assert_eq!(of(&[(1, 2), (2, 1)]), [2, 1]);
    }

    #[test]
    fn passing_a_deletion_counts_if_old_does_not_execute_it() {
        use How::{Executed, Passed};
        let list = [
            (0, 1, Passed),
            (0, 2, Passed),
            (1, 1, Executed),
            (2, 2, Passed),
        ];
        assert_eq!(acts(&list, &[]).sequence(), [2, 1, 2]);
    }
}
