//! `beagle coverage`: how far the inputs that people already have get with what changed.
//!
//! The same runs and the same verdicts as in `beagle diff`, on the given inputs only.

use beagle_report::coverage::{Report, SCHEMA};

use crate::arguments::{CoverageOptions, Format};
use crate::diff::{self, Job, Setup};
use crate::failure::Failure;
use crate::timings::Timings;
use crate::{output, status};

/// Runs the command; the result is the exit status.
pub fn run(options: &CoverageOptions, quiet: bool) -> Result<i32, Failure> {
    let as_diff = options.as_diff();
    let mut timings = Timings::start();
    let setup = Setup::new(&as_diff, quiet, &mut timings)?;
    if setup.invocation.auto {
        return Err(Failure::usage(
            "there are no inputs to look at",
            "--seeds names a directory of them; `beagle record -- make check` makes one of a test-suite",
        ));
    }
    let mut notes = setup.invocation.notes.clone();
    notes.extend(diff::unseen(&setup));
    let tests = match setup.comparison.changes.is_empty() {
        true => None,
        false => {
            let job = Job::new(&setup, &as_diff, quiet, true);
            let (tests, more) = job.cover(&mut timings)?;
            notes.extend(more);
            Some(tests)
        }
    };
    let report = Report {
        schema: SCHEMA,
        old: setup.old.built.label.clone(),
        new: setup.new.built.label.clone(),
        program: setup.name.to_string_lossy().into_owned(),
        seconds: setup.start.elapsed().as_secs_f64(),
        tests: tests.unwrap_or_default(),
        notes,
    };
    let text = match options.format {
        Format::Human => report.text(output::width()),
        Format::Json => report.json() + "\n",
    };
    output::print(&text)?;
    timings.end("report");
    if options.timings {
        timings.print();
    }
    let missed = report.tests.reached < report.tests.changes.len() as u64;
    Ok(match options.strict && missed {
        _ if setup.interrupt.is_raised() => status::INTERRUPTED,
        true => status::INCONCLUSIVE,
        false => status::FINE,
    })
}
