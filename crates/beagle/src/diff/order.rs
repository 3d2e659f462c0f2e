//! In which order hunks have their part in a difference that takes several of them.
//!
//! For each of them two versions are run side by side: old with all of these hunks, and the same without this one. They
//! differ in nothing else, so when it was last executed before they go apart for good tells when this hunk has its part.

use std::time::{Duration, Instant};

use beagle_blame::Mixed;
use beagle_build::Cache;
use beagle_change::{Attention, compare};
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

/// A version that is neither old nor new.
struct Mixture<'a> {
    version: Version,
    /// Its sources, which are read when the version is compared.
    _sources: Mixed<'a>,
}

impl<'a> Mixture<'a> {
    fn new(seeker: &'a Seeker<'_>, set: &Set, cache: &Cache) -> Result<Self, Failure> {
        let sources = seeker.mixed(set).map_err(Failure::run)?;
        Ok(Self {
            version: Version::quietly(&sources.spec, sources.config, cache)?,
            _sources: sources,
        })
    }
}

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
        // Nobody builds these again.
        let scratch = tempfile::tempdir().ok()?;
        let cache = self.order.cache.elsewhere(scratch.path()).ok()?;
        let is_late =
            |step: Duration| Instant::now() + step >= deadline || self.interrupt.is_raised();
        if is_late(Duration::ZERO) {
            return None;
        }
        let start = Instant::now();
        let together = Mixture::new(seeker, set, &cache).ok()?;
        // What comes takes as long, or longer.
        let mut step = start.elapsed();
        let mut parts = Vec::new();
        for &hunk in set {
            if is_late(step) {
                return None;
            }
            let start = Instant::now();
            let others = set.iter().copied().filter(|&other| other != hunk).collect();
            // What does not build, or cannot be run, says nothing.
            let without = Mixture::new(seeker, &others, &cache).ok()?;
            let versions = (&without.version, &together.version);
            let part = self.part(versions, input, &setting, &cache).ok()??;
            parts.push((part, hunk));
            step = start.elapsed();
        }
        parts.sort_unstable();
        // Two at a time have no order.
        let apart = parts.windows(2).all(|two| two[0].0 != two[1].0);
        apart.then(|| parts.into_iter().map(|(_, hunk)| hunk).collect())
    }

    /// When the one thing in which two versions differ has its part, in decisions of the second.
    fn part(
        &self,
        versions: (&Version, &Version),
        input: &Input,
        setting: &Setting,
        cache: &Cache,
    ) -> Result<Option<usize>, Failure> {
        let (old, new) = versions;
        let probing = Probing {
            versions,
            comparison: &compare(&old.program, &old.sources, &new.program, &new.sources),
            name: self.name,
            setting,
            cache,
        };
        let limits = Limits {
            time: RUN,
            ..self.limits()
        };
        probing.probe(Attention::AllAndPointers, |probe| {
            part(probe, input, &limits).map_err(Failure::run)
        })
    }
}
