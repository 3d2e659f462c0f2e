//! From a version to its program and bitcode: the tree, the command, the result.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cache::{Entry, Finished, key};
use crate::checkout::{self, EPOCH};
use crate::detect::{self, Method};
use crate::error::Doing;
use crate::log::Failure;
use crate::process::Run;
use crate::program::Output;
use crate::single::Single;
use crate::tools::in_path;
use crate::{BuildError, Cache, Config, Missing, Tools, VersionSpec, compiler, lenient, record};

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
    let mut build = Build {
        label: &label,
        config,
        cache,
        tools: &tools,
        progress,
    };
    match spec {
        VersionSpec::File(path) => build.file(path),
        _ => build.tree(spec),
    }
}

/// Variables of the environment that builds look at.
const RELEVANT: [&str; 17] = [
    "AR",
    "CFLAGS",
    "CMAKE_GENERATOR",
    "CMAKE_PREFIX_PATH",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "CPPFLAGS",
    "CXXFLAGS",
    "C_INCLUDE_PATH",
    "LDFLAGS",
    "LIBRARY_PATH",
    "LIBS",
    "NM",
    "PKG_CONFIG_LIBDIR",
    "PKG_CONFIG_PATH",
    "RANLIB",
    "SOURCE_DATE_EPOCH",
];

/// Variables that a build must not inherit: those of a `make`, git hook or `beagle cc` around us.
const FOREIGN: [&str; 9] = [
    "MAKEFLAGS",
    "MFLAGS",
    "MAKELEVEL",
    "GNUMAKEFLAGS",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_WORK_TREE",
    "GIT_PREFIX",
    lenient::LENIENT,
];

struct Build<'a> {
    label: &'a str,
    config: &'a Config,
    cache: &'a Cache,
    tools: &'a Tools,
    progress: &'a mut dyn FnMut(Progress),
}

