//! When a difference went away: later revisions, run on its input.

use std::path::PathBuf;
use std::time::Instant;

use beagle_build::{Commit, Flavour, VersionSpec, build_native, commits};
use beagle_report::blame::{RevisionEntry, UntilEntry};
use beagle_trace::Input;
use beagle_verdict::{Judge, Observation, Version};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::versions::Order;

/// Revisions after new.
pub struct Later {
    repo: PathBuf,
    /// The last, as the user called it.
    last: String,
    commits: Vec<Commit>,
}

impl Later {
    /// Those along first parents up to `last`.
    pub fn find(order: &Order, last: &str) -> Result<Self, Failure> {
        let VersionSpec::Revision { repo, commit, .. } = &order.new else {
            let cause = "--until needs new to be a revision";
            return Err(Failure::usage(cause, "name a revision of a git repository"));
        };
        let spec = VersionSpec::parse(last, &order.here)?;
        let VersionSpec::Revision { commit: end, .. } = &spec else {
            let cause = format!("--until {last}: this is no revision");
            return Err(Failure::usage(cause, "name a revision after new"));
        };
        let commits = commits(repo, commit, end)?;
        if commits.is_empty() {
            let cause = format!("--until {last}: there is no revision after new up to it");
            return Err(Failure::usage(
                cause,
                "name a revision that comes after new",
            ));
        }
        Ok(Self {
            repo: repo.clone(),
            last: last.to_owned(),
            commits,
        })
    }
}

/// What it takes to try later revisions.
pub struct Search<'a> {
    /// How they are built.
    pub order: &'a Order,
    /// The input.
    pub input: &'a Input,
    /// What old does with it.
    pub old: &'a Observation,
    /// Whether the user wants to stop.
    pub interrupt: &'a Interrupt,
    /// When to stop.
    pub deadline: Instant,
}

impl Search<'_> {
    /// Looks for the first revision after new that does what old did. It is found by halving: if
    /// the difference went away and came back, it is one of the times that it went away.
    pub fn run(&self, later: &Later, judge: &mut Judge) -> Result<UntilEntry, Failure> {
        let commits = &later.commits;
        let mut entry = UntilEntry {
            last: later.last.clone(),
            fixed: None,
            revisions: commits.len(),
            tried: 0,
            failed: 0,
        };
        let fixed = first(commits.len(), |at| {
            if self.interrupt.is_raised() || Instant::now() >= self.deadline {
                return Ok(None);
            }
            let does = self.does_as_old(later, &commits[at], judge)?;
            entry.tried += 1;
            entry.failed += usize::from(does.is_none());
            Ok::<_, Failure>(does)
        })?;
        entry.fixed = fixed.map(|at| RevisionEntry {
            commit: commits[at].hash.clone(),
            subject: commits[at].subject.clone(),
        });
        Ok(entry)
    }

    /// Whether a revision does what old did; `None` if that cannot be said.
    fn does_as_old(
        &self,
        later: &Later,
        commit: &Commit,
        judge: &mut Judge,
    ) -> Result<Option<bool>, Failure> {
        let spec = VersionSpec::Revision {
            repo: later.repo.clone(),
            rev: commit.hash.clone(),
            commit: commit.hash.clone(),
        };
        let (config, cache) = (&self.order.config, &self.order.cache);
        let build = |flavour| build_native(&spec, config, cache, flavour, &mut |_| {});
        let Ok(plain) = build(Flavour::Native) else {
            return Ok(None);
        };
        let version = Version {
            label: spec.label(),
            plain,
            sanitized: match self.old.fault.is_some() {
                true => build(Flavour::Sanitized).ok(),
                false => None,
            },
        };
        let seen = judge.observe(&version, self.input).map_err(Failure::run)?;
        Ok(seen.map(|seen| !judge.compare(self.old, &seen).any()))
    }
}

/// The first of some things in a row from which on `holds` says yes, if the last one does. What it
/// has nothing to say about is passed over.
fn first<E>(
    count: usize,
    mut holds: impl FnMut(usize) -> Result<Option<bool>, E>,
) -> Result<Option<usize>, E> {
    let Some(last) = count.checked_sub(1) else {
        return Ok(None);
    };
    if holds(last)? != Some(true) {
        return Ok(None);
    }
    // Before `low` it does not hold, at `high` it does.
    let (mut low, mut high) = (0, last);
    'halving: while low < high {
        let middle = low + (high - low) / 2;
        // The nearest that something is known about.
        for at in (middle..high).chain((low..middle).rev()) {
            match holds(at)? {
                Some(true) => high = at,
                Some(false) => low = at + 1,
                None => continue,
            }
            continue 'halving;
        }
        break;
    }
    Ok(Some(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(answers: &str) -> Option<usize> {
        let answers: Vec<char> = answers.chars().collect();
        let holds = |at: usize| {
            Ok::<_, ()>(match answers[at] {
                'y' => Some(true),
                'n' => Some(false),
                _ => None,
            })
        };
        first(answers.len(), holds).unwrap()
    }

    #[test]
    fn the_first_that_holds_is_found() {
        assert_eq!(found("nnnyyyy"), Some(3));
        assert_eq!(found("y"), Some(0));
        assert_eq!(found("yyyy"), Some(0));
        assert_eq!(found("nnnnnnny"), Some(7));
        assert_eq!(found("nnnn"), None);
        assert_eq!(found(""), None);
    }

    #[test]
    fn what_cannot_be_told_is_passed_over() {
        assert_eq!(found("nn??yyy"), Some(4));
        assert_eq!(found("????y"), Some(4));
        assert_eq!(found("nny?"), None);
    }
}
