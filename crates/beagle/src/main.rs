//! The command line: parses, calls, prints. Nothing is analysed here.

mod arguments;
mod blame;
mod changes;
mod coverage;
mod culprits;
mod diff;
mod doctor;
mod explain;
mod failure;
mod given;
mod graph;
mod interrupt;
mod invocation;
mod lane;
mod output;
mod progress;
mod record;
mod replay;
mod status;
mod timings;
mod trace;
mod traced;
mod until;
mod usage;
mod versions;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use beagle_build::compiler::{self, Kind};
use beagle_verdict::keeper;
use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::failure::Failure;
use crate::output::tell;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

fn main() -> ExitCode {
    if keeper::is_called(std::env::args_os().skip(1)) {
        return keeper::main();
    }
    let args: Vec<OsString> = std::env::args_os().collect();
    // The stand-ins for compiler and linker take any arguments, so they are found before the
    // others are parsed.
    if let Some(kind) = args.get(1).and_then(|name| Kind::from_name(name)) {
        return code(compiler::run(kind, &args[2..]));
    }
    let result = match Arguments::try_parse_from(args) {
        // Rust has a status of its own for a panic, which says nothing to anybody.
        Ok(arguments) => {
            catch_unwind(AssertUnwindSafe(|| run(&arguments))).unwrap_or(Err(Failure::Internal))
        }
        Err(error) => match usage::failure(&error) {
            Some(failure) => Err(failure),
            None => {
                // Help that nobody reads to its end is no failure.
                let _ = error.print();
                Ok(error.exit_code())
            }
        },
    };
    match result {
        Ok(status) => code(status),
        Err(failure) => {
            report(&failure);
            code(failure.exit_code())
        }
    }
}

fn run(arguments: &Arguments) -> Result<i32, Failure> {
    arguments.color.write_global();
    match &arguments.command {
        Command::Changes(options) => changes::run(options, arguments.quiet),
        Command::Diff(options) => diff::run(options, arguments.quiet),
        Command::Blame(options) => blame::run(options, arguments.quiet),
        Command::Explain(options) => explain::run(options, arguments.quiet),
        Command::Replay(options) => replay::run(options, arguments.quiet),
        Command::Coverage(options) => coverage::run(options, arguments.quiet),
        Command::Record(options) => record::run(options, arguments.quiet),
        Command::Graph(options) => graph::run(options, arguments.quiet),
        Command::Trace(options) => trace::run(options, arguments.quiet),
        Command::Doctor => doctor::run(),
        // Here with options of Beagle's own in front, which mean nothing to a compiler.
        Command::Cc { arguments } => Ok(compiler::run(Kind::C, arguments)),
        Command::Cxx { arguments } => Ok(compiler::run(Kind::Cxx, arguments)),
    }
}

fn code(status: i32) -> ExitCode {
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}

fn report(failure: &Failure) {
    if failure.is_silent() {
        return;
    }
    tell(format_args!("{ERROR}error{ERROR:#}: {failure}"));
    for line in failure.excerpt() {
        tell(format_args!("  {line}"));
    }
    tell(format_args!("{HINT}hint{HINT:#}: {}", failure.hint()));
}
