//! What can keep us from looking for culprits.

use std::io;

use beagle_build::BuildError;

/// Why nothing is known about culprits.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The sources could not be read or written, or a version could not be built at all.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The programs could not be run.
    #[error(transparent)]
    Run(#[from] beagle_verdict::Error),
    /// Sources could not be read or written.
    #[error("cannot mix the sources: {0}")]
    Sources(#[from] io::Error),
    /// One version is a file, the other is not.
    #[error("a single file and a directory cannot be mixed; compare two files or two directories")]
    Kinds,
}
