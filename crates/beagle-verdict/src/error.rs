//! What can go wrong around native runs. What the program itself does wrong is an observation.

use std::io;
use std::path::PathBuf;

use beagle_trace::InputError;

/// Why there is no observation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The keeper of the sandbox could not be started.
    #[error("cannot start {} to run programs in a sandbox; try `beagle doctor`", program.display())]
    NoKeeper {
        /// The executable.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The keeper ended during a run, twice.
    #[error("running {} ends the sandbox; does it kill its parent process?", program.display())]
    KeeperLost {
        /// The program that ran.
        program: PathBuf,
        /// What was seen.
        source: io::Error,
    },
    /// The system refused to run the program.
    #[error("cannot {doing}: {}", program.display())]
    NotStarted {
        /// What was tried.
        doing: String,
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The input is impossible.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The input has a file that does not lie in the working directory.
    #[error(
        "the input has the file \"{}\", which is not in the working directory; give a relative path",
        path.escape_ascii()
    )]
    FileOutside {
        /// Its path.
        path: Vec<u8>,
    },
    /// Files for runs, or their traces, could not be written or read.
    #[error("cannot {doing}")]
    Files {
        /// What was tried.
        doing: &'static str,
        /// What the system said, with the path.
        source: io::Error,
    },
    /// A pattern for normalisation is wrong.
    #[error("the pattern `{pattern}` is not a regular expression")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        source: Box<regex::Error>,
    },
    /// A saved test cannot be read.
    #[error("{} is not a saved test", path.display())]
    NotATest {
        /// Its description.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
}

/// Adds what was tried to an error of the system.
pub(crate) fn doing(doing: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Files { doing, source }
}
