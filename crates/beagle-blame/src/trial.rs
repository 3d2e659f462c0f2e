//! Runs mixed versions on an input and holds them against old and new.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use beagle_build::Flavour;
use beagle_hunks::Set;
use beagle_trace::Input;
use beagle_verdict::{Judge, Observation, Version};

use crate::bench::Bench;
use crate::error::Error;
use crate::search::{Found, Outcome, search};

/// An input on which two versions differ, and what they do with it.
pub struct Trial<'a> {
    /// The input.
    pub input: &'a Input,
    /// What old does.
    pub old: &'a Observation,
    /// What new does.
    pub new: &'a Observation,
    /// Hunks that are worth being looked at first.
    pub likely: &'a Set,
}

/// How much may be done, and who wants to know how far it is.
pub struct Effort<'a> {
    /// When to stop.
    pub deadline: Instant,
    /// Asked before each build, with how many there were; whether to stop.
    pub goes_on: &'a mut dyn FnMut(usize) -> bool,
}

/// What was found out about an input.
#[derive(Debug, Clone)]
pub struct Blame {
    /// How many hunks there are.
    pub hunks: usize,
    /// Which of them it takes; there are no culprits if all hunks together do not make old do what
    /// new does, so that the cause is elsewhere.
    pub found: Found,
    /// How many mixed versions were built, and how many of them could not be.
    pub builds: (usize, usize),
    /// How long it took.
    pub time: Duration,
}

impl Trial<'_> {
    /// Finds the hunks that it takes. The judge only lends what it needs to run programs.
    pub fn blame(
        &self,
        bench: &mut Bench<'_>,
        judge: &mut Judge,
        effort: &mut Effort<'_>,
    ) -> Result<Blame, Error> {
        let start = Instant::now();
        let before = bench.builds();
        let hunks = bench.diff().hunks.len();
        let mut ask = |set: &Set, bench: &mut Bench<'_>| {
            let builds = bench.builds().0 - before.0;
            if Instant::now() >= effort.deadline || !(effort.goes_on)(builds) {
                return Ok(None);
            }
            self.outcome(set, bench, judge).map(Some)
        };
        // One hunk can only be it; of several, all together have to.
        let all = match hunks {
            0 => Some(Outcome::Old),
            1 => Some(Outcome::New),
            _ => ask(&bench.diff().all(), bench)?,
        };
        let found = match all {
            Some(Outcome::New) => search(hunks, self.likely, |set| ask(set, bench))?,
            other => Found {
                culprits: Vec::new(),
                undo: Vec::new(),
                known: BTreeMap::new(),
                complete: other.is_some(),
            },
        };
        let after = bench.builds();
        Ok(Blame {
            hunks,
            found,
            builds: (after.0 - before.0, after.1 - before.1),
            time: start.elapsed(),
        })
    }

    /// What old with a set of hunks does.
    pub fn outcome(
        &self,
        set: &Set,
        bench: &mut Bench<'_>,
        judge: &mut Judge,
    ) -> Result<Outcome, Error> {
        let Some(plain) = bench.build(set, Flavour::Native)? else {
            return Ok(Outcome::Unresolved);
        };
        // Only where the sanitizers have something to say.
        let sanitized = match self.old.fault.is_some() || self.new.fault.is_some() {
            true => bench.build(set, Flavour::Sanitized)?,
            false => None,
        };
        let version = Version {
            label: String::new(),
            plain,
            sanitized,
        };
        let Some(seen) = judge.observe(&version, self.input)? else {
            return Ok(Outcome::Unresolved);
        };
        let same = |other| !judge.compare(other, &seen).any();
        Ok(match (same(self.old), same(self.new)) {
            (true, _) => Outcome::Old,
            (false, true) => Outcome::New,
            (false, false) => Outcome::Other,
        })
    }
}
