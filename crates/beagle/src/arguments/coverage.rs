//! `beagle coverage`.

use std::time::Duration;

use clap::Args;

use super::diff::{DiffOptions, InvocationOptions, JudgingOptions, SearchOptions};
use super::values::{self, FailOn};
use super::{Format, PairOptions};

/// What follows the options of `beagle coverage --help`.
pub const COVERAGE_AFTER_HELP: &str = "\
Examples:
  beagle record --out seeds -- make check       what the test-suite gives to the program
  beagle coverage v1.2 HEAD --seeds seeds       how far that gets with what changed
  beagle coverage old.c new.c -- -f 12          a single input

Nothing is searched for: only the given inputs are run, in the same way and with the same verdicts
as in `beagle diff`. A change is reached if it is executed, infected if it makes a value or a way
different, shown if the real programs differ.

Exit status:
  0    done
  2    usage or configuration is wrong
  3    a version could not be built
  4    with --strict: a change is reached by no input
  130  interrupted";

/// `beagle coverage`
#[derive(Debug, Args)]
pub struct CoverageOptions {
    /// The two versions, and how to build them
    #[command(flatten)]
    pub pair: PairOptions,

    /// How the program is run
    #[command(flatten)]
    pub invocation: InvocationOptions,

    /// How the programs are run and compared
    #[command(flatten)]
    pub judging: JudgingOptions,

    /// Stop after this time: 30, 30s, 2m
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::duration,
        help_heading = "Result")]
    pub timeout: Duration,

    /// Exit with status 4 if a change is reached by no input
    #[arg(long, help_heading = "Result")]
    pub strict: bool,

    /// Text for people or JSON for machines
    #[arg(long, value_enum, default_value_t, help_heading = "Result")]
    pub format: Format,

    /// Print the time and memory of each phase to standard error
    #[arg(long, help_heading = "Result")]
    pub timings: bool,
}

impl CoverageOptions {
    /// The same as a comparison that asks no questions.
    pub fn as_diff(&self) -> DiffOptions {
        DiffOptions {
            no_blame: true,
            explain: false,
            no_explain: true,
            pair: self.pair.clone(),
            invocation: self.invocation.clone(),
            search: SearchOptions {
                timeout: self.timeout,
                first: false,
                max_runs: None,
                max_queries: None,
                strategy: Vec::new(),
                chance: 0,
            },
            judging: self.judging.clone(),
            out: None,
            fail_on: FailOn::Never,
            strict: self.strict,
            format: self.format,
            timings: self.timings,
        }
    }
}
