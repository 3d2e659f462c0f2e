//! `beagle blame`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::diff::{InvocationOptions, JudgingOptions};
use super::{Format, PairOptions, values};

/// What follows the options of `beagle blame --help`.
pub const BLAME_AFTER_HELP: &str = "\
Examples:
  beagle blame v1.2 HEAD tests/0001-output   an input that `beagle diff --out tests` found
  beagle blame old.c new.c -- -f 1-2         an input of your own
  beagle blame v1.2 v1.3 tests/0001-output --until HEAD   when was it fixed?

Old is built with sets of the hunks of `diff old new`, and each is run on the input: every set of up
to 4 hunks, some of more. What comes out are the smallest sets that make old do what new does.

Exit status:
  0    the versions do the same on this input
  1    they differ
  2    usage or configuration is wrong
  3    a version could not be built
  4    they differ, but runs were not repeatable or the cause was not found
  130  interrupted";

/// `beagle blame`
#[derive(Debug, Args)]
pub struct BlameOptions {
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

    /// Stop after this time: 30, 30s, 2m
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = values::duration)]
    pub timeout: Duration,

    /// Find when, after new and up to this revision, the program did again what old did
    #[arg(long, value_name = "REVISION")]
    pub until: Option<String>,

    /// Text for people or JSON for machines
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
