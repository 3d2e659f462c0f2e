//! In which orders inputs executed the changes, and which changes it takes to see a difference.
//!
//! After Böhme, Oliveira and Roychoudhury (FSE 2013), definition 3: a difference is an error of an
//! interaction if it is seen only on inputs that execute a sequence of two or more changes, and on none
//! that skips one of them. That is said of the inputs that were run, and of no others. Where the culprits
//! are known, it takes them: changes that every input executes would else always seem to belong to it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use beagle_change::Change;
use beagle_engine::Acts;
use beagle_report::diff::{CriticalEntry, SequenceEntry, Sequences};

use super::blame::Blamed;

/// Sequences and steps that are listed in a report.
const LISTED: usize = 50;

/// All sequences that were exercised.
#[derive(Clone, Debug, Default)]
pub struct Exercised {
    numbers: HashMap<Vec<usize>, usize>,
    ways: Vec<Vec<usize>>,
    inputs: Vec<u64>,
}

impl Exercised {
    /// Adds an input; the number of its sequence.
    pub fn add(&mut self, sequence: &[usize]) -> usize {
        let next = self.ways.len();
        let number = *self.numbers.entry(sequence.to_vec()).or_insert(next);
        if number == next {
            self.ways.push(sequence.to_vec());
            self.inputs.push(0);
        }
        self.inputs[number] += 1;
        number
    }

    /// The section of the report. `differing` has the confirmed differences by number.
    pub fn report(
        &self,
        differing: &BTreeMap<usize, u64>,
        untaken: Option<Vec<(usize, usize)>>,
    ) -> Sequences {
        let rows = self.ways.iter().zip(&self.inputs).enumerate();
        let rows = rows.filter(|(_, (way, _))| !way.is_empty());
        let mut list: Vec<SequenceEntry> = rows
            .map(|(number, (way, &inputs))| SequenceEntry {
                changes: way.iter().map(|change| change + 1).collect(),
                inputs,
                differing: differing.get(&number).copied().unwrap_or(0),
            })
            .collect();
        list.sort_by_key(|entry| std::cmp::Reverse((entry.differing, entry.inputs)));
        let missing = untaken.iter().flatten().take(LISTED);
        Sequences {
            inputs: self.inputs.iter().sum(),
            exercised: list.len() as u64,
            differing: list.iter().filter(|entry| entry.differing > 0).count() as u64,
            not_reached: untaken.as_ref().map(|untaken| untaken.len() as u64),
            missing: missing.map(|&(from, to)| [from + 1, to + 1]).collect(),
            list: list.into_iter().take(LISTED).collect(),
        }
    }
}

/// What is known of a group of differences.
pub struct Known<'a> {
    /// Inputs that showed it, by the numbers of their sequences.
    pub shown: &'a BTreeMap<usize, u64>,
    /// Inputs that may show it but were not run on the real programs: they speak neither for it nor
    /// against.
    pub unheard: &'a BTreeMap<usize, u64>,
    /// The changes that the input that is shown executes, and when.
    pub acting: &'a Acts,
    /// The culprits.
    pub blamed: Option<&'a Blamed>,
    /// All changes.
    pub changes: &'a [Change],
}

impl Exercised {
    /// The changes that it takes to see the differences of a group; `None` if nothing is known.
    pub fn critical(&self, known: &Known<'_>) -> Option<CriticalEntry> {
        let executed = known.acting.changes().into_iter();
        let common = executed.filter(|change| {
            let mut shown = known.shown.keys().chain(known.unheard.keys());
            shown.all(|&number| self.ways[number].contains(change))
        });
        let common: Vec<usize> = common.collect();
        let narrow = known.blamed.filter(|blamed| blamed.is_narrow());
        let (changes, hunks, interaction) = match narrow {
            Some(blamed) => by_culprits(known, blamed, &common)?,
            None => self.by_inputs(known, &common),
        };
        if changes.is_empty() {
            return None;
        }
        let inputs = known.shown.iter();
        let executes_all = |way: &[usize]| changes.iter().all(|change| way.contains(change));
        let inputs = inputs.filter(|(number, _)| executes_all(&self.ways[**number]));
        let rest = (0..self.ways.len()).map(|number| {
            let way = &self.ways[number];
            let skips = !executes_all(way);
            let but = [known.shown, known.unheard].map(|tally| tally.get(&number));
            let but: u64 = but.into_iter().flatten().sum();
            u64::from(skips) * self.inputs[number].saturating_sub(but)
        });
        Some(CriticalEntry {
            // The one that is shown executes them all; made small, it may not be among those that were counted.
            inputs: inputs.map(|(_, count)| count).sum::<u64>().max(1),
            skipping: rest.sum(),
            changes: changes.iter().map(|change| change + 1).collect(),
            hunks,
            interaction,
        })
    }

