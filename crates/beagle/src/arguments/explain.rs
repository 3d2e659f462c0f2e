//! `beagle explain`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::diff::{InvocationOptions, JudgingOptions};
use super::{Format, PairOptions, values};

/// What follows the options of `beagle explain --help`.
pub const EXPLAIN_AFTER_HELP: &str = "\
Examples:
  beagle explain v1.2 HEAD tests/0001-output   an input that `beagle diff --out tests` found
  beagle explain old.c new.c -- -f 1-2         an input of your own

Both versions are run on the input and on inputs that are near to it. What comes out are the lines to
read, each with what speaks for it, and the smallest change of the input on which both versions do the
same again.

Exit status:
  0    the versions do the same on this input
  1    they differ, and here is why
  2    usage or configuration is wrong
  3    a version could not be built
  4    they differ, but runs were not repeatable or nothing was found that explains it
  130  interrupted";

/// `beagle explain`
#[derive(Debug, Args)]
pub struct ExplainOptions {
    /// The two versions, and how to build them
    #[command(flatten)]
    pub pair: PairOptions,

    /// A test that `beagle diff --out` saved; without one, the input is given as for `beagle diff`
    #[arg(value_name = "TEST")]
    pub test: Option<PathBuf>,

    /// The input, if there is no saved test
    #[command(flatten)]
    pub invocation: InvocationOptions,

    /// How the programs are run and compared
    #[command(flatten)]
    pub judging: JudgingOptions,

    /// Look so long for alternate inputs, and build hunks alone for as long: 30, 30s, 2m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = values::duration)]
    pub timeout: Duration,

    /// Go by alternate inputs alone, whatever lines changed
    #[arg(long)]
    pub alternates_only: bool,

    /// Do not build hunks alone to tell apart several that were executed
    #[arg(long)]
    pub no_blame: bool,

    /// Text for people or JSON for machines
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// Print the time and memory of each phase to standard error
    #[arg(long)]
    pub timings: bool,
}
