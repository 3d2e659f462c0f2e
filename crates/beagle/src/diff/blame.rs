//! After the search: which hunks each group of differences takes.

use std::time::{Duration, Instant};

use beagle_report::blame::Culprits;

use super::Job;
use super::court::{Judged, Shown};
use crate::culprits::{Case, Seeker};
use crate::progress::Progress;

/// The longest time that is spent on it.
const MOST: Duration = Duration::from_secs(20);

impl Job<'_> {
    /// Looks for the culprits of each group, as long as there is time. That this is not possible is
    /// a note, and nothing to fail for.
    pub fn blame(&self, judged: &Judged, notes: &mut Vec<String>) -> Vec<Option<Culprits>> {
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
    ) -> Result<Vec<Option<Culprits>>, Box<dyn std::error::Error>> {
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
    ) -> Result<Option<Culprits>, beagle_blame::Error> {
        let executed = shown.changes.iter();
        let executed = executed.filter_map(|&change| self.comparison.changes.get(change));
        let hunks = executed.flat_map(|change| &change.hunks);
        let hunks = hunks.filter_map(|&hunk| self.comparison.hunks.get(hunk));
        let likely = seeker.numbers(&hunks.collect::<Vec<_>>());
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
        Ok((culprits.complete || !culprits.sets.is_empty()).then_some(culprits))
    }
}