    /// What only the inputs say. A change that no input skips, with others of them executed, may be there
    /// by chance.
    fn by_inputs(&self, known: &Known<'_>, common: &[usize]) -> (Vec<usize>, Vec<usize>, bool) {
        let is_needed = |change: &usize| {
            self.ways.iter().any(|way| {
                let is_near = way.iter().any(|other| common.contains(other));
                is_near && !way.contains(change)
            })
        };
        let needed = common.iter().copied().filter(is_needed);
        let needed = known.acting.order(&needed.collect::<Vec<_>>());
        let hunks = needed
            .iter()
            .filter_map(|&change| known.changes.get(change));
        let hunks: BTreeSet<&Vec<usize>> = hunks.map(|change| &change.hunks).collect();
        let interaction = needed.len() > 1 && hunks.len() > 1;
        (needed, Vec::new(), interaction)
    }
}

/// What the culprits say, as far as the inputs bear it out.
fn by_culprits(
    known: &Known<'_>,
    blamed: &Blamed,
    common: &[usize],
) -> Option<(Vec<usize>, Vec<usize>, bool)> {
    let set = blamed.smallest()?;
    let of = |change: &usize| {
        let of = blamed.hunks.get(change).into_iter().flatten();
        of.copied().filter(|hunk| set.hunks.contains(hunk))
    };
    let wanted = common.iter().copied();
    let wanted: Vec<usize> = wanted
        .filter(|change| of(change).next().is_some())
        .collect();
    let mut changes = known.acting.order(&wanted);
    let mut order: Vec<usize> = Vec::new();
    for hunk in changes.iter().flat_map(of) {
        // What a hunk does last is what counts.
        order.retain(|&other| other != hunk);
        order.push(hunk);
    }
    let all = order.len() == set.hunks.len();
    if let Some(seen) = blamed.order.as_ref().filter(|_| all) {
        order.clone_from(seen);
        let place = |change: &usize| {
            of(change)
                .filter_map(|hunk| seen.iter().position(|&it| it == hunk))
                .max()
        };
        changes.sort_by_key(place);
    }
    let interaction = blamed.culprits.interaction && set.hunks.len() > 1 && all;
    Some((changes, order, interaction))
}

#[cfg(test)]
mod tests {
    use beagle_report::blame::{CulpritSet, Culprits, Relation};

    use super::*;

    fn exercised(inputs: &[&[usize]]) -> Exercised {
        let mut all = Exercised::default();
        for sequence in inputs {
            all.add(sequence);
        }
        all
    }

    fn culprits(sets: &[&[usize]], interaction: bool) -> Blamed {
        let sets = sets.iter().map(|set| CulpritSet {
            hunks: set.to_vec(),
            relation: Relation::Unknown,
            minimal: true,
        });
        Blamed {
            culprits: Culprits {
                sets: sets.collect(),
                undo: Vec::new(),
                interaction,
                complete: true,
                count: 3,
                hunks: Vec::new(),
                builds: 0,
                failed: 0,
                said: String::new(),
            },
            hunks: (0..4).map(|i| (i, vec![i + 1])).collect(),
            order: None,
        }
    }

    /// How many inputs executed which sequence.
    type Inputs<'a> = &'a [(usize, u64)];

    fn critical(
        all: &Exercised,
        shown: Inputs<'_>,
        acting: &[usize],
        blamed: Option<&Blamed>,
    ) -> Option<CriticalEntry> {
        critical_of(all, (shown, &[]), acting, blamed)
    }

    fn critical_of(
        all: &Exercised,
        (shown, unheard): (Inputs<'_>, Inputs<'_>),
        acting: &[usize],
        blamed: Option<&Blamed>,
    ) -> Option<CriticalEntry> {
        all.critical(&Known {
            shown: &shown.iter().copied().collect(),
            unheard: &unheard.iter().copied().collect(),
            acting: &Acts::executed(acting),
            blamed,
            changes: &[],
        })
    }

