//! Looks for the smallest sets of hunks that make old behave as new, by asking what sets do.
//!
//! Up to [`EVERY`] hunks every set is asked about. With more, delta debugging finds a set from
//! which no single hunk can be taken, and then others beside it; all parts of a small set are asked
//! about, too, so that it is known whether they are harmless alone.

use std::collections::BTreeMap;

use beagle_hunks::Set;

/// Up to so many hunks every set is asked about.
pub const EVERY: usize = 4;
/// With many hunks: how many sets are looked for that do it independently of each other.
const OTHERS: usize = 3;

/// What old with a set of hunks does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// What old does.
    Old,
    /// What new does.
    New,
    /// Something else.
    Other,
    /// It cannot be built, or does not do the same each time.
    Unresolved,
}

/// How the hunks of a culprit set belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// There is only one.
    Alone,
    /// They interact: they can be told apart into parts that change nothing alone.
    Interaction,
    /// Some of them already change something, in another way than all do.
    Adds,
    /// They cannot be taken apart: what is left does not build.
    Bound,
    /// Not known.
    Unknown,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Sets that make old behave as new, of which no part is known to. If there was no time
    /// to narrow one down, it is the only one, and most of its hunks may be superfluous: see [`Found::is_minimal`].
    pub culprits: Vec<Set>,
    /// Sets without which new behaves as old, of which no part is known to be enough.
    pub undo: Vec<Set>,
    /// What is known of sets.
    pub known: BTreeMap<Set, Outcome>,
    /// Whether everything was asked that should be.
    pub complete: bool,
}

/// Looks for culprits among hunks 1 to `count`. `ask` says what old with a set of hunks does, or
/// nothing if it is time to stop. `likely` are hunks that are worth being looked at first.
pub fn search<E>(
    count: usize,
    likely: &Set,
    ask: impl FnMut(&Set) -> Result<Option<Outcome>, E>,
) -> Result<Found, E> {
    let all: Set = (1..=count).collect();
    let mut search = Search {
        known: BTreeMap::from([(Set::new(), Outcome::Old), (all.clone(), Outcome::New)]),
        all,
        ask,
        stopped: false,
    };
    if count <= EVERY {
        for set in parts(&search.all) {
            search.outcome(&set)?;
        }
    } else {
        search.many(likely)?;
    }
    Ok(search.found())
}

struct Search<A> {
    known: BTreeMap<Set, Outcome>,
    all: Set,
    ask: A,
    stopped: bool,
}

impl<E, A: FnMut(&Set) -> Result<Option<Outcome>, E>> Search<A> {
    fn outcome(&mut self, set: &Set) -> Result<Outcome, E> {
        if let Some(&known) = self.known.get(set) {
            return Ok(known);
        }
        if self.stopped {
            return Ok(Outcome::Unresolved);
        }
        let Some(outcome) = (self.ask)(set)? else {
            self.stopped = true;
            return Ok(Outcome::Unresolved);
        };
        self.known.insert(set.clone(), outcome);
        Ok(outcome)
    }

    fn is_new(&mut self, set: &Set) -> Result<bool, E> {
        Ok(self.outcome(set)? == Outcome::New)
    }

    fn many(&mut self, likely: &Set) -> Result<(), E> {
        let mut rest = self.all.clone();
        let likely = likely & &rest;
        if !likely.is_empty() && self.is_new(&likely)? {
            rest = likely;
        }
        let mut left = self.all.clone();
        let mut culprits = Set::new();
        for _ in 0..OTHERS {
            let set = self.reduce(rest)?;
            if set.len() <= EVERY {
                for part in parts(&set) {
                    self.outcome(&part)?;
                }
            }
            culprits = &culprits | &set;
            left = &left - &set;
            if left.is_empty() || !self.is_new(&left)? {
                break;
            }
            rest = left.clone();
        }
        self.undo(&culprits)
    }

