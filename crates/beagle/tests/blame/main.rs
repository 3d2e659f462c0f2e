//! Whether `beagle blame` finds the culprits that the pairs of `subjects/` name, and calls only
//! interactions so.
//!
//! A sample of the pairs; `PAIRS=all` takes all of them.

#[path = "../hunt/sample.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod sample;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use beagle_report::blame::Report;
use beagle_subjects::{Difference, Flavour, Kind, Pair, Source, Version, Workshop};
use beagle_trace::Input;
use beagle_verdict::saved::{self, Kept, Saved};
use beagle_verdict::{Judge, KeeperCommand, Setting, Verdict, Version as Native};
use sample::Sample;
use tempfile::TempDir;

/// The program under test.
const BEAGLE: &str = env!("CARGO_BIN_EXE_beagle");

/// Files and directories, two and three culprits, one alone, and one that sanitizers see.
const SAMPLE: [&str; 6] = [
    "comments/splices-reset-early",
    "fields/stale-field-printed",
    "ini/shared-section-names",
    "jobs/slice-kept-everywhere",
    "subst/spare-byte",
    "wrap/stale-column",
];

fn main() -> ExitCode {
    let workshop = Workshop::new().expect("a temporary directory can be made");
    let cache = TempDir::new().expect("a temporary directory can be made");
    let sample = Sample {
        names: &SAMPLE,
        all: 24,
        is_wanted: |pair| !pair.culprits.is_empty(),
        threads: 2,
    };
    sample.run(move |subject, pair| check(pair, subject, &workshop, cache.path()))
}

fn check(pair: &Pair, program: &str, workshop: &Workshop, cache: &Path) -> Result<(), String> {
    let counts = |difference: &&Difference| difference.regression || pair.kind != Kind::Interaction;
    let difference = pair.differs.iter().find(counts).ok_or("no input differs")?;
    let dir = TempDir::new().map_err(|error| error.to_string())?;
    let test = save(pair, difference, program, workshop, dir.path())?;
    let mut command = Command::new(BEAGLE);
    command.env("BEAGLE_CACHE", cache).current_dir(dir.path());
    command.args(["blame", "--quiet", "--format", "json"]);
    command.args([pair.old.path(), pair.new.path(), &test]);
    match &pair.new.source {
        Source::Directory { program, .. } => {
            command.arg("--program").arg(program);
        }
        Source::File(_) if !pair.new.ldflags.is_empty() => {
            command.arg(format!("--ldflags={}", pair.new.ldflags.join(" ")));
        }
        Source::File(_) => {}
    }
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    let report: Report =
        serde_json::from_str(&text).map_err(|error| format!("{error}\n{text}\n{said}"))?;
    let culprits = report.culprits.ok_or("no difference")?;
    let sets: Vec<_> = culprits.sets.iter().map(|set| set.hunks.clone()).collect();
    let mut expected = pair.culprits.clone();
    expected.sort_unstable();
    if sets != [expected] {
        return Err(format!(
            "{:?} are the culprits, but {}",
            pair.culprits, culprits.said
        ));
    }
    if culprits.interaction != (pair.kind == Kind::Interaction) {
        return Err(format!("a {:?}, but {}", pair.kind, culprits.said));
    }
    Ok(())
}

/// Saves the test of a difference.
fn save(
    pair: &Pair,
    difference: &Difference,
    program: &str,
    workshop: &Workshop,
    dir: &Path,
) -> Result<PathBuf, String> {
    let build = |version: &Version, flavour| {
        let built = workshop.program(version, flavour);
        built.map_err(|error| error.to_string())
    };
    let native = |version: &Version| -> Result<Native, String> {
        Ok(Native {
            label: String::new(),
            plain: build(version, Flavour::Plain)?,
            sanitized: match difference.sanitizer {
                Some(_) => Some(build(version, Flavour::Sanitized)?),
                None => None,
            },
        })
    };
    let keeper = KeeperCommand {
        program: PathBuf::from(BEAGLE),
        ..KeeperCommand::of_this_executable().map_err(|error| error.to_string())?
    };
    let setting = Setting::new(keeper, program);
    let judge = Judge::new(native(&pair.old)?, native(&pair.new)?, None, setting);
    let mut judge = judge.map_err(|error| error.to_string())?;
    let given = &difference.input;
    let arguments = given.args.iter().map(|word| word.as_encoded_bytes());
    let mut input = Input::from_args(program, arguments).with_stdin(&given.stdin[..]);
    for (name, content) in &given.files {
        input = input.with_file(name.as_bytes(), &content[..]);
    }
    for (name, value) in &given.env {
        input = input.with_env(name.as_bytes(), value.as_bytes());
    }
    let verdict = judge.judge(&input).map_err(|error| error.to_string())?;
    let Verdict::Different(seen) = verdict else {
        return Err("the versions do not differ".into());
    };
    let test = Saved::of_difference(&input, &seen, "");
    match saved::save(&dir.join("tests"), &test).map_err(|error| error.to_string())? {
        Kept::New(path) | Kept::Known(path) => Ok(path),
    }
}
