//! Where something was wanted and a mistake came with it, `beagle diff` finds both, and keeps them apart. What
//! is wanted and what is not is told by a version that has the one without the other, which the search does not
//! know of. Starts from one input on which the versions agree.
//!
//! A sample of the pairs; `PAIRS=all` takes all of them, half a minute each.

#[path = "hunt/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod hunt;
#[path = "hunt/sample.rs"]
mod sample;

use std::process::ExitCode;

use beagle_subjects::{Pair, Workshop};
use hunt::Hunt;
use sample::Sample;
use tempfile::TempDir;

/// How long to look at one pair.
const SECONDS: u64 = 30;

/// And at the sample, which is found sooner.
const SECONDS_FOR_SAMPLE: u64 = 20;

/// The second goes the same way for what is wanted and for the mistake: only a kind of character tells.
const SAMPLE: [&str; 2] = ["jsonpick/comments-option", "comments/digit-separators"];

fn main() -> ExitCode {
    let seconds = match sample::is_all() {
        true => SECONDS,
        false => SECONDS_FOR_SAMPLE,
    };
    let workshop = Workshop::new().expect("a temporary directory can be made");
    let cache = TempDir::new().expect("a temporary directory can be made");
    let sample = Sample {
        names: &SAMPLE,
        all: 8,
        is_wanted: |pair| pair.golden.is_some(),
        // Each search uses both processors of a small machine.
        threads: 1,
    };
    sample.run(move |_, pair| check(pair, seconds, &workshop, &cache))
}

fn check(pair: &Pair, seconds: u64, workshop: &Workshop, cache: &TempDir) -> Result<(), String> {
    let golden = pair.golden.as_ref().ok_or("no golden version")?;
    let seed = hunt::seed(pair).ok_or("no input to start from")?;
    let hunt = Hunt {
        old: &pair.old,
        new: &pair.new,
        seed: Some(seed),
        seconds,
        options: &["--no-explain"],
        first: false,
        blame: false,
    };
    let report = hunt.run(cache.path())?;
    let (mut wanted, mut mistaken) = (Vec::new(), Vec::new());
    for difference in &report.differences {
        let input = hunt::reported(&difference.input);
        let as_old = !hunt::differ(workshop, &pair.old, golden, &input)?;
        let as_new = !hunt::differ(workshop, &pair.new, golden, &input)?;
        match (as_old, as_new) {
            (true, false) => mistaken.push(difference.group),
            (false, true) => wanted.push(difference.group),
            (true, true) => return Err(format!("a difference that is not there: {input}")),
            // Neither as it was nor as it is: a mistake in what is new.
            (false, false) => {}
        }
    }
    let apart = mistaken.iter().any(|group| !wanted.contains(group));
    let apart = apart && wanted.iter().any(|group| !mistaken.contains(group));
    match apart {
        true => Ok(()),
        false => Err(format!(
            "groups of what is wanted: {wanted:?}, of the mistake: {mistaken:?}, of {} differences in {} groups after {} runs and {:.1} s from {seed}",
            report.differences.len(),
            report.groups.len(),
            report.runs,
            report.seconds
        )),
    }
}