    /// Which of the culprits new has to do without to behave as old: each alone, or else as few as
    /// can be found one by one.
    fn undo(&mut self, culprits: &Set) -> Result<(), E> {
        let mut alone = false;
        for &hunk in culprits {
            // To make sets of thousands of hunks takes long, too.
            if self.stopped {
                return Ok(());
            }
            let without = &self.all - &Set::from([hunk]);
            alone |= self.outcome(&without)? == Outcome::Old;
        }
        let mut undo = culprits.clone();
        if alone || self.outcome(&(&self.all - &undo))? != Outcome::Old {
            return Ok(());
        }
        for hunk in culprits {
            if self.stopped {
                break;
            }
            undo.remove(hunk);
            if self.outcome(&(&self.all - &undo))? != Outcome::Old {
                undo.insert(*hunk);
            }
        }
        Ok(())
    }

    /// Delta debugging: a part of a set that behaves as new, from which no hunk can be taken.
    fn reduce(&mut self, set: Set) -> Result<Set, E> {
        let mut items: Vec<usize> = set.into_iter().collect();
        let mut pieces = 2;
        'again: while items.len() >= 2 {
            let size = items.len().div_ceil(pieces);
            for piece in items.chunks(size) {
                if self.is_new(&piece.iter().copied().collect())? {
                    (items, pieces) = (piece.to_vec(), 2);
                    continue 'again;
                }
            }
            // With two pieces, what is left without one is the other.
            if pieces > 2 {
                for piece in items.chunks(size) {
                    let others = items.iter().filter(|item| !piece.contains(item));
                    let others: Vec<usize> = others.copied().collect();
                    if self.is_new(&others.iter().copied().collect())? {
                        (items, pieces) = (others, (pieces - 1).max(2));
                        continue 'again;
                    }
                }
            }
            if self.stopped || pieces >= items.len() {
                break;
            }
            pieces = (pieces * 2).min(items.len());
        }
        Ok(items.into_iter().collect())
    }

    fn found(self) -> Found {
        let of = |outcome: Outcome| {
            let sets = self.known.iter().filter(move |(_, it)| **it == outcome);
            sets.map(|(set, _)| set.clone())
        };
        let mut culprits = smallest(of(Outcome::New).collect());
        // What was not narrowed down says nothing beside what was.
        if culprits.iter().any(|set| is_minimal(&self.known, set)) {
            culprits.retain(|set| is_minimal(&self.known, set));
        }
        let undo = of(Outcome::Old).map(|set| &self.all - &set);
        // Of many hunks large sets were tried on the way that nobody wants to hear of.
        let few = self.all.len() <= EVERY;
        let named: Set = culprits.iter().flatten().copied().collect();
        let undo = undo.filter(|undo| few || undo.is_subset(&named));
        let mut undo = smallest(undo.collect());
        // Without all hunks new is old: that is no news.
        let is_tried = |set: &Set, hunk: &usize| {
            let more = &(&self.all - set) | &Set::from([*hunk]);
            self.known.contains_key(&more)
        };
        undo.retain(|set| !self.stopped || set.iter().all(|hunk| is_tried(set, hunk)));
        Found {
            undo,
            culprits,
            complete: !self.stopped,
            known: self.known,
        }
    }
}

impl Found {
    /// Whether it was tried to take each hunk alone from a culprit set, and none can be.
    pub fn is_minimal(&self, set: &Set) -> bool {
        is_minimal(&self.known, set)
    }

    /// How the hunks of a culprit set belong together.
    pub fn relation(&self, set: &Set) -> Relation {
        if set.len() == 1 {
            return Relation::Alone;
        }
        if !self.is_minimal(set) {
            return Relation::Unknown;
        }
        let known = |part: &Set| self.known.get(part).copied();
        let parts = self.known.keys();
        let mut parts =
            parts.filter(|part| !part.is_empty() && part.is_subset(set) && part.len() < set.len());
        if parts
            .clone()
            .any(|part| known(part) == Some(Outcome::Other))
        {
            return Relation::Adds;
        }
        let harmless = |part: &Set| known(part) == Some(Outcome::Old);
        if parts
            .clone()
            .any(|part| harmless(part) && harmless(&(set - part)))
        {
            return Relation::Interaction;
        }
        match parts.any(|part| known(part) == Some(Outcome::Unresolved)) {
            true => Relation::Bound,
            false => Relation::Unknown,
        }
    }

