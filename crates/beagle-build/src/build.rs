//! From a version to its program and bitcode, by way of the cache.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use crate::again::again;
use crate::cache::{Entry, Finished};
use crate::process::{Leash, Run};
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
    let task = Task {
        label: &spec.label(),
        config,
        cache,
        tools: &tools,
        flavour: Flavour::Plain,
        leash: None,
    };
    let made = task.made(spec, progress)?;
    let Some(bitcode) = made.finished.bitcode else {
        return Err(BuildError::NoBitcode {
            label: task.label.into(),
            program: made.finished.program,
            reason: "there is none in the cache".into(),
        });
    };
    Ok(Built {
        label: task.label.into(),
        tree: made.tree,
        program: made.dir.join(made.finished.program),
        bitcode: made.dir.join(bitcode),
        missing: made.finished.record.missing,
        link_args: made.finished.record.link_args,
        link_dir: made.finished.record.directory,
        log: made.log,
        from_cache: made.from_cache,
    })
}

/// Builds a version once more in the same way, with address and undefined-behaviour sanitizers,
/// or finds that in the cache. Not all programs can be built so; the others are still good for
/// all that [`build`] is for, so that this fails is nothing to stop for. Where the version was built
/// before, only what its program consists of is compiled again. Returns the program.
pub fn build_sanitized(
    spec: &VersionSpec,
    config: &Config,
    cache: &Cache,
    leash: Option<&Leash>,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf, BuildError> {
    native(spec, config, cache, Flavour::Sanitized, leash, progress)
}

/// Builds a version without bitcode, or finds that in the cache: enough to run it. Returns the
/// program.
pub fn build_native(
    spec: &VersionSpec,
    config: &Config,
    cache: &Cache,
    flavour: Flavour,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf, BuildError> {
    native(spec, config, cache, flavour, None, progress)
}

fn native(
    spec: &VersionSpec,
    config: &Config,
    cache: &Cache,
    flavour: Flavour,
    leash: Option<&Leash>,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf, BuildError> {
    let tools = Tools::find()?;
    let label = match flavour {
        Flavour::Sanitized => format!("{} with sanitizers", spec.label()),
        _ => spec.label(),
    };
    let task = Task {
        label: &label,
        config,
        cache,
        tools: &tools,
        flavour,
        leash,
    };
    let made = task.made(spec, progress)?;
    Ok(made.dir.join(made.finished.program))
}

/// What a build is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flavour {
    /// The program as the user builds it, with its bitcode.
    Plain,
    /// The program as the user builds it, without bitcode.
    Native,
    /// The program with sanitizers, without bitcode.
    Sanitized,
    /// The program with a recorder of its runs, without bitcode.
    Recorded,
}

/// What all steps of a build need to know.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub label: &'a str,
    pub config: &'a Config,
    pub cache: &'a Cache,
    pub tools: &'a Tools,
    pub flavour: Flavour,
    /// What it can be stopped by.
    pub leash: Option<&'a Leash>,
}

/// A build in the cache.
struct Made {
    tree: PathBuf,
    dir: PathBuf,
    log: PathBuf,
    finished: Finished,
    from_cache: bool,
}

impl Task<'_> {
    /// Builds, or finds in the cache.
    fn made(
        self,
        spec: &VersionSpec,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Made, BuildError> {
        match spec {
            VersionSpec::File { path, .. } => self.file(path, progress),
            _ => self.tree(spec, progress),
        }
    }

    fn file(self, path: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Made, BuildError> {
        let single = Single {
            task: self,
            file: path,
        };
        single.check()?;
        let entry = self.cache.entry(&single.key()?)?;
        let compile = |progress: &mut dyn FnMut(Progress)| {
            entry.clear()?;
            let program = single.compile(&entry, progress)?;
            Output {
                task: self,
                entry: &entry,
                tree: &entry.dir,
                records: entry.dir.clone(),
            }
            .finish(Some(&program))
        };
        self.finished(&entry, single.directory(), progress, compile)
    }

    fn tree(
        self,
        spec: &VersionSpec,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Made, BuildError> {
        if let Some(function) = &self.config.function {
            return Err(BuildError::NoHarness {
                label: self.label.into(),
                function: function.clone(),
                what: "only the functions of a single .c file can be called so".into(),
            });
        }
        let tree = Tree { task: self, spec };
        let entry = self.cache.entry(&tree.key()?)?;
        let root = entry.dir.join("tree");
        self.finished(&entry, &root, progress, |progress| {
            if self.flavour == Flavour::Sanitized
                && let Some(finished) = again(self, spec, &entry)?
            {
                return Ok(finished);
            }
            tree.build(&entry, &root, progress)
        })
    }

    /// Runs a command of the build; both outputs go to the end of `log`.
    pub fn log(self, run: Run, log: &File) -> io::Result<ExitStatus> {
        match self.leash {
            Some(leash) => run.log_into_on(log, leash),
            None => run.log_into(log),
        }
    }

    /// What is in the cache, or what `make` puts there.
    fn finished(
        self,
        entry: &Entry,
        tree: &Path,
        progress: &mut dyn FnMut(Progress),
        make: impl FnOnce(&mut dyn FnMut(Progress)) -> Result<Finished, BuildError>,
    ) -> Result<Made, BuildError> {
        let (finished, from_cache) = match entry.finished() {
            Some(finished) => {
                let label = self.label.to_owned();
                progress(Progress::Cached { label });
                (finished, true)
            }
            None => (make(progress)?, false),
        };
        Ok(Made {
            tree: tree.to_owned(),
            dir: entry.dir.clone(),
            log: entry.log.clone(),
            finished,
            from_cache,
        })
    }
}
