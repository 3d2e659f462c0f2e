//! Where something was wanted and a mistake came with it, `beagle diff` finds both, and keeps them apart. What
//! is wanted and what is not is told by a version that has the one without the other, which the search does not
//! know of. Starts from one input on which the versions agree.
//!
//! A sample of the pairs; `PAIRS=all` takes all of them, half a minute each.

#[path = "hunt/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod hunt;

use std::process::ExitCode;
use std::sync::Arc;

use beagle_subjects::{Pair, Version, Workshop, root, subjects};
use hunt::Hunt;
use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;

/// How long to look at one pair.
const SECONDS: u64 = 30;

/// And at the sample, which is found sooner.
const SECONDS_FOR_SAMPLE: u64 = 20;

/// So many pairs have a golden version.
const ALL: usize = 8;

const SAMPLE: [&str; 1] = ["jsonpick/comments-option"];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each search uses both processors of a small machine.
    arguments.test_threads.get_or_insert(1);
    let all = std::env::var_os("PAIRS").is_some_and(|pairs| pairs == "all");
    let seconds = if all { SECONDS } else { SECONDS_FOR_SAMPLE };
    let workshop = Arc::new(Workshop::new().expect("a temporary directory can be made"));
    let cache = Arc::new(TempDir::new().expect("a temporary directory can be made"));
    let mut trials = Vec::new();
    for subject in subjects(&root()).expect("the subjects load") {
        for pair in subject.pairs {
            let name = format!("{}/{}", subject.name, pair.name);
            let Some(golden) = pair.golden.clone() else {
                continue;
            };
            if all || SAMPLE.contains(&name.as_str()) {
                let (workshop, cache) = (workshop.clone(), cache.clone());
                trials.push(Trial::test(name, move || {
                    Ok(check(&pair, &golden, seconds, &workshop, &cache)?)
                }));
            }
        }
    }
    let (found, least) = (trials.len(), if all { ALL } else { SAMPLE.len() });
    trials.push(Trial::test("the pairs are there", move || {
        match found >= least {
            true => Ok(()),
            false => Err(format!("{found} pairs of at least {least} are there").into()),
        }
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn check(
    pair: &Pair,
    golden: &Version,
    seconds: u64,
    workshop: &Workshop,
    cache: &TempDir,
) -> Result<(), String> {
    let seed = hunt::seed(pair).ok_or("no input to start from")?;
    let hunt = Hunt {
        old: &pair.old,
        new: &pair.new,
        seed,
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
