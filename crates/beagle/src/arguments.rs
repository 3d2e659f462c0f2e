//! What can be written on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

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

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what changed in meaning between two versions
    #[command(after_help = CHANGES_AFTER_HELP)]
    Changes(ChangesOptions),
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

/// The two versions. What is not given is looked up in `beagle.toml`.
#[derive(Debug, Args)]
pub struct PairOptions {
    /// The old version: a git revision, a directory or a .c file
    pub old: String,

    /// The new version: likewise; `.` in a repository is its working tree
    pub new: String,

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
