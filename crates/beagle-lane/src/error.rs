//! What can go wrong around the fast lane. What programs do wrong is an outcome, not an error.

use std::io;
use std::path::PathBuf;

/// Why there are no runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program could not be started.
    #[error("cannot start {}", program.display())]
    NotStarted {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program ended before or between runs.
    #[error("the program of the fast lane ended ({status}){}", quoted(.stderr))]
    Ended {
        /// How.
        status: String,
        /// What it wrote to standard error.
        stderr: String,
    },
    /// The program does not answer.
    #[error("the program of the fast lane does not answer any more")]
    Stuck,
    /// The marks are not those of the program.
    #[error("the program of the fast lane has {found} counters, not {given}")]
    Counters {
        /// How many marks there are.
        given: usize,
        /// How many counters the program has.
        found: usize,
    },
    /// Something else that concerns the connection to the program.
    #[error("cannot {doing}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The input cannot be given to a program.
    #[error(transparent)]
    Input(#[from] beagle_trace::InputError),
}

/// Adds what was tried to an error of the system.
pub(crate) fn doing<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Error {
    move |source| Error::System {
        doing,
        source: source.into(),
    }
}

fn quoted(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}
