//! What can be written on the command line.

mod blame;
mod coverage;
mod diff;
mod explain;
mod graph;
mod record;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use blame::{BLAME_AFTER_HELP, BlameOptions};
pub use coverage::{COVERAGE_AFTER_HELP, CoverageOptions};
pub use diff::{
    DIFF_AFTER_HELP, DiffOptions, InvocationOptions, JudgingOptions, REPLAY_AFTER_HELP,
    ReplayOptions,
};
pub use explain::{EXPLAIN_AFTER_HELP, ExplainOptions};
pub use graph::{GRAPH_AFTER_HELP, GraphOptions, Picture};
pub use record::{RECORD_AFTER_HELP, RecordOptions};
pub use values::{FailOn, Strategy};

/// Finds inputs on which two versions of a C program behave differently.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Arguments {
    /// What to do
    #[command(subcommand)]
    pub command: Command,

    /// Say nothing on standard error unless something fails
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// Use colours; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Color,
}

const AFTER_HELP: &str = "\
Start with `beagle doctor`, then `beagle changes OLD NEW`; `beagle changes --help` has examples.";

const CHANGES_AFTER_HELP: &str = "\
Examples:
  beagle changes old.c new.c          two files, nothing to configure
  beagle changes v1.2 HEAD            two revisions of the repository around you
  beagle changes HEAD .               the last commit and the working tree
  beagle changes lib-1.0 lib-1.1 --build 'make CC=\"$CC\"' --program tools/lib

Projects that are not built by a plain ./configure, make, CMake or Meson say how in beagle.toml:
  build = 'make CC=\"$CC\" tool'
  program = 'src/tool'
cflags and ldflags can stand there, too. Each version is built in a cache; your files, working
tree and repository stay as they are.

Exit status:
  0  no change in meaning
  1  changes
  2  usage or configuration is wrong
  3  a version could not be built";

const TRACE_AFTER_HELP: &str = "\
Examples:
  beagle trace sum.c -- 12 30             the arguments are the input
  beagle trace wc.c -- -l notes.txt       arguments that name files make these input, too
  beagle trace parse.c --stdin data.json  so does standard input
  beagle trace . --check -- --version     the project around you, checked against itself

The program runs in an empty directory of its own, with nothing but the input; your files stay as
they are. Time, process numbers and random sources are the same in every run.

Exit status:
  0  the run was recorded
  1  --check found something wrong
  2  usage or configuration is wrong
  3  the program could not be built or started";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find inputs on which two versions behave differently
    #[command(after_help = DIFF_AFTER_HELP)]
    Diff(Box<DiffOptions>),
    /// Show what changed in meaning between two versions
    #[command(after_help = CHANGES_AFTER_HELP)]
    Changes(ChangesOptions),
    /// Find which hunks of a change make the versions differ on an input
    #[command(after_help = BLAME_AFTER_HELP)]
    Blame(Box<BlameOptions>),
    /// Tell why two versions differ on an input: which lines to read first
    #[command(after_help = EXPLAIN_AFTER_HELP)]
    Explain(Box<ExplainOptions>),
    /// Run saved tests again, on any version
    #[command(after_help = REPLAY_AFTER_HELP)]
    Replay(ReplayOptions),
    /// Draw in which orders changes can be executed, and where their effects meet
    #[command(after_help = GRAPH_AFTER_HELP)]
    Graph(GraphOptions),
    /// Show how far existing tests get with what changed
    #[command(after_help = COVERAGE_AFTER_HELP)]
    Coverage(Box<CoverageOptions>),
    /// Run a test-suite and keep what it gives to the program as inputs to start from
    #[command(after_help = RECORD_AFTER_HELP)]
    Record(RecordOptions),
    /// Run a program once and show every decision that depends on its input
    #[command(after_help = TRACE_AFTER_HELP)]
    Trace(TraceOptions),
    /// Check that everything Beagle needs is installed
    Doctor,
    /// Stand in for the C compiler in a build: CC="beagle cc"
    Cc {
        /// Arguments for the compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Stand in for the C++ compiler in a build: CXX="beagle c++"
    #[command(name = "c++")]
    Cxx {
        /// Arguments for the compiler
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

/// `beagle changes`
#[derive(Debug, Args)]
pub struct ChangesOptions {
    /// The two versions, and how to build them
    #[command(flatten)]
    pub pair: PairOptions,

    /// Text for people or JSON for machines
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// Print the time and memory of each phase to standard error
    #[arg(long)]
    pub timings: bool,
}

/// `beagle trace`
#[derive(Debug, Args)]
pub struct TraceOptions {
    /// The program: a .c file, a directory or a git revision
    pub version: String,

    /// How to build it
    #[command(flatten)]
    pub build: BuildOptions,

    /// Standard input is the content of this file; without it, empty
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,

    /// This file is input, by the path given (from here; not absolute)
    #[arg(long, value_name = "PATH")]
    pub file: Vec<PathBuf>,

    /// This environment variable is input
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,

    /// Compute everything again from the input and compare with what happened
    #[arg(long)]
    pub check: bool,

    /// Show decisions that do not depend on the input, too, and reads and checks
    #[arg(long)]
    pub all: bool,

    /// Show at most so many steps; 0 for all
    #[arg(long, value_name = "STEPS", default_value_t = 200)]
    pub limit: usize,

    /// Stop the program after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub time: u64,

    /// Text for people or JSON for machines
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// Print the time and memory of each phase to standard error
    #[arg(long)]
    pub timings: bool,

    /// Arguments for the program
    #[arg(last = true)]
    pub arguments: Vec<OsString>,
}

/// The two versions.
#[derive(Clone, Debug, Args)]
pub struct PairOptions {
    /// The old version: a git revision, a directory or a .c file
    pub old: String,

    /// The new version: likewise; `.` in a repository is its working tree
    pub new: String,

    /// How to build them
    #[command(flatten)]
    pub build: BuildOptions,
}

/// How a version is built. What is not given is looked up in `beagle.toml`.
#[derive(Clone, Debug, Args)]
pub struct BuildOptions {
    /// Shell command that builds a version, run in its directory with $CC set
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,

    /// The program that the build makes, relative to that directory
    #[arg(long, value_name = "PATH")]
    pub program: Option<PathBuf>,

    /// Flags for the compiler: passed to it for .c files, set as $CFLAGS for builds
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub cflags: Option<String>,

    /// Flags for the linker: likewise, $LDFLAGS
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub ldflags: Option<String>,

    /// Call this function instead of main, with values from standard input (.c files only)
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
}

/// Output formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Human,
    Json,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    /// Makes it the choice for all output.
    pub fn write_global(self) {
        let choice = match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::AlwaysAnsi,
            Color::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}
