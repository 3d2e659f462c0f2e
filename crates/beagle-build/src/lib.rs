//! From a revision, a directory or a file to a native program and its whole-program bitcode.
//!
//! Two halves live here. [`compiler`] is what runs as `beagle cc` inside other people's
//! builds: it calls the real compiler exactly as asked and adds bitcode to what comes out.
//! [`build`] is what runs around such a build: it takes a [`VersionSpec`], puts its sources
//! into a cache, runs the build command with `CC` pointing at the stand-in, and returns the
//! program with its bitcode and a list of what the bitcode lacks.
//!
//! This crate knows nothing of what the program means; it never looks inside a module beyond
//! the blocks that say where one ends and which LLVM wrote it. Only [`compiler::run`] may write to the terminal.

pub mod compiler;

mod again;
mod append;
mod arguments;
mod bitcode;
mod build;
mod cache;
mod checkout;
mod compile;
mod config;
mod detect;
mod embed;
mod error;
mod git;
mod harness;
mod kept;
mod lenient;
mod link;
mod linkline;
mod log;
mod options;
mod process;
mod program;
mod record;
mod recorder;
mod response;
mod sanitize;
mod signature;
mod single;
mod spool;
mod suite;
mod tools;
mod trace;
mod tree;
mod unit;
mod version;
mod workplace;

pub use bitcode::check_file as check_bitcode;
pub use build::{Built, Flavour, Progress, build, build_native, build_sanitized};
pub use cache::Cache;
pub use config::Config;
pub use error::{BuildError, FailedBuild};
pub use git::{Commit, commits};
pub use process::Leash;
pub use program::{Carried, carried};
pub use record::{Missing, Reason, Record};
pub use spool::{Invocation, Opened, Stdin};
pub use suite::{Ended, Heard, Next, Suite};
pub use tools::Tools;
pub use unit::Unit;
pub use version::VersionSpec;
pub use workplace::{Workplace, export};
