//! `beagle record`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::{BuildOptions, Format};

/// What follows the options of `beagle record --help`.
pub const RECORD_AFTER_HELP: &str = "\
Examples:
  beagle record -- make check                    the project around you
  beagle record v1.2 --out seeds -- make check   another version
  beagle record . -- 'cd build && ctest'         one word is a command for the shell
  beagle diff v1.2 HEAD --seeds seeds            starts from what was recorded

Every run of the program in the test-suite becomes an input to start from: its arguments, standard
input, the files that it reads, and the environment variables that the suite sets and it looks at.
The suite stays as it is, and runs in a copy of the tree; your files are not written to. It is run
as for a build, with $CC set.

Exit status:
  0    inputs were recorded
  1    none were: the suite does not run the program
  2    usage or configuration is wrong
  3    the version could not be built
  130  interrupted; what was recorded until then is kept";

/// `beagle record`
#[derive(Debug, Args)]
pub struct RecordOptions {
    /// The version: a git revision or a directory; `.` in a repository is its working tree
    #[arg(default_value = ".")]
    pub version: String,

    /// How to build it
    #[command(flatten)]
    pub build: BuildOptions,

    /// The directory for what is recorded; `beagle-seeds` if not given
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Record at most so many runs of the program
    #[arg(long, value_name = "RUNS", default_value_t = 20_000)]
    pub max_runs: u64,

    /// Text for people or JSON for machines
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// The command that runs the test-suite
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
