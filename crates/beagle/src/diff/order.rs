//! In which order hunks have their part in a difference that takes several of them.
//!
//! For each of them two versions are run side by side: old with all of these hunks, and the same without this one. They
//! differ in nothing else, so where they are first seen to differ tells when this hunk has its part, however often it
//! is executed.

use std::time::{Duration, Instant};

use beagle_change::compare;
use beagle_explain::part;
use beagle_hunks::Set;
use beagle_trace::{Input, Limits};
use beagle_verdict::Setting;

use super::Job;
use crate::culprits::Seeker;
use crate::failure::Failure;
use crate::traced::Probing;
use crate::versions::Version;

/// The order of more hunks is not looked for.
const MOST_HUNKS: usize = 6;

/// Of larger programs it takes too long to build them again and again for this.
const MOST_STATEMENTS: usize = 50_000;

/// How long a run may take.
const RUN: Duration = Duration::from_secs(2);

impl Job<'_> {
    /// The hunks of a set in the order in which they have their part in the difference on an input. `None` if it cannot
    /// be told, or not by then.
    pub(super) fn order(
        &self,
        seeker: &Seeker<'_>,
        set: &Set,
        input: &Input,
        deadline: Instant,
    ) -> Option<Vec<usize>> {
        let (old, new) = self.versions;
        let size = old.program.stmts.len().max(new.program.stmts.len());
        if !(2..=MOST_HUNKS).contains(&set.len()) || size > MOST_STATEMENTS {
            return None;
        }
        let setting = self.setting().ok()?;
        let start = Instant::now();
        let together = self.mixed(seeker, set).ok()?;
        // The others take about as long to build.
        let build = start.elapsed();
        let mut parts = Vec::new();
        for &hunk in set {
            if Instant::now() + build >= deadline || self.interrupt.is_raised() {
                return None;
            }
            let others = set.iter().copied().filter(|&other| other != hunk).collect();
            // What does not build, or cannot be run, says nothing.
            let without = self.mixed(seeker, &others).ok()?;
            let part = self.part((&without, &together), input, &setting).ok()??;
            parts.push((part, hunk));
        }
        parts.sort_unstable();
        // Two at a time have no order.
        let apart = parts.windows(2).all(|two| two[0].0 != two[1].0);
        apart.then(|| parts.into_iter().map(|(_, hunk)| hunk).collect())
    }

    fn mixed(&self, seeker: &Seeker<'_>, set: &Set) -> Result<Version, Failure> {
        let mixed = seeker.mixed(set).map_err(Failure::run)?;
        Version::quietly(&mixed.spec, mixed.config, &self.order.cache)
    }

    /// When the one thing in which two versions differ has its part, in decisions of the second.
    fn part(
        &self,
        versions: (&Version, &Version),
        input: &Input,
        setting: &Setting,
    ) -> Result<Option<usize>, Failure> {
        let (old, new) = versions;
        let probing = Probing {
            versions,
            comparison: &compare(&old.program, &old.sources, &new.program, &new.sources),
            name: self.name,
            setting,
            cache: &self.order.cache,
        };
        let limits = Limits {
            time: RUN,
            ..self.limits()
        };
        probing.probe(true, |probe| {
            part(probe, input, &limits).map_err(Failure::run)
        })
    }
}
