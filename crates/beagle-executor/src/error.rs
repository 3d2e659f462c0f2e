//! What can go wrong around a run. What the program itself does wrong is an outcome, not an error.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use beagle_trace::MemoryError;

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
pub enum ExecutorError {
    /// The program could not be started at all.
    #[error("cannot start {}", program.display())]
    NotStarted {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program ended before it was ready to run inputs.
    #[error(
        "{} ended ({status}) before it was ready to be traced{}",
        program.display(),
        quoted(.stderr)
    )]
    DiedAtStart {
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: String,
        /// What it wrote to standard error.
        stderr: String,
    },
    /// The program does not answer as a traced program does.
    #[error(
        "{} was not ready to be traced within {time:?}; was it instrumented?{}",
        program.display(),
        quoted(.stderr)
    )]
    NotReady {
        /// The program.
        program: PathBuf,
        /// How long it was waited for.
        time: Duration,
        /// What it wrote to standard error.
        stderr: String,
    },
    /// The fork server ended during a run. The trace as far as it came can still be read, and the
    /// next run starts a new server.
    #[error("the traced program's fork server ended ({status}) during a run")]
    ServerDied {
        /// How it ended.
        status: String,
    },
    /// The fork server did not report the end of a run that was killed.
    #[error("the traced program's fork server does not answer any more")]
    Stuck,
    /// The fork server could not start a process for the run.
    #[error("the traced program cannot be forked for a run")]
    Fork {
        /// What the system said.
        source: io::Error,
    },
    /// The memory could not be made ready, for example because the input is too large.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The directory in which the program runs could not be made or emptied.
    #[error("cannot prepare the directory {} for a run", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something else that concerns the connection to the program.
    #[error("cannot {doing}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// Adds what was tried to an error of the system.
pub(crate) fn doing<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> ExecutorError {
    move |source| ExecutorError::System {
        doing,
        source: source.into(),
    }
}

fn quoted(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!(":\n{text}"),
    }
}
