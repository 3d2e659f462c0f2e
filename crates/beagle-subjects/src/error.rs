//! What can go wrong with a subject: each error names the file and the cause.

use std::path::PathBuf;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a subject could not be loaded, built, run or mutated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written. The message names the file, as all access goes
    /// through `fs_err`.
    #[error(transparent)]
    Io(#[from] std::io::Error),

    /// A `subject.toml` or `pair.toml` is not what its format says.
    #[error("{}: {cause}", file.display())]
    Format {
        /// The file at fault.
        file: PathBuf,
        /// Where in it, and what was expected there.
        cause: Box<toml::de::Error>,
    },

    /// A file is well-formed but says something that cannot be.
    #[error("{}: {what}", file.display())]
    Invalid {
        /// The file at fault.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },

    /// A program that is needed could not be started.
    #[error("cannot start {program}: {cause}")]
    Start {
        /// The program.
        program: String,
        /// What the system said.
        cause: std::io::Error,
    },

    /// A version does not build.
    #[error("{} does not build\n$ {command}\n{log}", version.display())]
    Build {
        /// The file or directory of the version.
        version: PathBuf,
        /// The command that failed.
        command: String,
        /// What it printed.
        log: String,
    },
}

impl Error {
    /// An [`Error::Invalid`] about `file`.
    pub(crate) fn invalid(file: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        Self::Invalid {
            file: file.into(),
            what: what.into(),
        }
    }
}