    /// Whether several hunks had to come together: every culprit set is an interaction.
    pub fn is_interaction(&self) -> bool {
        let mut relations = self.culprits.iter().map(|set| self.relation(set));
        !self.culprits.is_empty() && relations.all(|relation| relation == Relation::Interaction)
    }
}

fn is_minimal(known: &BTreeMap<Set, Outcome>, set: &Set) -> bool {
    set.iter().all(|hunk| {
        let less = known.get(&(set - &Set::from([*hunk])));
        less.is_some_and(|outcome| *outcome != Outcome::New)
    })
}

/// All parts of a set but the empty one and itself, small ones first.
fn parts(set: &Set) -> Vec<Set> {
    let mut parts = vec![Set::new()];
    for &hunk in set {
        let with: Vec<Set> = parts.iter().map(|part| part | &Set::from([hunk])).collect();
        parts.extend(with);
    }
    parts.retain(|part| !part.is_empty() && part != set);
    parts.sort_by_key(Set::len);
    parts
}

/// The sets that have no other one as a part, small ones first.
fn smallest(mut sets: Vec<Set>) -> Vec<Set> {
    sets.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    let mut kept: Vec<Set> = Vec::new();
    for set in sets {
        if !kept.iter().any(|other| other.is_subset(&set)) {
            kept.push(set);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(hunks: &[usize]) -> Set {
        hunks.iter().copied().collect()
    }

    /// Looks for culprits where `outcome` tells what sets do; also how often it was asked.
    fn looked(count: usize, outcome: impl Fn(&Set) -> Outcome) -> (Found, usize) {
        let mut asked = 0;
        let found = search(count, &Set::new(), |set| {
            asked += 1;
            Ok::<_, ()>(Some(outcome(set)))
        });
        (found.unwrap(), asked)
    }

    fn needs(hunks: &'static [usize]) -> impl Fn(&Set) -> Outcome {
        move |applied| match set(hunks).is_subset(applied) {
            true => Outcome::New,
            false => Outcome::Old,
        }
    }

    #[test]
    fn one_hunk_alone_is_found_among_few_and_among_many() {
        for count in [1, 2, 4, 5, 300] {
            let (found, _) = looked(count, needs(&[1]));
            assert_eq!(found.culprits, [set(&[1])], "{count}");
            assert_eq!(found.undo, [set(&[1])]);
            assert_eq!(found.relation(&set(&[1])), Relation::Alone);
            assert!(found.complete && !found.is_interaction());
        }
    }

    #[test]
    fn hunks_that_do_it_only_together_interact() {
        for count in [4, 40] {
            let (found, _) = looked(count, needs(&[1, 3]));
            assert_eq!(found.culprits, [set(&[1, 3])], "{count}");
            assert_eq!(found.undo, [set(&[1]), set(&[3])]);
            assert!(found.is_interaction());
        }
        let (found, asked) = looked(300, needs(&[7, 100, 299]));
        assert_eq!(found.culprits, [set(&[7, 100, 299])]);
        assert!(found.is_interaction());
        assert!(asked < 150, "{asked}");
    }

    #[test]
    fn either_of_two_that_does_it_alone_is_named() {
        for count in [3, 20] {
            let either = |applied: &Set| match applied.contains(&2) || applied.contains(&3) {
                true => Outcome::New,
                false => Outcome::Old,
            };
            let (found, _) = looked(count, either);
            assert_eq!(found.culprits, [set(&[2]), set(&[3])], "{count}");
            assert!(!found.is_interaction());
            assert_eq!(found.undo, [set(&[2, 3])]);
        }
    }

    #[test]
    fn parts_that_change_something_else_are_no_interaction() {
        let (found, _) = looked(2, |applied| match applied.len() {
            2 => Outcome::New,
            1 => Outcome::Other,
            _ => Outcome::Old,
        });
        assert_eq!(found.culprits, [set(&[1, 2])]);
        assert_eq!(found.relation(&set(&[1, 2])), Relation::Adds);
    }

    #[test]
    fn hunks_that_do_not_build_apart_are_bound() {
        // Hunk 2 calls what hunk 1 adds.
        let (found, _) = looked(3, |applied| {
            match (applied.contains(&1), applied.contains(&2)) {
                (_, false) => Outcome::Old,
                (false, true) => Outcome::Unresolved,
                (true, true) => Outcome::New,
            }
        });
        assert_eq!(found.culprits, [set(&[1, 2])]);
        assert_eq!(found.relation(&set(&[1, 2])), Relation::Bound);
        assert_eq!(found.undo, [set(&[2])]);
        // A third one that interacts with the two.
        let (found, _) = looked(3, |applied| {
            match (
                applied.contains(&1),
                applied.contains(&2),
                applied.contains(&3),
            ) {
                (false, true, _) => Outcome::Unresolved,
                (true, true, true) => Outcome::New,
                _ => Outcome::Old,
            }
        });
        assert_eq!(found.relation(&set(&[1, 2, 3])), Relation::Interaction);
    }

    #[test]
    fn what_is_likely_is_asked_first() {
        let mut first = None;
        let likely = set(&[10, 20, 30]);
        let found = search(100, &likely, |applied| {
            first.get_or_insert_with(|| applied.clone());
            Ok::<_, ()>(Some(needs(&[20])(applied)))
        });
        assert_eq!(found.unwrap().culprits, [set(&[20])]);
        assert_eq!(first, Some(likely));
    }

    #[test]
    fn when_time_is_over_the_smallest_so_far_is_told() {
        let mut left = 3;
        let found = search(64, &Set::new(), |applied| {
            left -= 1;
            Ok::<_, ()>((left >= 0).then(|| needs(&[1])(applied)))
        });
        let found = found.unwrap();
        assert!(!found.complete);
        let eight: Set = (1..=8).collect();
        assert!(!found.is_minimal(&eight));
        assert_eq!(found.relation(&eight), Relation::Unknown);
        assert_eq!(found.culprits, [eight]);
    }

    #[test]
    fn what_was_not_narrowed_down_is_not_said_to_be_needed() {
        // Both halves are fine: still most of the six may be superfluous.
        for questions in 0..=2 {
            let mut left = questions;
            let found = search(6, &Set::new(), |applied| {
                left -= 1;
                Ok::<_, ()>((left >= 0).then(|| needs(&[1, 4])(applied)))
            });
            let found = found.unwrap();
            let all: Set = (1..=6).collect();
            assert!(!found.complete && !found.is_minimal(&all), "{questions}");
            assert_eq!(found.relation(&all), Relation::Unknown, "{questions}");
            assert!(!found.is_interaction(), "{questions}");
            assert_eq!(found.culprits, [all]);
            assert!(found.undo.is_empty(), "{:?}", found.undo);
        }
        let (found, _) = looked(6, needs(&[1, 4]));
        assert!(found.is_minimal(&set(&[1, 4])) && found.is_interaction());
    }

    #[test]
    fn others_that_were_not_narrowed_down_are_left_out() {
        // Each hunk alone does it, and only so many are looked for.
        let (found, _) = looked(9, |applied| match applied.is_empty() {
            true => Outcome::Old,
            false => Outcome::New,
        });
        assert!(found.culprits.iter().all(|set| set.len() == 1), "{found:?}");
        assert!(found.complete);
    }
}
