//! Sets of conditions that were found to exclude each other.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::pool::Expr;

/// More are not kept.
const MOST: usize = 100_000;

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Conflicts {
    /// Each under its greatest member.
    sets: FxHashMap<Expr, Vec<Box<[Expr]>>>,
    count: usize,
}

impl Conflicts {
    /// Remembers a conflict.
    pub(crate) fn add(&mut self, core: impl Iterator<Item = Expr>) {
        let mut set: Vec<Expr> = core.collect();
        set.sort_unstable();
        set.dedup();
        if let Some(&greatest) = set.last()
            && self.count < MOST
        {
            self.count += 1;
            self.sets.entry(greatest).or_default().push(set.into());
        }
    }

    /// The indexes of conditions among these that are known to exclude each other.
    pub(crate) fn find(&self, conditions: &[Expr]) -> Option<Vec<usize>> {
        let known = |expr: &&Expr| self.sets.contains_key(expr);
        let mut candidates = conditions.iter().filter(known).peekable();
        candidates.peek()?;
        let all: FxHashSet<Expr> = conditions.iter().copied().collect();
        let mut sets = candidates.flat_map(|expr| &self.sets[expr]);
        let found = sets.find(|set| set.iter().all(|expr| all.contains(expr)))?;
        let members = found.iter();
        let place = |expr: &Expr| conditions.iter().position(|other| other == expr);
        Some(members.filter_map(place).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_conflict_is_found_among_more_conditions() {
        let mut conflicts = Conflicts::default();
        let expr = |numbers: &[u32]| numbers.iter().map(|&n| Expr(n)).collect::<Vec<_>>();
        conflicts.add(expr(&[7, 3]).into_iter());
        conflicts.add(expr(&[7, 9]).into_iter());
        assert_eq!(conflicts.find(&expr(&[1, 7, 2, 3])), Some(vec![3, 1]));
        assert_eq!(conflicts.find(&expr(&[9, 7])), Some(vec![1, 0]));
        assert_eq!(conflicts.find(&expr(&[3, 9, 1])), None);
    }
}
