//! After the search: which hunks each group of differences takes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use beagle_report::blame::{CulpritSet, Culprits};

use super::Job;
use super::court::{Judged, Shown};
use crate::culprits::{Case, Seeker};
use crate::progress::Progress;

/// The longest time that is spent on it.
const MOST: Duration = Duration::from_secs(20);

/// The culprits of a group.
pub struct Blamed {
    /// The hunks that it takes.
    pub culprits: Culprits,
    /// The numbers of the hunks that each change is in, of changes that were executed.
    pub hunks: BTreeMap<usize, Vec<usize>>,
    /// Those of the smallest set in the order in which they have their part in it, if there are several and it can be
    /// told.
    pub order: Option<Vec<usize>>,
}

impl Blamed {
    /// Whether the sets of hunks were narrowed down: else they do not say what it takes.
    pub fn is_narrow(&self) -> bool {
        self.culprits.sets.iter().all(|set| set.minimal)
    }

    /// The smallest set of hunks that it takes.
    pub fn smallest(&self) -> Option<&CulpritSet> {
        let sets = self.culprits.sets.iter();
        sets.min_by_key(|set| set.hunks.len())
    }

    /// Those of the changes that were executed that have a part in it, as far as that is known: all of them, unless
    /// every set of hunks was tried.
    pub fn guilty(&self, changes: &BTreeSet<usize>) -> BTreeSet<usize> {
        let culprits = &self.culprits;
        let known = culprits.complete && culprits.count <= beagle_blame::EVERY;
        let named = culprits.sets.iter().map(|set| &set.hunks);
        let named: BTreeSet<usize> = named.chain(&culprits.undo).flatten().copied().collect();
        let is_guilty = |change: &usize| {
            let hunks = self.hunks.get(change);
            hunks.is_none_or(|hunks| {
                hunks.is_empty() || hunks.iter().any(|hunk| named.contains(hunk))
            })
        };
        let guilty: BTreeSet<usize> = changes.iter().copied().filter(is_guilty).collect();
        // Which hunk a change belongs to is not always clear: somebody did it.
        match known && !guilty.is_empty() {
            true => guilty,
            false => changes.clone(),
        }
    }
}

impl Job<'_> {
    /// Looks for the culprits of each group, as long as there is time. That this is not possible is
    /// a note, and nothing to fail for.
    pub fn blame(&self, judged: &Judged, notes: &mut Vec<String>) -> Vec<Option<Blamed>> {
        if judged.groups.is_empty() || self.interrupt.is_raised() {
            return Vec::new();
        }
        let line = Progress::new(self.quiet);
        let blamed = self.try_blame(judged, &line);
        line.clear();
        match blamed {
            Ok(blamed) => blamed,
            Err(error) => {
                notes.push(format!("no culprits were looked for: {error}"));
                Vec::new()
            }
        }
    }

    fn try_blame(
        &self,
        judged: &Judged,
        line: &Progress,
    ) -> Result<Vec<Option<Blamed>>, Box<dyn std::error::Error>> {
        let end = Instant::now() + (self.options.search.timeout / 2).min(MOST);
        let setting = self.setting().map_err(|failure| failure.to_string())?;
        let (old, new) = self.native();
        let order = self.order;
        let mut seeker = Seeker::new(order, (&old, &new), &setting, self.interrupt, line)?;
        let mut blamed = Vec::new();
        for (left, group) in (1..=judged.groups.len() as u32).rev().zip(&judged.groups) {
            // The worst come first; what they leave is for the others.
            let share = end.saturating_duration_since(Instant::now()) / left;
            let deadline = Instant::now() + share;
            blamed.push(self.culprits(group, &mut seeker, deadline)?);
        }
        Ok(blamed)
    }

    fn culprits(
        &self,
        shown: &Shown,
        seeker: &mut Seeker<'_>,
        deadline: Instant,
    ) -> Result<Option<Blamed>, beagle_blame::Error> {
        let mut executed = shown.acting.changes();
        executed.extend(&shown.changes);
        let executed = executed.into_iter().filter_map(|index| {
            let change = self.comparison.changes.get(index)?;
            let hunks = change.hunks.iter();
            let hunks = hunks.filter_map(|&hunk| self.comparison.hunks.get(hunk));
            let numbers = seeker.numbers(&hunks.collect::<Vec<_>>());
            Some((index, numbers.into_iter().collect()))
        });
        let hunks: BTreeMap<usize, Vec<usize>> = executed.collect();
        let likely = hunks.values().flatten().copied().collect();
        let finding = &shown.group.representative;
        let case = Case {
            input: &finding.input,
            old: &finding.difference.old,
            new: &finding.difference.new,
            likely: &likely,
            deadline,
        };
        let culprits = seeker.seek(&case)?;
        // Nothing to say is better than to say that there was no time.
        if !culprits.complete && culprits.sets.is_empty() {
            return Ok(None);
        }
        let mut blamed = Blamed {
            culprits,
            hunks,
            order: None,
        };
        if let Some(set) = blamed.smallest().filter(|_| blamed.is_narrow()) {
            let set = set.hunks.iter().copied().collect();
            blamed.order = self.order(seeker, &set, &finding.input, deadline);
        }
        Ok(Some(blamed))
    }
}
