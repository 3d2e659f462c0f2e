//! The directory in which the program runs. It is empty before each run, but for a
//! fixture.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use beagle_enclosure::tree;
use fs_err as fs;
use tempfile::TempDir;

use crate::ExecutorError;

/// A directory of which every run may do what it likes.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    /// What is in it before each run.
    fixture: Option<PathBuf>,
    /// Removes the directory in the end, if it was made here.
    _made: Option<TempDir>,
}

impl Directory {
    /// Uses a directory that is there, whose content will be deleted, or makes a new one.
    pub(crate) fn new(
        given: Option<PathBuf>,
        fixture: Option<PathBuf>,
    ) -> Result<Self, ExecutorError> {
        let temporary = |source| ExecutorError::Directory {
            path: std::env::temp_dir(),
            source,
        };
        match given {
            Some(path) => {
                fs::create_dir_all(&path).map_err(failed(&path))?;
                let path = fs::canonicalize(&path).map_err(failed(&path))?;
                Ok(Self {
                    path,
                    fixture,
                    _made: None,
                })
            }
            None => {
                let made = TempDir::with_prefix("beagle-run-").map_err(temporary)?;
                let path = made.path().canonicalize().map_err(temporary)?;
                let _made = Some(made);
                Ok(Self {
                    path,
                    fixture,
                    _made,
                })
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A number that tells whether it is still the same directory.
    pub(crate) fn identity(&self) -> Option<u64> {
        fs::metadata(&self.path).ok().map(|meta| meta.ino())
    }

    /// Makes everything as it was before the first run. If the program removed the directory, it is
    /// made again.
    pub(crate) fn reset(&self) -> Result<(), ExecutorError> {
        tree::empty(&self.path).map_err(failed(&self.path))?;
        match &self.fixture {
            Some(fixture) => tree::copy(fixture, &self.path).map_err(failed(fixture)),
            None => Ok(()),
        }
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> ExecutorError {
    move |source| ExecutorError::Directory {
        path: path.to_owned(),
        source,
    }
}
