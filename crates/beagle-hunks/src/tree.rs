//! The files of a version, in memory.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The files of a version, by path from its root.
pub type Tree = BTreeMap<PathBuf, File>;

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// What is in it; for a link, where it leads.
    pub bytes: Vec<u8>,
    /// What it is.
    pub kind: Kind,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An ordinary file.
    Plain,
    /// A file that can be run.
    Executable,
    /// A symbolic link.
    Link,
}

impl File {
    /// An ordinary file.
    pub fn plain(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            kind: Kind::Plain,
        }
    }

    /// Whether parts of it can be changed by themselves.
    pub(crate) fn is_text(&self) -> bool {
        self.kind != Kind::Link && !self.bytes.contains(&0)
    }
}

/// Reads all files below a directory, but for what belongs to git.
pub fn read(root: &Path) -> io::Result<Tree> {
    let mut tree = Tree::new();
    let mut directories = vec![PathBuf::new()];
    while let Some(directory) = directories.pop() {
        for entry in fs_err::read_dir(root.join(&directory))? {
            let entry = entry?;
            let (path, kind) = (directory.join(entry.file_name()), entry.file_type()?);
            if kind.is_dir() {
                if entry.file_name() != ".git" {
                    directories.push(path);
                }
            } else if kind.is_symlink() {
                let target = fs_err::read_link(entry.path())?;
                let file = File {
                    bytes: target.as_os_str().as_bytes().to_vec(),
                    kind: Kind::Link,
                };
                tree.insert(path, file);
            } else if kind.is_file() {
                let mode = entry.metadata()?.permissions().mode();
                let file = File {
                    bytes: fs_err::read(entry.path())?,
                    kind: match mode & 0o100 {
                        0 => Kind::Plain,
                        _ => Kind::Executable,
                    },
                };
                tree.insert(path, file);
            }
        }
    }
    Ok(tree)
}

/// Writes a file below a directory, in the place of what is there.
pub fn write(root: &Path, path: &Path, file: &File) -> io::Result<()> {
    let path = root.join(path);
    if let Some(parent) = path.parent() {
        fs_err::create_dir_all(parent)?;
    }
    if fs_err::symlink_metadata(&path).is_ok() {
        fs_err::remove_file(&path)?;
    }
    match file.kind {
        Kind::Link => symlink(OsStr::from_bytes(&file.bytes), &path),
        Kind::Plain => fs_err::write(&path, &file.bytes),
        Kind::Executable => {
            fs_err::write(&path, &file.bytes)?;
            fs_err::set_permissions(&path, PermissionsExt::from_mode(0o755))
        }
    }
}

/// Whether a file is one that a C compiler reads, by its name.
pub fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(
        extension,
        Some("c" | "h" | "inc" | "def" | "cc" | "cpp" | "cxx" | "hpp")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let of_kind = |bytes: &str, kind| File {
            bytes: bytes.into(),
            kind,
        };
        let tree = Tree::from([
            ("a/b.c".into(), File::plain("int x;\n")),
            ("configure".into(), of_kind("#!/bin/sh\n", Kind::Executable)),
            ("link".into(), of_kind("a/b.c", Kind::Link)),
        ]);
        for (path, file) in &tree {
            write(dir.path(), path, file).unwrap();
            // A second time, over what is there.
            write(dir.path(), path, file).unwrap();
        }
        fs_err::create_dir(dir.path().join(".git")).unwrap();
        fs_err::write(dir.path().join(".git/HEAD"), "x").unwrap();
        assert_eq!(read(dir.path()).unwrap(), tree);
    }
}
