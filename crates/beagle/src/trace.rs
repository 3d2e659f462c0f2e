//! `beagle trace`: one run of a program, with every decision that depends on its input.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use beagle_change::Numbers;
use beagle_executor::{Executor, Options as ExecutorOptions};
use beagle_report::trace::{CheckEntry, Facts, Report, cases};
use beagle_trace::{Input, Limits, check};

use crate::arguments::{Format, TraceOptions};
use crate::failure::Failure;
use crate::invocation::inside;
use crate::output;
use crate::timings::Timings;
use crate::traced::traced;
use crate::versions;

/// Runs the command; the result is the exit status.
pub fn run(options: &TraceOptions, quiet: bool) -> Result<i32, Failure> {
    let input = input(options)?;
    let mut timings = Timings::start();
    let version = versions::load_one(&options.version, &options.build, quiet, &mut timings)?;
    let numbers = Numbers::own(&version.program);
    let traced = traced(&version.built, &numbers, &versions::cache()?)?;
    timings.end("instrument");
    let mut executor = Executor::start(
        &traced.program,
        ExecutorOptions {
            argv0: Some(options.version.clone().into()),
            ..ExecutorOptions::default()
        },
    )
    .map_err(Failure::run)?;
    timings.end("start");
    let limits = Limits {
        time: Duration::from_secs(options.time),
        ..Limits::default()
    };
    let run = executor.run(&input, &limits).map_err(Failure::run)?;
    timings.end("run");
    let trace = run.trace.as_ref().map_err(Failure::run)?;
    let facts = Facts {
        program: &version.program,
        sources: &version.sources,
        trace,
        input: &input,
        model: &|site| traced.model(site).map(str::to_owned),
        all: options.all,
        limit: match options.limit {
            0 => usize::MAX,
            limit => limit,
        },
    };
    let outcome = run.outcome.to_string();
    let mut report = Report::new(
        &options.version,
        outcome,
        run.time.as_secs_f64() * 1000.0,
        &facts,
    );
    let mut status = 0;
    if options.check {
        let cases = |site| cases(&version.program, site);
        let result = check(trace, &input, Some(run.observed()), Some(&cases));
        status = i32::from(!result.is_ok());
        report.check = Some(CheckEntry::new(&result));
        timings.end("check");
    }
    let text = match options.format {
        Format::Human => report.text(),
        Format::Json => report.json() + "\n",
    };
    output::print(&text)?;
    timings.end("report");
    if options.timings {
        timings.print();
    }
    Ok(status)
}

/// What the user says is the input. An argument that names a file makes that file input, too.
fn input(options: &TraceOptions) -> Result<Input, Failure> {
    let name = options.version.as_bytes();
    let arguments = options.arguments.iter().map(|a| a.as_bytes().to_vec());
    let mut input = Input::from_args(name, arguments);
    let stdin = match &options.stdin {
        Some(path) => read(path)?,
        None => Vec::new(),
    };
    input = input.with_stdin(stdin);
    let named = options.arguments.iter().map(Path::new);
    let named = named.filter(|path| inside(path) && path.is_file());
    let mut known: Vec<&Path> = Vec::new();
    for path in &options.file {
        if !inside(path) {
            return Err(Failure::usage(
                format!(
                    "--file {}: the program runs in a directory of its own",
                    path.display()
                ),
                "name the file by a path from here, without `..`",
            ));
        }
    }
    for path in options.file.iter().map(|path| &**path).chain(named) {
        if !known.contains(&path) {
            known.push(path);
            input = input.with_file(path.as_os_str().as_bytes(), read(path)?);
        }
    }
    for variable in &options.env {
        let Some((name, value)) = variable.split_once('=') else {
            let cause = format!("--env {variable}: a variable has a value");
            return Err(Failure::usage(cause, "write --env NAME=VALUE"));
        };
        input = input.with_env(name, value);
    }
    Ok(input)
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs_err::read(path).map_err(|error| Failure::usage(error.to_string(), "is the path right?"))
}
