//! `beagle blame`: which hunks of a change make the versions differ on an input.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use beagle_blame::Error;
use beagle_build::{Flavour, VersionSpec, build_native};
use beagle_hunks::Set;
use beagle_report::blame::{Report, SCHEMA};
use beagle_report::diff::InputEntry;
use beagle_trace::Input;
use beagle_verdict::{Difference, Judge, Setting, Verdict, Version};

use crate::arguments::{BlameOptions, Format};
use crate::culprits::{Case, Seeker};
use crate::failure::Failure;
use crate::given::{self, Given};
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::until::{Later, Search};
use crate::versions::{Order, both};
use crate::{output, status};

/// Runs the command; the result is the exit status.
pub fn run(options: &BlameOptions, quiet: bool) -> Result<i32, Failure> {
    let start = Instant::now();
    let interrupt = Interrupt::listen()?;
    let test = options.test.as_deref().map(given::load).transpose()?;
    let order = Order::new(&options.pair)?;
    let later = options.until.as_deref();
    let later = later.map(|last| Later::find(&order, last)).transpose()?;
    let wants_sanitizers = test
        .as_ref()
        .is_some_and(|test| test.old.fault.is_some() || test.new.fault.is_some());
    let builds = both(
        || build(&order, &order.old, wants_sanitizers, quiet),
        || build(&order, &order.new, wants_sanitizers, quiet),
    );
    let (old, new) = (builds.0?, builds.1?);
    let name = program_name(&old, &new);
    let given = Given {
        order: &order,
        invocation: &options.invocation,
        judging: &options.judging,
    };
    let (input, setting) = given.input(test, &name)?;
    let mut judge =
        Judge::new(old.clone(), new.clone(), None, setting.clone()).map_err(Failure::run)?;
    let mut report = Report {
        schema: SCHEMA,
        old: old.label.clone(),
        new: new.label.clone(),
        program: name.to_string_lossy().into_owned(),
        input: InputEntry::new(&input),
        aspects: Vec::new(),
        unstable: false,
        culprits: None,
        until: None,
        seconds: 0.0,
        notes: Vec::new(),
    };
    let found = match judge.judge(&input).map_err(Failure::run)? {
        Verdict::Same { .. } => None,
        Verdict::Unstable { aspects, .. } => {
            report.aspects = names(&aspects.names());
            report.unstable = true;
            None
        }
        Verdict::Different(difference) => Some(difference),
    };
    if let Some(difference) = found {
        report.aspects = names(&difference.aspects.names());
        let line = Progress::new(quiet);
        let job = Job {
            later: later.as_ref(),
            order: &order,
            versions: (&old, &new),
            setting: &setting,
            interrupt: &interrupt,
            line: &line,
            deadline: start + options.timeout,
        };
        let filled = job.fill(&mut report, &input, &difference, &mut judge);
        line.clear();
        filled?;
    }
    report.seconds = start.elapsed().as_secs_f64();
    let (code, meaning) = match interrupt.is_raised() {
        true => (status::INTERRUPTED, "Exit status 130: interrupted"),
        false => exit(&report),
    };
    let text = match options.format {
        Format::Human => report.text(output::width(), meaning),
        Format::Json => report.json() + "\n",
    };
    output::print(&text)?;
    Ok(code)
}

/// A difference that was seen, and what it takes to find its cause.
struct Job<'a> {
    later: Option<&'a Later>,
    order: &'a Order,
    versions: (&'a Version, &'a Version),
    setting: &'a Setting,
    interrupt: &'a Interrupt,
    line: &'a Progress,
    deadline: Instant,
}

impl Job<'_> {
    fn fill(
        &self,
        report: &mut Report,
        input: &Input,
        difference: &Difference,
        judge: &mut Judge,
    ) -> Result<(), Failure> {
        let seeker = Seeker::new(
            self.order,
            self.versions,
            self.setting,
            self.interrupt,
            self.line,
        );
        let mut seeker = seeker.map_err(failure)?;
        let case = Case {
            input,
            old: &difference.old,
            new: &difference.new,
            likely: &Set::new(),
            deadline: self.deadline,
        };
        report.culprits = Some(seeker.seek(&case).map_err(failure)?);
        if let Some(later) = self.later {
            let search = Search {
                order: self.order,
                input,
                old: &difference.old,
                interrupt: self.interrupt,
                deadline: self.deadline,
            };
            report.until = Some(search.run(later, judge)?);
        }
        Ok(())
    }
}

/// The exit status, and what it means.
fn exit(report: &Report) -> (i32, &'static str) {
    let known = report.culprits.as_ref().map(|it| !it.sets.is_empty());
    match known {
        _ if report.unstable => (
            status::INCONCLUSIVE,
            "Exit status 4: runs were not repeatable",
        ),
        None => (status::FINE, "Exit status 0: no difference on this input"),
        Some(true) => (status::DIFFERENT, "Exit status 1: the versions differ"),
        Some(false) => (
            status::INCONCLUSIVE,
            "Exit status 4: the versions differ, but the cause was not found",
        ),
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// What stops the search for culprits.
fn failure(error: Error) -> Failure {
    match error {
        Error::Build(error) => error.into(),
        Error::Kinds => Failure::usage(error.to_string(), "name two of the same kind"),
        error => Failure::run(error),
    }
}

fn build(
    order: &Order,
    spec: &VersionSpec,
    wants_sanitizers: bool,
    quiet: bool,
) -> Result<Version, Failure> {
    let make = |flavour| -> Result<PathBuf, Failure> {
        let mut tell = |step| crate::versions::progress(&step, quiet);
        let built = build_native(spec, &order.config, &order.cache, flavour, &mut tell);
        Ok(built?)
    };
    Ok(Version {
        label: spec.label(),
        plain: make(Flavour::Native)?,
        sanitized: match wants_sanitizers {
            true => Some(make(Flavour::Sanitized)?),
            false => None,
        },
    })
}

/// What both versions are told that they are called.
fn program_name(old: &Version, new: &Version) -> OsString {
    match (old.plain.file_name(), new.plain.file_name()) {
        (Some(old), Some(new)) if old == new => new.to_owned(),
        _ => "program".into(),
    }
}
