//! Whether `beagle diff` finds the errors that several changes make together, and says which changes
//! in which order; and does not say so where one change alone is the cause. Starts from one input on
//! which the versions agree.
//!
//! A sample of the pairs; `PAIRS=all` takes all of them.

#[path = "hunt/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod hunt;
#[path = "hunt/sample.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod sample;
#[path = "hunt/truth.rs"]
mod truth;

use std::path::Path;
use std::process::ExitCode;

use beagle_report::diff::Report;
use beagle_subjects::Pair;
use hunt::Hunt;
use sample::Sample;
use tempfile::TempDir;

/// How long to look at one pair.
const SECONDS: u64 = 30;

/// Two and three changes, in functions and files, through memory, and a pair in which one change alone
/// is the cause.
const SAMPLE: [&str; 7] = [
    "bitpack/mask-left-to-other",
    "fields/stale-field-printed",
    // The input executes the first change before and after the second.
    "ini/shared-section-names",
    "jobs/waited-survives-preemption",
    "mailmerge/reset-and-terminate",
    "wrap/stale-gap",
    "comments/splices-reset-early",
];

fn main() -> ExitCode {
    let cache = TempDir::new().expect("a temporary directory can be made");
    let sample = Sample {
        names: &SAMPLE,
        all: 24,
        is_wanted: |pair| !pair.culprits.is_empty(),
        // Each search uses both processors of a small machine.
        threads: 1,
    };
    sample.run(move |_, pair| check(pair, cache.path()))
}

fn check(pair: &Pair, cache: &Path) -> Result<(), String> {
    let hunt = Hunt {
        old: &pair.old,
        new: &pair.new,
        seed: Some(hunt::seed(pair).ok_or("no input to start from")?),
        seconds: SECONDS,
        options: &[],
        first: true,
        blame: true,
    };
    let report = hunt.run(cache)?;
    let wrong: Vec<String> = report
        .groups
        .iter()
        .filter_map(|group| truth::judge(pair, group).err())
        .collect();
    if report.groups.is_empty() {
        return Err(format!(
            "not found with {} runs: {:?}",
            report.runs,
            steps(&report)
        ));
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("{}; {:?}", wrong.join("; "), steps(&report))),
    }
}

fn steps(report: &Report) -> Vec<&Vec<usize>> {
    let all = report
        .sequences
        .iter()
        .flat_map(|sequences| &sequences.list);
    all.map(|entry| &entry.changes).collect()
}
