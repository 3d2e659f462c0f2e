//! The functions and globals that change are exactly those that the subjects' pairs list.

mod support;

use std::collections::BTreeSet;
use std::process::ExitCode;

use beagle_subjects::Pair;
use libtest_mimic::Failed;
use support::{build, changed_names, comparison, shown, subjects};

fn main() -> ExitCode {
    subjects::run_on_pairs(check)
}

fn check(pair: &Pair) -> Result<(), Failed> {
    let old = build(&subjects::texts(&pair.old))?;
    let new = build(&subjects::texts(&pair.new))?;
    let comparison = comparison(&old, &new);
    let names = changed_names(&old, &new, &comparison);
    let last = |name: &String| name.rsplit("->").next().map(str::to_owned);
    let found: BTreeSet<String> = names.iter().filter_map(last).collect();
    let listed = pair.changed_functions.iter().chain(&pair.changed_globals);
    let truth: BTreeSet<String> = listed.cloned().collect();
    let wrong: Vec<_> = found.difference(&truth).collect();
    // What also got another name may be listed as the one deleted and the other added.
    let both: BTreeSet<String> = names
        .iter()
        .flat_map(|name| name.split("->").map(str::to_owned))
        .collect();
    let missed: Vec<_> = truth.difference(&both).collect();
    if missed.is_empty() && wrong.is_empty() {
        return Ok(());
    }
    let changes = shown(&old, &new, &comparison);
    Err(format!("missed {missed:?}, wrong {wrong:?}\n{changes}").into())
}