    #[test]
    fn culprits_in_the_order_in_which_they_act_are_an_interaction() {
        let all = exercised(&[&[2, 0, 1], &[0, 1], &[2, 0], &[2, 0, 1]]);
        let both = culprits(&[&[1, 3]], true);
        let entry = critical(&all, &[(0, 2)], &[2, 0, 1], Some(&both)).unwrap();
        assert_eq!(
            (&entry.changes[..], &entry.hunks[..]),
            (&[3, 1][..], &[3, 1][..])
        );
        assert!(entry.interaction);
        // The third executes both and does not show it.
        assert_eq!((entry.inputs, entry.skipping), (2, 1));
    }

    #[test]
    fn what_builds_without_single_hunks_do_tells_the_order() {
        let all = exercised(&[&[2, 0, 1], &[0, 1]]);
        let mut both = culprits(&[&[1, 3]], true);
        both.order = Some(vec![1, 3]);
        let entry = critical(&all, &[(0, 1)], &[2, 0, 1], Some(&both)).unwrap();
        assert_eq!((entry.changes, entry.hunks), (vec![1, 3], vec![1, 3]));
        // If a hunk was not executed, it is not said that it was.
        let entry = critical(&all, &[(1, 1)], &[0, 1], Some(&both)).unwrap();
        assert_eq!((entry.changes, entry.hunks), (vec![1], vec![1]));
    }

    #[test]
    fn the_input_that_is_shown_counts() {
        let all = exercised(&[&[0, 1], &[0]]);
        let both = culprits(&[&[1, 2]], true);
        let entry = critical(&all, &[], &[0, 1], Some(&both)).unwrap();
        assert_eq!((entry.changes, entry.inputs), (vec![1, 2], 1));
    }

    #[test]
    fn culprits_that_were_not_narrowed_down_say_nothing() {
        let all = exercised(&[&[2, 0, 1], &[2, 0, 1]]);
        let mut broad = culprits(&[&[1, 2, 3]], false);
        broad.culprits.sets[0].minimal = false;
        assert_eq!(
            critical(&all, &[(0, 2)], &[2, 0, 1], Some(&broad)),
            critical(&all, &[(0, 2)], &[2, 0, 1], None)
        );
    }

    #[test]
    fn inputs_that_were_not_run_on_the_real_programs_say_nothing() {
        let all = exercised(&[&[0, 1], &[0, 1], &[0, 1], &[0], &[0]]);
        let both = culprits(&[&[1, 2]], true);
        let unheard = &[(0, 2), (1, 1)][..];
        let heard = critical(&all, &[(0, 1)], &[0, 1], Some(&both)).unwrap();
        assert_eq!((heard.inputs, heard.skipping), (1, 2));
        // One of those that skip the second change may show the difference, too.
        let entry = critical_of(&all, (&[(0, 1)], unheard), &[0, 1], Some(&both)).unwrap();
        assert_eq!((entry.inputs, entry.interaction), (1, false));
    }

    #[test]
    fn one_culprit_is_no_interaction_whatever_else_is_executed() {
        let all = exercised(&[&[0, 1], &[0]]);
        let one = culprits(&[&[2]], false);
        let entry = critical(&all, &[(0, 1)], &[0, 1], Some(&one)).unwrap();
        assert_eq!(entry.changes, [2]);
        assert!(!entry.interaction);
    }

    #[test]
    fn what_is_seen_without_one_of_them_is_no_interaction() {
        let all = exercised(&[&[0, 1], &[1]]);
        let both = culprits(&[&[1, 2]], true);
        let entry = critical(&all, &[(0, 1), (1, 1)], &[0, 1], Some(&both)).unwrap();
        assert!(!entry.interaction);
    }

    #[test]
    fn without_culprits_only_what_some_input_skips_can_belong_to_it() {
        let all = exercised(&[&[0, 1, 2], &[0, 1], &[0, 2]]);
        let entry = critical(&all, &[(0, 1)], &[0, 2, 1], None).unwrap();
        assert_eq!(entry.changes, [3, 2]);
        assert_eq!(
            critical(&exercised(&[&[0, 1]]), &[(0, 1)], &[0, 1], None),
            None
        );
    }
}
