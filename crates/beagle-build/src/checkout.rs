//! Getting a version's sources into the cache, and saying what they are without doing so.
//!
//! The user's files are only read. Revisions are written from git's objects, directories and
//! working trees are copied with their times, so that `make` sees the same order as the user.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use crate::error::Doing;
use crate::{BuildError, VersionSpec, git};

/// The time of all files of a revision, and of `__DATE__`. It only has to be the same for all
/// versions, and in the past: no file may look as if it had to be made anew from another.
pub(crate) const EPOCH: u64 = 946_684_800;

/// What is known after a checkout besides the files.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Submodules of which only the empty directory is there.
    pub empty_submodules: Vec<PathBuf>,
}

/// A text that is the same for the same sources, wherever they are.
pub(crate) fn identity(spec: &VersionSpec, skip: &Path) -> Result<String, BuildError> {
    match spec {
        VersionSpec::Revision { repo, commit, .. } => {
            let mut text = format!("git {}", git::tree(repo, commit)?);
            for (path, hash) in git::submodules(repo, commit)? {
                // A submodule may be fetched between two calls.
                let there = submodule(repo, &path, &hash)?.is_some();
                text.push_str(&format!(" {} {hash} {there}", path.display()));
            }
            Ok(text)
        }
        VersionSpec::WorkTree { repo } => hash(repo, &git::files(repo)?, skip),
        VersionSpec::Dir { path, .. } => hash(path, &top_level(path)?, skip),
        VersionSpec::File { path, .. } => hash(beside(path), &[name(path)], skip),
    }
}

/// Puts the sources into an empty directory.
pub(crate) fn write(spec: &VersionSpec, dest: &Path, skip: &Path) -> Result<Notes, BuildError> {
    let mut notes = Notes::default();
    fs_err::create_dir_all(dest).doing(|| "make a place for the sources".into())?;
    match spec {
        VersionSpec::Revision { repo, commit, .. } => {
            export(repo, commit, dest, &mut notes)?;
            set_times(dest).doing(|| "set the time of the sources".into())?;
        }
        VersionSpec::WorkTree { repo } => copy(repo, &git::files(repo)?, dest, skip)?,
        VersionSpec::Dir { path, .. } => copy(path, &top_level(path)?, dest, skip)?,
        VersionSpec::File { path, .. } => copy(beside(path), &[name(path)], dest, skip)?,
    }
    Ok(notes)
}

fn beside(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

fn name(file: &Path) -> PathBuf {
    file.file_name().unwrap_or_default().into()
}

fn export(repo: &Path, commit: &str, dest: &Path, notes: &mut Notes) -> Result<(), BuildError> {
    git::export(repo, commit, dest)?;
    for (path, hash) in git::submodules(repo, commit)? {
        match submodule(repo, &path, &hash)? {
            Some(module) => export(&module, &hash, &dest.join(path), notes)?,
            None => notes.empty_submodules.push(path),
        }
    }
    Ok(())
}

/// The repository of a submodule, if it is there and has the commit.
fn submodule(repo: &Path, path: &Path, commit: &str) -> Result<Option<PathBuf>, BuildError> {
    let module = repo.join(path);
    let is_repository = module.join(".git").exists();
    let found = is_repository && git::commit(&module, commit)?.is_some();
    Ok(found.then_some(module))
}

/// The entries of a directory, as relative paths in a fixed order.
fn top_level(dir: &Path) -> Result<Vec<PathBuf>, BuildError> {
    entries(dir, Path::new("")).doing(|| format!("read {}", dir.display()))
}

fn entries(root: &Path, below: &Path) -> io::Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for entry in fs_err::read_dir(root.join(below))? {
        let name = entry?.file_name();
        if name != ".git" {
            names.push(below.join(name));
        }
    }
    names.sort();
    Ok(names)
}

/// Calls `visit` for every file and link below `paths`, relative to `root`.
fn walk(
    root: &Path,
    paths: &[PathBuf],
    skip: Option<&Path>,
    visit: &mut dyn FnMut(&Path, &Metadata) -> io::Result<()>,
) -> io::Result<()> {
    for path in paths {
        let full = root.join(path);
        let data = match fs_err::symlink_metadata(&full) {
            Ok(data) => data,
            // Git lists what was deleted but not committed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        // The cache may be inside the directory that is copied into it.
        if skip.is_some_and(|skip| full.starts_with(skip)) {
            continue;
        }
        if data.is_dir() {
            walk(root, &entries(root, path)?, skip, visit)?;
        } else if data.is_file() || data.is_symlink() {
            visit(path, &data)?;
        }
    }
    Ok(())
}

/// A hash of names, kinds and contents; times do not count.
fn hash(root: &Path, paths: &[PathBuf], skip: &Path) -> Result<String, BuildError> {
    let mut hasher = blake3::Hasher::new();
    let mut visit = |path: &Path, data: &Metadata| -> io::Result<()> {
        let full = root.join(path);
        let content = if data.is_symlink() {
            blake3::hash(fs_err::read_link(&full)?.as_os_str().as_bytes())
        } else {
            blake3::Hasher::new()
                .update_reader(fs_err::File::open(&full)?)?
                .finalize()
        };
        let kind = (data.is_symlink(), data.permissions().mode() & 0o100);
        hasher.update(format!("{kind:?} {} ", path.as_os_str().len()).as_bytes());
        hasher.update(path.as_os_str().as_bytes());
        hasher.update(content.as_bytes());
        Ok(())
    };
    walk(root, paths, Some(skip), &mut visit).doing(|| format!("read {}", root.display()))?;
    Ok(format!("files {}", hasher.finalize().to_hex()))
}

fn copy(root: &Path, paths: &[PathBuf], dest: &Path, skip: &Path) -> Result<(), BuildError> {
    let mut visit = |path: &Path, data: &Metadata| -> io::Result<()> {
        let (from, to) = (root.join(path), dest.join(path));
        if let Some(parent) = to.parent() {
            fs_err::create_dir_all(parent)?;
        }
        if data.is_symlink() {
            return symlink(fs_err::read_link(&from)?, &to);
        }
        fs_err::copy(&from, &to)?;
        // Builds may write to their files, even if the user must not.
        let mode = data.permissions().mode() | 0o600;
        fs_err::set_permissions(&to, std::fs::Permissions::from_mode(mode))?;
        File::options()
            .write(true)
            .open(&to)?
            .set_modified(data.modified()?)
    };
    walk(root, paths, Some(skip), &mut visit).doing(|| format!("copy {}", root.display()))
}

fn set_times(dir: &Path) -> io::Result<()> {
    let time = UNIX_EPOCH + Duration::from_secs(EPOCH);
    let mut visit = |path: &Path, data: &Metadata| -> io::Result<()> {
        if data.is_file() {
            File::open(dir.join(path))?.set_modified(time)
        } else {
            Ok(())
        }
    };
    walk(dir, &entries(dir, Path::new(""))?, None, &mut visit)
}
