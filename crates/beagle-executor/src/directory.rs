//! The directory in which the program runs. It is empty before each run, but for a
//! fixture.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

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

    /// Makes everything as it was before the first run.
    pub(crate) fn reset(&self) -> Result<(), ExecutorError> {
        self.empty()?;
        match &self.fixture {
            Some(fixture) => copy(fixture, &self.path).map_err(failed(fixture)),
            None => Ok(()),
        }
    }

    /// Deletes what the last run left. If the program removed the directory, it is made again.
    fn empty(&self) -> Result<(), ExecutorError> {
        match fs::read_dir(&self.path).map(|mut entries| entries.next().is_none()) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return fs::create_dir_all(&self.path).map_err(failed(&self.path));
            }
            Err(_) => open_up(&self.path),
        }
        if delete_content(&self.path).is_err() {
            // Programs change the permissions of directories, too.
            open_up_all(&self.path);
            delete_content(&self.path).map_err(failed(&self.path))?;
        }
        Ok(())
    }
}

/// Copies a tree, with links and permissions.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            fs::create_dir(&target)?;
            copy(&source, &target)?;
            // After its content, for it may be read-only.
            fs::set_permissions(&target, fs::metadata(&source)?.permissions())?;
        } else if kind.is_symlink() {
            fs::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if kind.is_file() {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}

fn delete_content(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Lets us into a directory. If that fails, so does what comes next, with an error.
fn open_up(path: &Path) {
    let _ = fs::set_permissions(path, PermissionsExt::from_mode(0o700));
}

fn open_up_all(path: &Path) {
    let mut rest = vec![path.to_owned()];
    while let Some(directory) = rest.pop() {
        open_up(&directory);
        let Ok(entries) = fs::read_dir(&directory) else {
            continue;
        };
        let directories = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        rest.extend(directories.map(|entry| entry.path()));
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> ExecutorError {
    move |source| ExecutorError::Directory {
        path: path.to_owned(),
        source,
    }
}
