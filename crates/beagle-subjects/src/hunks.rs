//! The textual difference of two versions of a subject, any hunk of which can be applied alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use beagle_hunks::{Diff, Hunk, Set};
use beagle_hunks::{File, Tree};

use crate::error::Result;
use crate::subject::{Source, Version};

/// The texts of a version by path; a version that is a single file has it under [`SINGLE`].
pub type Texts = BTreeMap<PathBuf, String>;

/// The name under which the text of a single file is kept: old and new need not be called alike.
pub const SINGLE: &str = "program.c";

/// The difference of two versions on disk.
pub fn between(old: &Version, new: &Version) -> Result<Diff> {
    Ok(Diff::of(tree(old)?, tree(new)?))
}

fn tree(version: &Version) -> Result<Tree> {
    let texts = texts(version)?.into_iter();
    Ok(texts
        .map(|(path, text)| (path, File::plain(text)))
        .collect())
}

/// The texts of a version.
pub fn texts(version: &Version) -> Result<Texts> {
    let mut texts = Texts::new();
    match &version.source {
        Source::File(path) => {
            texts.insert(SINGLE.into(), fs_err::read_to_string(path)?);
        }
        Source::Directory { path, .. } => collect(path, Path::new(""), &mut texts)?,
    }
    Ok(texts)
}

fn collect(root: &Path, below: &Path, texts: &mut Texts) -> Result<()> {
    for entry in fs_err::read_dir(root.join(below))? {
        let entry = entry?;
        let file = below.join(entry.file_name());
        if entry.path().is_dir() {
            collect(root, &file, texts)?;
        } else {
            texts.insert(file, fs_err::read_to_string(entry.path())?);
        }
    }
    Ok(())
}

/// Writes old with some hunks applied into `dir`, as a version of the same form as `like`.
pub fn write(diff: &Diff, numbers: &Set, like: &Version, dir: &Path) -> Result<Version> {
    for (path, file) in diff.apply(numbers) {
        beagle_hunks::write(dir, &path, &file)?;
    }
    Ok(match like.source {
        Source::File(_) => like.with_path(dir.join(SINGLE)),
        Source::Directory { .. } => like.with_path(dir),
    })
}
