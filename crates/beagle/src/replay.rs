//! `beagle replay`: saved tests, run again on one version or on two.
//!
//! One version is held against what was saved of old and new. Two versions are held against each
//! other, as they were when the test was found.

use std::path::PathBuf;

use beagle_build::{BuildError, Built, VersionSpec, build_sanitized};
use beagle_report::replay::{Outcome, Report, SCHEMA, TestEntry};
use beagle_verdict::saved::{self, Saved};
use beagle_verdict::{
    Aspects, Judge, KeeperCommand, Limits, Observation, Rules, Setting, Verdict, Version,
};

use crate::arguments::{Format, ReplayOptions};
use crate::failure::Failure;
use crate::versions::{self, both};
use crate::{output, status};

/// Runs the command; the result is the exit status.
pub fn run(options: &ReplayOptions, quiet: bool) -> Result<i32, Failure> {
    let tests = tests(options)?;
    let (built, mut notes) = build(options, &tests, quiet)?;
    let mut entries = Vec::new();
    for (path, test) in &tests {
        let mut judge = judge(options, &built, test)?;
        let (outcome, aspects) = replayed(&mut judge, test, built.len() == 1)?;
        entries.push(TestEntry {
            path: path.display().to_string(),
            class: test.class.clone(),
            outcome,
            aspects: aspects.names().into_iter().map(str::to_owned).collect(),
        });
    }
    notes.dedup();
    let report = Report {
        schema: SCHEMA,
        versions: built.iter().map(|version| version.label.clone()).collect(),
        tests: entries,
        notes,
    };
    let (code, meaning) = exit(&report);
    let text = match options.format {
        Format::Human => report.text(meaning),
        Format::Json => report.json() + "\n",
    };
    output::print(&text)?;
    Ok(code)
}

/// The exit status, and what it means.
fn exit(report: &Report) -> (i32, &'static str) {
    let mut outcomes = report.tests.iter().map(|test| test.outcome);
    if outcomes.clone().any(Outcome::differs) {
        (status::DIFFERENT, "Exit status 1: a difference is there")
    } else if outcomes.any(|outcome| outcome == Outcome::Unstable) {
        (
            status::INCONCLUSIVE,
            "Exit status 4: runs were not repeatable",
        )
    } else {
        (status::FINE, "Exit status 0: no difference")
    }
}

/// The tests that are meant: one, or all in a directory.
fn tests(options: &ReplayOptions) -> Result<Vec<(PathBuf, Saved)>, Failure> {
    let dir = &options.tests;
    let failed = |error: beagle_verdict::Error| {
        Failure::usage(
            error.to_string(),
            "name a directory that `beagle diff --out` wrote to",
        )
    };
    let tests = match dir.join("test.json").is_file() {
        true => vec![(dir.clone(), saved::load(dir).map_err(failed)?)],
        false => saved::load_all(dir).map_err(failed)?,
    };
    match tests.is_empty() {
        false => Ok(tests),
        true => Err(Failure::usage(
            format!("{}: no test is in there", dir.display()),
            "`beagle diff --out DIR` saves tests",
        )),
    }
}

/// Builds the versions; with sanitizers, too, if a test is about what they see.
fn build(
    options: &ReplayOptions,
    tests: &[(PathBuf, Saved)],
    quiet: bool,
) -> Result<(Vec<Version>, Vec<String>), Failure> {
    let wants_sanitizers = tests
        .iter()
        .any(|(_, test)| test.old.fault.is_some() || test.new.fault.is_some());
    let one = |text: &str| -> Result<(Version, Option<BuildError>), Failure> {
        let (spec, config, cache) = versions::ordered(text, &options.build)?;
        let plain: Built = versions::build_only(&spec, &config, &cache, quiet)?;
        let sanitized = wants_sanitizers
            .then(|| build_sanitized(&spec as &VersionSpec, &config, &cache, None, &mut |_| {}))
            .transpose();
        let (sanitized, error) = match sanitized {
            Ok(program) => (program, None),
            Err(error) => (None, Some(error)),
        };
        let version = Version {
            label: plain.label,
            plain: plain.program,
            sanitized,
        };
        Ok((version, error))
    };
    let built = match &options.versions[..] {
        [old, new] => {
            let (old, new) = both(|| one(old), || one(new));
            vec![old?, new?]
        }
        versions => {
            let versions = versions.iter().map(|version| one(version));
            versions.collect::<Result<_, _>>()?
        }
    };
    let mut notes = Vec::new();
    let mut programs = Vec::new();
    for (version, error) in built {
        notes.extend(error.map(|error| format!("no sanitizers: {error}")));
        programs.push(version);
    }
    Ok((programs, notes))
}

/// A judge in the setting that a test was saved with.
fn judge(options: &ReplayOptions, built: &[Version], test: &Saved) -> Result<Judge, Failure> {
    let judging = &options.judging;
    let mut normalise = Rules::default();
    for rule in &judging.normalise {
        normalise
            .replace(&rule.pattern, &rule.replacement)
            .map_err(|error| {
                Failure::usage(error.to_string(), "--normalise takes a regular expression")
            })?;
    }
    let keeper = KeeperCommand::of_this_executable().map_err(Failure::run)?;
    let setting = Setting {
        fixture: test.fixture.clone(),
        environment: test.environment.clone(),
        limits: Limits {
            time: judging.run_timeout,
            memory: judging.memory,
            ..Limits::default()
        },
        normalise,
        ..Setting::new(keeper, "program")
    };
    let (Some(old), Some(new)) = (built.first(), built.last()) else {
        return Err(Failure::usage("no version is given", "name one or two"));
    };
    Judge::new(old.clone(), new.clone(), None, setting).map_err(Failure::run)
}

/// What a test shows now.
fn replayed(judge: &mut Judge, test: &Saved, alone: bool) -> Result<(Outcome, Aspects), Failure> {
    let verdict = judge.judge(&test.input).map_err(Failure::run)?;
    Ok(match verdict {
        Verdict::Unstable { aspects, .. } => (Outcome::Unstable, aspects),
        Verdict::Same { new, .. } if alone => held_against(judge, test, &new),
        Verdict::Same { .. } => (Outcome::Same, Aspects::default()),
        // One version that differs from itself.
        Verdict::Different(difference) if alone => (Outcome::Unstable, difference.aspects),
        Verdict::Different(difference) => (Outcome::Different, difference.aspects),
    })
}

/// What a single version does, by what was saved.
fn held_against(judge: &Judge, test: &Saved, run: &Observation) -> (Outcome, Aspects) {
    let from_old = judge.compare(&test.old, run);
    let outcome = match (from_old.any(), judge.compare(&test.new, run).any()) {
        (false, _) => Outcome::AsOld,
        (true, false) => Outcome::AsNew,
        (true, true) => Outcome::Neither,
    };
    (outcome, from_old)
}