impl Build<'_> {
    fn file(&mut self, path: &Path) -> Result<Built, BuildError> {
        let (label, config, cache, tools) = (self.label, self.config, self.cache, self.tools);
        let single = Single {
            label,
            file: path,
            config,
            cache,
            tools,
        };
        single.check()?;
        let entry = cache.entry(&single.key()?)?;
        let (finished, from_cache) = match entry.finished() {
            Some(finished) => (finished, true),
            None => (self.compile_single(&single, &entry)?, false),
        };
        Ok(self.built(&entry, finished, single.directory().to_owned(), from_cache))
    }

    fn tree(&mut self, spec: &VersionSpec) -> Result<Built, BuildError> {
        let entry = self.cache.entry(&self.tree_key(spec)?)?;
        let (finished, from_cache) = match entry.finished() {
            Some(finished) => (finished, true),
            None => (self.build_tree(spec, &entry)?, false),
        };
        let tree = entry.dir.join("tree");
        Ok(self.built(&entry, finished, tree, from_cache))
    }

    fn built(
        &mut self,
        entry: &Entry,
        finished: Finished,
        tree: PathBuf,
        from_cache: bool,
    ) -> Built {
        let label = self.label.to_owned();
        if from_cache {
            (self.progress)(Progress::Cached {
                label: label.clone(),
            });
        }
        Built {
            label,
            tree,
            program: entry.dir.join(finished.program),
            bitcode: entry.dir.join(finished.bitcode),
            missing: finished.record.missing,
            link_args: finished.record.link_args,
            log: entry.log.clone(),
            from_cache,
        }
    }

    fn compile_single(&mut self, single: &Single, entry: &Entry) -> Result<Finished, BuildError> {
        let command = format!("beagle cc {}", single.file.display());
        (self.progress)(Progress::Building {
            label: self.label.into(),
            command,
        });
        entry.clear()?;
        let program = single.compile(entry)?;
        let output = Output {
            label: self.label,
            entry,
            tree: &entry.dir,
            records: &entry.dir,
        };
        output.finish(Some(&program))
    }

    /// The key of everything that goes into the build of a tree.
    fn tree_key(&self, spec: &VersionSpec) -> Result<String, BuildError> {
        let mut parts = vec![checkout::identity(spec, &self.cache.root)?];
        parts.push(serde_json::to_string(self.config).unwrap_or_default());
        parts.extend([self.tools.identity(), self.cache.identity()]);
        parts.extend(RELEVANT.map(|name| format!("{name}={:?}", std::env::var_os(name))));
        Ok(key(parts.iter().map(String::as_bytes)))
    }

    fn build_tree(&mut self, spec: &VersionSpec, entry: &Entry) -> Result<Finished, BuildError> {
        let mut old_dialect = false;
        loop {
            (self.progress)(Progress::Preparing {
                label: self.label.into(),
            });
            entry.clear()?;
            let tree = entry.dir.join("tree");
            let notes = checkout::write(spec, &tree, &self.cache.root)?;
            let note = submodule_note(&notes);
            if let Some(text) = note.clone() {
                (self.progress)(Progress::Note {
                    label: self.label.into(),
                    text,
                });
            }
            let command = match self.method(&tree)? {
                Method::Command(command) => command,
                Method::Single(file) => {
                    let (label, config, cache, tools) =
                        (self.label, self.config, self.cache, self.tools);
                    let file = tree.join(file);
                    let single = Single {
                        label,
                        file: &file,
                        config,
                        cache,
                        tools,
                    };
                    single.check()?;
                    let program = single.compile(entry)?;
                    let output = Output {
                        label,
                        entry,
                        tree: &tree,
                        records: &entry.dir,
                    };
                    return output.finish(Some(&program));
                }
            };
            let records = entry.dir.join("records");
            let Some(failure) = self.run_command(&command, &tree, &records, entry, old_dialect)?
            else {
                let output = Output {
                    label: self.label,
                    entry,
                    tree: &tree,
                    records: &records,
                };
                return output.finish(self.config.program.as_deref());
            };
            if old_dialect || !failure.old_dialect {
                return Err(failure.into_error(self.label, note));
            }
            // The build needs what clang no longer accepts. It starts afresh, since what it
            // made so far may depend on what its checks have found.
            let text =
                "uses an old dialect of C; building it again with implicit declarations allowed"
                    .into();
            (self.progress)(Progress::Note {
                label: self.label.into(),
                text,
            });
            old_dialect = true;
        }
    }

    fn method(&self, tree: &Path) -> Result<Method, BuildError> {
        if let Some(command) = &self.config.build {
            return Ok(Method::Command(command.clone()));
        }
        detect::method(tree).map_err(|reason| BuildError::NoBuildCommand {
            label: self.label.into(),
            reason,
        })
    }

    /// Runs the build command; a failure is not yet an error.
    fn run_command(
        &mut self,
        command: &str,
        tree: &Path,
        records: &Path,
        entry: &Entry,
        old_dialect: bool,
    ) -> Result<Option<Failure>, BuildError> {
        (self.progress)(Progress::Building {
            label: self.label.into(),
            command: command.into(),
        });
        let wrappers = self.cache.wrappers()?;
        let mut log = fs_err::File::create(&entry.log).doing(|| "write the log".into())?;
        writeln!(log, "$ {command}").doing(|| "write the log".into())?;
        let mut run = Run::new("sh")
            .args(["-c", command])
            .dir(tree)
            .without_env(&FOREIGN);
        for (name, script) in [
            ("CC", "beagle-cc"),
            ("CXX", "beagle-c++"),
            ("LD", "beagle-ld"),
        ] {
            run = run.env(name, wrappers.join(script));
        }
        // Objects with bitcode are ordinary objects, so any archiver will do.
        for (name, tool) in [("AR", "ar"), ("RANLIB", "ranlib"), ("NM", "nm")] {
            if std::env::var_os(name).is_none() {
                run = run.env(
                    name,
                    in_path(tool).unwrap_or_else(|| format!("llvm-{tool}-19").into()),
                );
            }
        }
        for (name, flags) in [
            ("CFLAGS", &self.config.cflags),
            ("LDFLAGS", &self.config.ldflags),
        ] {
            if !flags.is_empty() {
                run = run.env(name, shell_words::join(flags));
            }
        }
        if std::env::var_os("SOURCE_DATE_EPOCH").is_none() {
            run = run.env("SOURCE_DATE_EPOCH", EPOCH.to_string());
        }
        if old_dialect {
            run = run.env(lenient::LENIENT, "1");
        }
        run = run
            .env(compiler::TREE, tree)
            .env(record::RECORD_DIR, records);
        let status = run.to_log(log.file()).doing(|| "run the build".into())?;
        if status.success() {
            Ok(None)
        } else {
            Failure::read(&entry.log, command).map(Some)
        }
    }
}

fn submodule_note(notes: &checkout::Notes) -> Option<String> {
    let first = notes.empty_submodules.first()?;
    Some(format!(
        "the submodule `{}` is empty; `git submodule update --init` fetches it",
        first.display()
    ))
}
