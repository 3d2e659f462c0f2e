//! What can go wrong.

use std::path::PathBuf;

use beagle_llvm::{LoadError, TransformError};

/// Why a program could not be instrumented.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bitcode cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// LLVM refused something.
    #[error(transparent)]
    Transform(#[from] TransformError),
    /// The numbering is not one of this program.
    #[error("the numbering has {given} {what}, the program has {found}")]
    Ids {
        /// Statements or functions.
        what: &'static str,
        /// How many numbers there are.
        given: usize,
        /// How many are needed.
        found: usize,
    },
    /// There is nothing to start.
    #[error("the bitcode defines no function `main`, so there is no program to run")]
    NoMain,
    /// The bitcode is for another machine.
    #[error("the bitcode is for {0}; only x86_64 Linux can be instrumented")]
    OtherMachine(String),
    /// Beagle's own parts do not fit each other: a mistake in Beagle.
    #[error("the runtime lacks the helper `{0}`, or it has another type")]
    Helper(String),
    /// The linker failed.
    #[error("linking the instrumented program failed:\n{log}")]
    Link {
        /// What it printed.
        log: String,
        /// The command.
        command: String,
    },
    /// A tool is missing or a file cannot be written.
    #[error("cannot {what} {}: {cause}", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// The file or tool.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
}
