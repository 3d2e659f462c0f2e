//! Building a tree with its own build system.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::build::{Progress, Task};
use crate::cache::{Entry, Finished, key};
use crate::checkout::{self, EPOCH};
use crate::detect::{self, Method};
use crate::error::Doing;
use crate::log::Failure;
use crate::process::Run;
use crate::program::Output;
use crate::single::Single;
use crate::tools::{LLVM_MAJOR, in_path};
use crate::{BuildError, VersionSpec, compiler, lenient, record, recorder, sanitize};

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

/// Variables that a build must not inherit: those of a `make`, git hook or build around us.
pub(crate) const FOREIGN: [&str; 9] = [
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

/// A tree to build.
pub(crate) struct Tree<'a> {
    pub task: Task<'a>,
    pub spec: &'a VersionSpec,
}

/// How a build went.
pub(crate) enum Attempt {
    /// It made the program of this name, or some program.
    Made(Option<PathBuf>),
    /// It failed, which may be for its dialect.
    Failed(Failure),
}

/// Where links leave copies of their records.
fn records(entry: &Entry) -> PathBuf {
    entry.dir.join("records")
}

impl Tree<'_> {
    /// The key of everything that goes into the build.
    pub fn key(&self) -> Result<String, BuildError> {
        let mut parts = vec![checkout::identity(self.spec, &self.task.cache.root)?];
        parts.extend(self.circumstances());
        Ok(key(parts.iter().map(String::as_bytes)))
    }

    /// What goes into the build besides the sources.
    pub fn circumstances(&self) -> Vec<String> {
        let Task {
            config,
            cache,
            tools,
            ..
        } = self.task;
        let mut parts = vec![serde_json::to_string(config).unwrap_or_default()];
        parts.extend([tools.identity(), cache.identity()]);
        parts.push(format!("{:?}", self.task.flavour));
        parts.extend(RELEVANT.map(|name| format!("{name}={:?}", std::env::var_os(name))));
        parts
    }

    /// Builds it at `root`, in the cache.
    pub fn build(
        &self,
        entry: &Entry,
        root: &Path,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Finished, BuildError> {
        let label = || self.task.label.to_owned();
        let mut old_dialect = false;
        loop {
            progress(Progress::Preparing { label: label() });
            entry.clear()?;
            let notes = checkout::write(self.spec, root, &self.task.cache.root)?;
            let note = notes.empty_submodules.first().map(|path| {
                let path = path.display();
                format!("the submodule `{path}` is empty; `git submodule update --init` fetches it")
            });
            if let Some(text) = note.clone() {
                progress(Progress::Note {
                    label: label(),
                    text,
                });
            }
            let failure = match self.attempt(entry, root, old_dialect, progress)? {
                Attempt::Made(program) => {
                    return self.output(entry, root).finish(program.as_deref());
                }
                Attempt::Failed(failure) => failure,
            };
            if old_dialect || !failure.old_dialect {
                return Err(failure.into_error(self.task.label, note));
            }
            // The build needs what clang no longer accepts. It starts afresh, since what it
            // made so far may depend on what its checks have found.
            old_dialect = true;
            let text = "uses an old dialect of C; building again with its errors turned off".into();
            progress(Progress::Note {
                label: label(),
                text,
            });
        }
    }

    fn method(&self, root: &Path) -> Result<Method, BuildError> {
        if let Some(command) = &self.task.config.build {
            return Ok(Method::Command(command.clone()));
        }
        let label = self.task.label.to_owned();
        detect::method(root).map_err(|reason| BuildError::NoBuildCommand { label, reason })
    }

    /// Builds what is at `root` now, whatever was built there before.
    pub fn attempt(
        &self,
        entry: &Entry,
        root: &Path,
        old_dialect: bool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Attempt, BuildError> {
        let command = match self.method(root)? {
            Method::Command(command) => command,
            Method::Single(file) => {
                let single = Single {
                    task: self.task,
                    file: &root.join(file),
                };
                single.check()?;
                return Ok(Attempt::Made(Some(single.compile(entry, progress)?)));
            }
        };
        progress(Progress::Building {
            label: self.task.label.to_owned(),
            command: command.clone(),
        });
        let failure = self.run(&command, entry, root, &records(entry), old_dialect)?;
        Ok(match failure {
            Some(failure) => Attempt::Failed(failure),
            None => Attempt::Made(self.task.config.program.clone()),
        })
    }

    /// What a build at `root` has made.
    pub fn output<'o>(&'o self, entry: &'o Entry, root: &'o Path) -> Output<'o> {
        Output {
            task: self.task,
            entry,
            tree: root,
            records: records(entry),
        }
    }

    /// Runs the build command; that it fails is not yet an error.
    fn run(
        &self,
        command: &str,
        entry: &Entry,
        root: &Path,
        records: &Path,
        old_dialect: bool,
    ) -> Result<Option<Failure>, BuildError> {
        let mut log = fs_err::File::create(&entry.log).doing(|| "write the log".into())?;
        writeln!(log, "$ {command}").doing(|| "write the log".into())?;
        let mut run = Run::new("sh")
            .args(["-c", command])
            .dir(root)
            .without_env(&FOREIGN);
        for (name, value) in self.environment()? {
            run = run.env(name, value);
        }
        if old_dialect {
            run = run.env(lenient::LENIENT, "1");
        }
        let run = run
            .env(compiler::TREE, root)
            .env(record::RECORD_DIR, records);
        let run = sanitize::environment(run, self.task.flavour);
        let run = recorder::environment(run, &self.task, &entry.dir)?;
        let status = self.task.log(run, log.file());
        let status = status.doing(|| "run the build".into())?;
        if status.success() {
            Ok(None)
        } else {
            Failure::read(&entry.log, command).map(Some)
        }
    }

    /// The variables that are set for all builds.
    pub fn environment(&self) -> Result<Vec<(&'static str, String)>, BuildError> {
        let Task { config, cache, .. } = self.task;
        let wrappers = cache.wrappers()?;
        let wrapper = |name: &str| wrappers.join(name).display().to_string();
        let mut variables = vec![
            ("CC", wrapper("clang")),
            ("CXX", wrapper("clang++")),
            ("LD", wrapper("ld")),
        ];
        for (name, flags) in [("CFLAGS", &config.cflags), ("LDFLAGS", &config.ldflags)] {
            if !flags.is_empty() {
                variables.push((name, shell_words::join(flags)));
            }
        }
        // Objects with bitcode are ordinary objects, so any archiver will do.
        let tool = |name: &str| match in_path(name) {
            Some(path) => path.display().to_string(),
            None => format!("llvm-{name}-{LLVM_MAJOR}"),
        };
        // As OSS-Fuzz has it: what a fuzz target is linked with.
        let entries = cache.entries()?;
        let driver = entries.join("driver.c");
        let driver = shell_words::quote(&driver.to_string_lossy()).into_owned();
        let mut headers = entries.into_os_string();
        if let Some(others) = std::env::var_os("C_INCLUDE_PATH") {
            headers = [others, headers].join(":".as_ref());
        }
        variables.extend([
            ("LIB_FUZZING_ENGINE", format!("-x c {driver} -x none")),
            ("C_INCLUDE_PATH", headers.to_string_lossy().into_owned()),
        ]);
        let defaults = [
            ("AR", tool("ar")),
            ("RANLIB", tool("ranlib")),
            ("NM", tool("nm")),
            ("SOURCE_DATE_EPOCH", EPOCH.to_string()),
        ];
        variables.extend(
            defaults
                .into_iter()
                .filter(|(name, _)| std::env::var_os(name).is_none()),
        );
        Ok(variables)
    }
}
