//! After the search: why the versions differ, for each group that is worth it.

use std::time::{Duration, Instant};

use beagle_report::explain::Explanation;

use super::Job;
use super::court::{Judged, Shown};
use crate::explain::Job as Explaining;
use crate::failure::Failure;
use crate::timings::Timings;

/// The longest time that is spent on all groups together.
const MOST: Duration = Duration::from_secs(10);

impl Job<'_> {
    /// Explains groups, as long as there is time: regressions, or all of them if that was asked for. That this is
    /// not possible is a note, and nothing to fail for.
    pub fn explain(&self, judged: &Judged, notes: &mut Vec<String>) -> Vec<Option<Explanation>> {
        let end = Instant::now() + (self.options.search.timeout / 4).min(MOST);
        let mut explained = Vec::new();
        for (left, group) in (1..=judged.groups.len() as u32).rev().zip(&judged.groups) {
            // The worst come first; what they leave is for the others.
            let share = end.saturating_duration_since(Instant::now()) / left;
            if share.is_zero() || self.interrupt.is_raised() || !self.is_worth(group) {
                explained.push(None);
                continue;
            }
            explained.push(match self.explained(group, share) {
                Ok(explanation) => Some(explanation),
                Err(failure) => {
                    let note = format!("a difference could not be explained: {failure}");
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                    None
                }
            });
        }
        explained
    }

    fn is_worth(&self, group: &Shown) -> bool {
        let class = super::present::class(&group.group.representative.difference);
        self.options.explain
            || (!self.options.no_explain
                && !self.options.search.first
                && class.regression() == Some(true))
    }

    fn explained(&self, group: &Shown, time: Duration) -> Result<Explanation, Failure> {
        let finding = &group.group.representative;
        let (input, difference) = (&finding.input, &finding.difference);
        let (mut old, mut new) = self.native();
        if difference.aspects.sanitizer {
            let sanitized = self.order.sanitized(None)?;
            (old.sanitized, new.sanitized) = (Some(sanitized.0), Some(sanitized.1));
        }
        let setting = self.setting()?;
        let explaining = Explaining {
            order: self.order,
            versions: self.versions,
            natives: (&old, &new),
            comparison: self.comparison,
            name: self.name,
            setting: &setting,
            interrupt: self.interrupt,
            quiet: self.quiet,
            time,
            alternates_only: false,
            // Programs that are traced so are there already.
            widely: false,
        };
        let found = explaining.explain(input, difference, &mut Timings::start())?;
        Ok(explaining.entry(&found, difference))
    }
}
