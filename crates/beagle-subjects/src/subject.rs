//! A subject: one program, its base version and the pairs made of it.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::pair::Pair;

/// One program of `subjects/`.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The name of its directory.
    pub name: String,
    /// Its directory.
    pub dir: PathBuf,
    /// What sort of program it is, in free words.
    pub kind: String,
    /// What it does, in a sentence.
    pub summary: String,
    /// The version the others were made of.
    pub base: Version,
    /// The shape of a typical input.
    pub input: InputShape,
    /// Its own test-suite: `check.sh PROGRAM`.
    pub check: PathBuf,
    /// Its version pairs, by name.
    pub pairs: Vec<Pair>,
}

impl Subject {
    /// All versions of the program, each once: the base first, then in the order of the pairs.
    pub fn versions(&self) -> Vec<&Version> {
        let of_pairs = self.pairs.iter().flat_map(|pair| [&pair.old, &pair.new]);
        let mut versions = Vec::new();
        for version in std::iter::once(&self.base).chain(of_pairs) {
            if !versions.contains(&version) {
                versions.push(version);
            }
        }
        versions
    }
}

/// One version of a subject: all that is needed to build it.
///
/// Two versions are equal if they are the same file, whichever pair names them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    /// Where the code is.
    pub source: Source,
    /// Flags for the linker. Only for single files: a directory's Makefile knows its own.
    pub ldflags: Vec<String>,
}

impl Version {
    /// A version that is a single file and links with nothing but libc.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self {
            source: Source::File(path.into()),
            ldflags: Vec::new(),
        }
    }

    /// The same program with other code, which has to be of the same form (file or directory).
    pub fn with_path(&self, path: impl Into<PathBuf>) -> Self {
        let source = match &self.source {
            Source::File(_) => Source::File(path.into()),
            Source::Directory { program, .. } => Source::Directory {
                path: path.into(),
                program: program.clone(),
            },
        };
        Self {
            source,
            ldflags: self.ldflags.clone(),
        }
    }

    /// The file or directory that holds the code.
    pub fn path(&self) -> &Path {
        match &self.source {
            Source::File(path) | Source::Directory { path, .. } => path,
        }
    }
}

/// The code of a version.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// A single C file (canonical path).
    File(PathBuf),
    /// A directory with a Makefile.
    Directory {
        /// The directory (canonical path).
        path: PathBuf,
        /// The program that `make` leaves in it.
        program: PathBuf,
    },
}

/// The shape of a typical input, a default for what to make symbolic.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InputShape {
    /// Number of arguments.
    pub args: usize,
    /// Bytes per argument.
    pub arg_len: usize,
    /// Bytes of standard input; 0 if the program does not read it.
    pub stdin: usize,
    /// Names of the files it reads from the working directory.
    pub files: Vec<String>,
}
