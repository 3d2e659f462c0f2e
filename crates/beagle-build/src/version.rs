//! What the user may write for OLD and NEW.

use std::path::{Path, PathBuf};

use crate::error::Doing;
use crate::{BuildError, git};

/// One version of a program, found but not yet built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionSpec {
    /// A commit of a git repository.
    Revision {
        /// The root of the working tree, or the repository if it is bare.
        repo: PathBuf,
        /// What the user wrote.
        rev: String,
        /// The full hash of the commit.
        commit: String,
    },
    /// The working tree of a git repository, as it is now.
    WorkTree {
        /// Its root.
        repo: PathBuf,
    },
    /// A directory that is no repository, or is one part of a repository.
    Dir {
        /// Its absolute path.
        path: PathBuf,
        /// What the user wrote.
        name: String,
    },
    /// A single C file.
    File {
        /// Its absolute path.
        path: PathBuf,
        /// What the user wrote.
        name: String,
    },
}

impl VersionSpec {
    /// Finds what a text means: an existing `.c` file, an existing directory, or else a
    /// revision of the repository around `cwd`. Inside a repository, `.` is its working tree.
    pub fn parse(text: &str, cwd: &Path) -> Result<Self, BuildError> {
        let path = cwd.join(text);
        if path.is_file() {
            return file(&path, text);
        }
        if path.is_dir() && !text.is_empty() {
            return directory(&path, text);
        }
        let looks_like_a_path =
            text.starts_with(['/', '.']) || text.ends_with(['/']) || is_c(Path::new(text));
        let Some(repo) = git::repository(cwd)? else {
            return Err(if looks_like_a_path {
                BuildError::NoSuchPath { text: text.into() }
            } else {
                BuildError::NotARepository {
                    text: text.into(),
                    dir: cwd.to_owned(),
                }
            });
        };
        match git::commit(&repo, text)? {
            Some(commit) => Ok(Self::Revision {
                repo,
                rev: text.into(),
                commit,
            }),
            None if looks_like_a_path => Err(BuildError::NoSuchPath { text: text.into() }),
            None => Err(BuildError::UnknownRevision {
                text: text.into(),
                repo,
            }),
        }
    }

    /// A short name for people: `v1.2 (a3f19c2)`, `old.c`.
    pub fn label(&self) -> String {
        match self {
            Self::Revision { rev, commit, .. } => {
                let short = commit.get(..7).unwrap_or(commit);
                if commit.starts_with(rev.as_str()) {
                    short.into()
                } else {
                    format!("{rev} ({short})")
                }
            }
            Self::WorkTree { .. } => "working tree".into(),
            Self::Dir { name, .. } | Self::File { name, .. } => name.clone(),
        }
    }
}

fn file(path: &Path, text: &str) -> Result<VersionSpec, BuildError> {
    if !is_c(path) {
        return Err(BuildError::NotC { path: text.into() });
    }
    // The file may be a link; what it includes is looked for beside the link.
    let dir = canonical(path.parent().unwrap_or(path))?;
    let path = dir.join(path.file_name().unwrap_or_default());
    Ok(VersionSpec::File {
        path,
        name: text.into(),
    })
}

fn directory(path: &Path, text: &str) -> Result<VersionSpec, BuildError> {
    let path = canonical(path)?;
    // Directories are fine without git, and without being in a repository.
    let repo = git::repository(&path).ok().flatten();
    let repo = repo.and_then(|repo| repo.canonicalize().ok());
    Ok(match repo {
        Some(repo) if repo == path || (text == "." && path.starts_with(&repo)) => {
            VersionSpec::WorkTree { repo }
        }
        _ => VersionSpec::Dir {
            path,
            name: text.trim_end_matches('/').into(),
        },
    })
}

fn canonical(path: &Path) -> Result<PathBuf, BuildError> {
    path.canonicalize()
        .doing(|| format!("find {}", path.display()))
}

fn is_c(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "c")
}
