//! Whether `beagle diff` says which changes make an error together, and in which order they act, if it is given
//! an input of `pair.toml` that shows it, each of them: nothing depends on what a search finds.
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

use beagle_subjects::{Kind, Pair};
use hunt::Hunt;
use sample::Sample;
use tempfile::TempDir;

/// How long it may take to be shown, and its culprits to be found.
const SECONDS: u64 = 30;

/// In all but the second a change acts again besides when it has its part in the error, and only what versions with and
/// without it do tells when; in the third what sets these apart goes through memory that is not watched, in the last it is
/// an address.
const SAMPLE: [&str; 5] = [
    "fields/value-of-earlier-table",
    "comments/next-comment-kept-too",
    "subst/number-of-earlier-paragraph",
    "ledger/void-after-report",
    "ini/shared-section-names",
];

fn main() -> ExitCode {
    let cache = TempDir::new().expect("a temporary directory can be made");
    let sample = Sample {
        names: &SAMPLE,
        all: 30,
        is_wanted: |pair| pair.kind == Kind::Interaction,
        threads: 1,
    };
    sample.run(move |_, pair| check(pair, cache.path()))
}

fn check(pair: &Pair, cache: &Path) -> Result<(), String> {
    if pair.differs.is_empty() {
        return Err("no input on which they differ".to_owned());
    }
    for shown in &pair.differs {
        let hunt = Hunt {
            old: &pair.old,
            new: &pair.new,
            seed: Some(&shown.input),
            seconds: SECONDS,
            options: &[],
            first: true,
            blame: true,
        };
        let report = hunt.run(cache)?;
        let group = report.groups.first().ok_or("nothing was found")?;
        truth::judge(pair, group).map_err(|error| format!("{}: {error}", shown.input))?;
    }
    Ok(())
}
