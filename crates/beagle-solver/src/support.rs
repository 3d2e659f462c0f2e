//! Sets of small things (variables, conditions), each stored once.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Larger sets are not kept: along a checksum they would take memory in the square of its length.
const MOST: usize = 48;

/// The number of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Support(u32);

/// All sets that were asked for.
#[derive(Debug)]
pub(crate) struct Supports<T> {
    sets: Vec<Box<[T]>>,
    index: FxHashMap<Box<[T]>, Support>,
    unions: FxHashMap<(Support, Support), Support>,
}

/// Nothing.
pub(crate) const NONE: Support = Support(0);
/// Too many to keep.
pub(crate) const MANY: Support = Support(u32::MAX);

impl<T: Copy + Ord + Hash> Default for Supports<T> {
    fn default() -> Self {
        let none: Box<[T]> = Box::new([]);
        Self {
            sets: vec![none.clone()],
            index: FxHashMap::from_iter([(none, NONE)]),
            unions: FxHashMap::default(),
        }
    }
}

impl<T: Copy + Ord + Hash> Supports<T> {
    /// The members of a set in ascending order; `None` if they are too many to keep.
    pub(crate) fn get(&self, set: Support) -> Option<&[T]> {
        self.sets.get(set.0 as usize).map(|set| &**set)
    }

    /// The set of one.
    pub(crate) fn one(&mut self, member: T) -> Support {
        self.add(Box::new([member]))
    }

    /// The members of either set.
    pub(crate) fn union(&mut self, a: Support, b: Support) -> Support {
        let (a, b) = (a.min(b), a.max(b));
        if a == b || a == NONE {
            return b;
        }
        if b == MANY {
            return b;
        }
        if let Some(&known) = self.unions.get(&(a, b)) {
            return known;
        }
        let (left, right) = (&self.sets[a.0 as usize], &self.sets[b.0 as usize]);
        let mut all: Vec<T> = left.iter().chain(right.iter()).copied().collect();
        all.sort_unstable();
        all.dedup();
        let set = if all.len() > MOST {
            MANY
        } else {
            self.add(all.into())
        };
        self.unions.insert((a, b), set);
        set
    }

    fn add(&mut self, set: Box<[T]>) -> Support {
        if let Some(&known) = self.index.get(&set) {
            return known;
        }
        let number = Support(self.sets.len() as u32);
        self.sets.push(set.clone());
        self.index.insert(set, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(supports: &mut Supports<u32>, members: impl IntoIterator<Item = u32>) -> Support {
        members.into_iter().fold(NONE, |all, member| {
            let one = supports.one(member);
            supports.union(all, one)
        })
    }

    #[test]
    fn equal_sets_are_one() {
        let mut supports = Supports::default();
        let a = set(&mut supports, [3, 1, 2]);
        let b = set(&mut supports, [2, 3, 1, 3]);
        assert_eq!(a, b);
        assert_eq!(supports.get(a).expect("small"), [1, 2, 3]);
        assert_eq!(supports.union(NONE, a), a);
    }

    #[test]
    fn large_sets_are_not_kept_and_stay_large() {
        let mut supports = Supports::default();
        let large = set(&mut supports, 0..=MOST as u32);
        assert_eq!(supports.get(large), None);
        let small = set(&mut supports, [1]);
        let both = supports.union(small, large);
        assert_eq!(supports.get(both), None);
        let most = set(&mut supports, 0..MOST as u32);
        assert_eq!(supports.get(most).map(<[_]>::len), Some(MOST));
    }
}
