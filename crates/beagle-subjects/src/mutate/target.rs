//! What is mutated: a single file, or files of a directory, with the rest that belongs to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Mutant;
use crate::error::{Error, Result};
use crate::hunks;
use crate::native::copy_dir;
use crate::subject::{Source, Version};

/// The code to mutate.
#[derive(Debug, Clone)]
pub struct Target {
    /// The directory that the files are in.
    dir: PathBuf,
    /// Whether the directory as a whole is the version.
    whole: bool,
    /// The files that may be changed, by their path in the directory.
    pub(super) files: BTreeMap<PathBuf, String>,
}

impl Target {
    /// A version that is a single file.
    pub fn file(path: &Path) -> Result<Self> {
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Error::invalid(path, "is not a file"));
        };
        let files = BTreeMap::from([(name.into(), fs_err::read_to_string(path)?)]);
        Ok(Self {
            dir: dir.to_owned(),
            whole: false,
            files,
        })
    }

    /// A version that is a directory; `only` some of its C files are changed, or all if empty.
    pub fn directory(dir: &Path, only: &[PathBuf]) -> Result<Self> {
        let mut files = BTreeMap::new();
        for file in only {
            files.insert(file.clone(), fs_err::read_to_string(dir.join(file))?);
        }
        if only.is_empty() {
            let like = Source::Directory {
                path: dir.to_owned(),
                program: PathBuf::new(),
            };
            files = hunks::texts(&Version {
                source: like,
                ldflags: Vec::new(),
            })?;
        }
        // What a header does shows only in the files that include it.
        files.retain(|file, _| file.extension().is_some_and(|extension| extension == "c"));
        if files.is_empty() {
            return Err(Error::invalid(dir, "no C files to change"));
        }
        Ok(Self {
            dir: dir.to_owned(),
            whole: true,
            files,
        })
    }

    /// All C files of a version.
    pub fn version(version: &Version) -> Result<Self> {
        match &version.source {
            Source::File(path) => Self::file(path),
            Source::Directory { path, .. } => Self::directory(path, &[]),
        }
    }

    /// Where a file of the target is.
    pub(super) fn path(&self, file: &Path) -> PathBuf {
        self.dir.join(file)
    }

    /// The text of the mutant's file with its change.
    pub fn text(&self, mutant: &Mutant) -> Option<String> {
        self.files
            .get(&mutant.file)
            .map(|source| mutant.apply(source))
    }

    /// Writes the mutant as a version of its own, `out/ID/`, with its facts in `mutant.toml`.
    pub fn write(&self, mutant: &Mutant, out: &Path) -> Result<PathBuf> {
        let dir = out.join(&mutant.id);
        let unknown = || Error::invalid(&mutant.file, "is not one of the files to change");
        let text = self.text(mutant).ok_or_else(unknown)?;
        fs_err::create_dir_all(&dir)?;
        if self.whole {
            copy_dir(&self.dir, &dir)?;
        }
        fs_err::write(dir.join(&mutant.file), text)?;
        fs_err::write(dir.join("mutant.toml"), facts(mutant)?)?;
        Ok(dir)
    }
}

fn facts(mutant: &impl Serialize) -> Result<String> {
    let unwritable = |cause: toml::ser::Error| Error::invalid("mutant.toml", cause.to_string());
    toml::to_string(mutant).map_err(unwritable)
}
