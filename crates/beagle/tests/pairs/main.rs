//! Whether `beagle diff` gets the truth about the pairs of `subjects/`: it finds a difference if
//! there is one, and none if there is not. Starts from one input on which the versions agree. Half of
//! the refactorings are proved to be such for all inputs of a small shape.
//!
//! A sample of the pairs; `PAIRS=all` takes all of them, which lasts up to half a minute each.

#[path = "../hunt/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod hunt;

use std::process::{Command, ExitCode};
use std::sync::Arc;

use beagle_report::diff::Verdict;
use beagle_subjects::{Kind, Pair, Source, Workshop, root, subjects};
use hunt::Hunt;
use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;

/// How long to look at one pair.
const SECONDS: u64 = 30;

/// How long to look at a refactoring of the sample: whatever is to be found wrongly is found soon.
const SECONDS_FOR_NOTHING: u64 = 3;

/// Pairs of different subjects that take a second or two each.
const SAMPLE: [&str; 13] = [
    "bitpack/nibble-table-typo",
    "calc/hex-numbers",
    "caldate/weekend-start-shortcut",
    "comments/digit-separators",
    "fields/nested-range-shrinks",
    "fields/split-by-memchr",
    "imghdr/row-size-overflow",
    "ini/unfolded-hash",
    "ini/value-helpers",
    "jobs/aging-floor",
    "jsonpick/surrogate-plane-or",
    "ledger/rounded-before-sum",
    "mailmerge/result-limit-off-by-one",
];

/// Refactorings that are proved for all inputs of a small shape, in which every change is executed.
const PROOFS: [(&str, &str); 7] = [
    ("calc/precedence-table", "-- 1{+}2"),
    ("caldate/closed-form-conversion", "-- info 2000-12-{31}"),
    (
        "comments/state-handlers",
        "--max-input 3 --stdin-text '/**' -- -n",
    ),
    (
        "fields/split-by-memchr",
        "--max-input 3 --stdin-text a:b -- -f 1-",
    ),
    (
        "jsonpick/number-states",
        "--max-input 3 --stdin-text '[0]' -- -v",
    ),
    (
        "subst/match-loop",
        "--max-input 2 --stdin-text ab -- {ab:2} x",
    ),
    (
        "wrap/line-helpers",
        "--max-input 4 --stdin-text 'ab c' -- -w 3 -s",
    ),
];

/// How long a proof may take.
const SECONDS_FOR_PROOF: &str = "120";

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each search uses both processors of a small machine.
    arguments.test_threads.get_or_insert(1);
    let all = std::env::var_os("PAIRS").is_some_and(|pairs| pairs == "all");
    let workshop = Arc::new(Workshop::new().expect("a temporary directory can be made"));
    let cache = Arc::new(TempDir::new().expect("a temporary directory can be made"));
    let mut trials = Vec::new();
    for subject in subjects(&root()).expect("the subjects load") {
        for pair in subject.pairs {
            let name = format!("{}/{}", subject.name, pair.name);
            if let Some(&(_, line)) = PROOFS.iter().find(|(proved, _)| *proved == name) {
                let (pair, cache) = (pair.clone(), cache.clone());
                trials.push(Trial::test(format!("{name} is proved"), move || {
                    Ok(prove(&pair, line, &cache)?)
                }));
            }
            if all || SAMPLE.contains(&name.as_str()) {
                let seconds = match pair.kind {
                    Kind::Refactoring if !all => SECONDS_FOR_NOTHING,
                    _ => SECONDS,
                };
                let (workshop, cache) = (workshop.clone(), cache.clone());
                trials.push(Trial::test(name, move || {
                    Ok(check(&pair, seconds, &workshop, &cache)?)
                }));
            }
        }
    }
    if !all {
        let found = trials.len();
        trials.push(Trial::test("the sample is there", move || {
            match found == SAMPLE.len() + PROOFS.len() {
                true => Ok(()),
                false => Err(format!("only {found} of the sample are there").into()),
            }
        }));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// That a refactoring is one, for all inputs of a shape.
fn prove(pair: &Pair, line: &str, cache: &TempDir) -> Result<(), String> {
    let mut command = Command::new(hunt::BEAGLE);
    command.args(["diff", "--quiet", "--format", "json"]);
    command.args(["--timeout", SECONDS_FOR_PROOF]);
    command.args([pair.old.path(), pair.new.path()]);
    if let Source::Directory { program, .. } = &pair.new.source {
        command.arg("--program").arg(program);
    }
    // Standard input stays empty unless it has a bound of its own.
    if !line.contains("--max-input") {
        command.args(["--max-input", "0"]);
    }
    let words = shell_words::split(line).map_err(|error| error.to_string())?;
    let report = hunt::report(command.args(words), cache.path())?;
    let reached = report.changes.iter().all(|change| change.reached);
    match report.verdict == Verdict::Equivalent && reached {
        true => Ok(()),
        false => Err(format!(
            "{:?} after {} runs, all changes reached: {reached}; {:?}",
            report.verdict, report.runs, report.missing
        )),
    }
}

/// The truth about a pair.
fn check(pair: &Pair, seconds: u64, workshop: &Workshop, cache: &TempDir) -> Result<(), String> {
    let seed = hunt::seed(pair).ok_or("no input to start from")?;
    let hunt = Hunt {
        old: &pair.old,
        new: &pair.new,
        seed: Some(seed),
        seconds,
        options: &[],
        first: true,
        blame: false,
    };
    let report = hunt.run(cache.path())?;
    let is_there = pair.kind != Kind::Refactoring;
    if !is_there && report.verdict != Verdict::Different {
        return Ok(());
    }
    let Some(difference) = report.differences.first() else {
        return Err(format!(
            "the {:?} was not found with {} runs and {} questions in {:.1} s from {seed}; {:?}",
            pair.kind, report.runs, report.queries, report.seconds, report.changes
        ));
    };
    let input = hunt::reported(&difference.input);
    let really = hunt::differ(workshop, &pair.old, &pair.new, &input)?;
    match (is_there, really) {
        (true, true) => Ok(()),
        (true, false) => Err(format!("the versions do not differ on {input}")),
        (false, true) => Err(format!("no refactoring: they differ on {input}")),
        (false, false) => Err(format!("a difference that is not there: {input}")),
    }
}
