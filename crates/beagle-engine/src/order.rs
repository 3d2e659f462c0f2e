//! The changes that a run executed, in order.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

/// A longer sequence is cut.
const MOST: usize = 64;

/// The changes that a run executed.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// In order; what was done before in this order is left out.
    changes: Vec<usize>,
    last: Option<usize>,
    taken: FxHashSet<(usize, usize)>,
    /// When each change was executed the last time before the versions parted, or ever, if they
    /// never did.
    times: BTreeMap<usize, usize>,
    time: usize,
    parted: bool,
}

impl Sequence {
    /// A change was executed.
    pub fn on(&mut self, change: usize) {
        self.time += 1;
        match self.parted {
            true => {
                self.times.entry(change).or_insert(self.time);
            }
            false => {
                self.times.insert(change, self.time);
            }
        }
        let Some(last) = self.last.replace(change) else {
            self.changes.push(change);
            return;
        };
        if last != change && self.taken.insert((last, change)) && self.changes.len() < MOST {
            if self.changes.last() != Some(&last) {
                self.changes.push(last);
            }
            self.changes.push(change);
        }
    }

    /// The versions took different sides of a branch.
    pub fn part(&mut self) {
        self.parted = true;
    }

    /// The changes in order, loops once.
    pub fn changes(&self) -> &[usize] {
        &self.changes
    }

    /// The changes in the order in which they were executed last before the versions parted, then
    /// those that were only executed after it.
    pub fn acting(&self) -> Vec<usize> {
        let mut changes: Vec<usize> = self.times.keys().copied().collect();
        changes.sort_by_key(|change| self.times[change]);
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(changes: &[usize]) -> Sequence {
        let mut sequence = Sequence::default();
        changes.iter().for_each(|&change| sequence.on(change));
        sequence
    }

    #[test]
    fn loops_are_gone_through_once() {
        assert_eq!(of(&[1, 1, 2, 2, 1, 2, 1, 2]).changes(), [1, 2, 1]);
        assert_eq!(of(&[1, 2, 1, 2, 3]).changes(), [1, 2, 1, 2, 3]);
        assert_eq!(of(&[]).changes(), [0; 0]);
    }

    #[test]
    fn what_was_executed_last_before_the_parting_acts_last() {
        let mut sequence = of(&[2, 1, 2]);
        assert_eq!(sequence.acting(), [1, 2]);
        sequence.part();
        for change in [1, 3, 1] {
            sequence.on(change);
        }
        assert_eq!(sequence.acting(), [1, 2, 3]);
    }
}
