//! From a version to its program and bitcode, by way of the cache.

use std::path::{Path, PathBuf};

use crate::cache::{Entry, Finished};
use crate::program::Output;
use crate::single::Single;
use crate::tree::Tree;
use crate::{BuildError, Cache, Config, Missing, Tools, VersionSpec};

/// A version that was built.
#[derive(Debug, Clone)]
pub struct Built {
    /// A short name for people, such as `v1.2 (a3f19c2)` or `old.c`.
    pub label: String,
    /// The root of the sources that were compiled; relative paths of the debug information
    /// start here.
    pub tree: PathBuf,
    /// The program, built natively with the user's own flags.
    pub program: PathBuf,
    /// The bitcode of the whole program.
    pub bitcode: PathBuf,
    /// What the bitcode lacks.
    pub missing: Vec<Missing>,
    /// Arguments for the compiler driver that link the bitcode natively again: libraries,
    /// inputs without bitcode and the user's flags. Inputs that are only partly bitcode are
    /// among them, so multiple definitions must be allowed, and the bitcode come first.
    pub link_args: Vec<String>,
    /// The directory in which these arguments mean what they say.
    pub link_dir: PathBuf,
    /// What the build printed.
    pub log: PathBuf,
    /// Whether an earlier build could be used.
    pub from_cache: bool,
}

/// What `build` is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// The sources are being copied or checked out.
    Preparing {
        /// The version.
        label: String,
    },
    /// The build command has started.
    Building {
        /// The version.
        label: String,
        /// The command.
        command: String,
    },
    /// An earlier build is used; nothing is compiled.
    Cached {
        /// The version.
        label: String,
    },
    /// Something the user should know that does not stop the build.
    Note {
        /// The version.
        label: String,
        /// One line.
        text: String,
    },
}

/// Builds a version, or finds it in the cache. The user's files are never written to.
pub fn build(
    spec: &VersionSpec,
    config: &Config,
    cache: &Cache,
    progress: &mut dyn FnMut(Progress),
) -> Result<Built, BuildError> {
    let tools = Tools::find()?;
    let label = spec.label();
    let task = Task {
        label: &label,
        config,
        cache,
        tools: &tools,
    };
    match spec {
        VersionSpec::File { path, .. } => file(task, path, progress),
        _ => tree(task, spec, progress),
    }
}

/// What all steps of a build need to know.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub label: &'a str,
    pub config: &'a Config,
    pub cache: &'a Cache,
    pub tools: &'a Tools,
}

fn file(task: Task, path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Built, BuildError> {
    let single = Single { task, file: path };
    single.check()?;
    let entry = task.cache.entry(&single.key()?)?;
    let compile = |progress: &mut dyn FnMut(Progress)| {
        entry.clear()?;
        let program = single.compile(&entry, progress)?;
        let (tree, records) = (&entry.dir, &entry.dir);
        Output {
            label: task.label,
            entry: &entry,
            tree,
            records,
        }
        .finish(Some(&program))
    };
    finished(task, &entry, single.directory(), progress, compile)
}

fn tree(
    task: Task,
    spec: &VersionSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<Built, BuildError> {
    let tree = Tree { task, spec };
    let entry = task.cache.entry(&tree.key()?)?;
    let root = entry.dir.join("tree");
    finished(task, &entry, &root, progress, |progress| {
        tree.build(&entry, &root, progress)
    })
}

/// What is in the cache, or what `make` puts there.
fn finished(
    task: Task,
    entry: &Entry,
    tree: &Path,
    progress: &mut dyn FnMut(Progress),
    make: impl FnOnce(&mut dyn FnMut(Progress)) -> Result<Finished, BuildError>,
) -> Result<Built, BuildError> {
    let label = task.label.to_owned();
    let (finished, from_cache) = match entry.finished() {
        Some(finished) => {
            progress(Progress::Cached {
                label: label.clone(),
            });
            (finished, true)
        }
        None => (make(progress)?, false),
    };
    Ok(Built {
        label,
        tree: tree.to_owned(),
        program: entry.dir.join(finished.program),
        bitcode: entry.dir.join(finished.bitcode),
        missing: finished.record.missing,
        link_args: finished.record.link_args,
        link_dir: finished.record.directory,
        log: entry.log.clone(),
        from_cache,
    })
}
