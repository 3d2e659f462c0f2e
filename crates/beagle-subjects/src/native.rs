//! Builds versions with the plain compiler and runs inputs on them: the truth is what happens
//! here, with no part of Beagle involved.

use std::collections::HashMap;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::expectation::{Observation, Outcome};
use crate::pair::Input;
use crate::process::{Finished, finish, shown};
use crate::subject::{Source, Version};

/// How long a program may run on one input.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);

/// How long a build or a whole test-suite may take.
const LONG_LIMIT: Duration = Duration::from_secs(120);

/// The compiler of all subjects.
pub(crate) const CLANG: &str = "clang-19";

/// How a version is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flavour {
    /// As a user would.
    Plain,
    /// Without optimisation, as by a compiler that gets no flags: one that optimises may drop a loop
    /// that never ends.
    Bare,
    /// With address and undefined-behaviour sanitizers, the first error of which is the end.
    Sanitized,
}

impl Flavour {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Plain | Self::Bare => &[],
            Self::Sanitized => &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
        }
    }
}

/// Builds the version inside `dir`, which should be empty, and returns the program's path.
pub fn build(version: &Version, flavour: Flavour, dir: &Path) -> Result<PathBuf> {
    match &version.source {
        Source::File(file) => {
            let program = dir.join("program");
            let mut command = Command::new(CLANG);
            if flavour != Flavour::Bare {
                command.arg("-O1");
            }
            command
                .args(["-g", "-std=gnu11", "-w"])
                .args(flavour.flags());
            command
                .arg("-o")
                .arg(&program)
                .arg(file)
                .args(&version.ldflags);
            succeed(version, &mut command)?;
            Ok(program)
        }
        Source::Directory { path, program } => {
            let mut command = make(path, dir, flavour.flags())?;
            succeed(version, &mut command)?;
            let built = dir.join(program);
            if !built.is_file() {
                let what = format!("`make` leaves no program {}", program.display());
                return Err(Error::invalid(path, what));
            }
            Ok(built)
        }
    }
}

/// What the compiler has to say about the version with `-Wall -Wextra`; empty if nothing.
pub fn warnings(version: &Version) -> Result<String> {
    let log = match &version.source {
        Source::File(file) => {
            let mut command = Command::new(CLANG);
            command
                .args(["-fsyntax-only", "-std=gnu11", "-Wall", "-Wextra"])
                .arg(file);
            succeed(version, &mut command)?.stderr
        }
        Source::Directory { path, .. } => {
            let dir = TempDir::new()?;
            let mut command = make(path, dir.path(), &["-Wall", "-Wextra"])?;
            succeed(version, &mut command)?.stderr
        }
    };
    Ok(String::from_utf8_lossy(&log).into_owned())
}

/// `make` in a copy of the directory. The flags go into `CC`, because a `CFLAGS` given to make
/// would take away the include paths that the Makefile puts there.
fn make(source: &Path, copy: &Path, flags: &[&str]) -> Result<Command> {
    copy_dir(source, copy)?;
    let compiler = [&[CLANG], flags].concat().join(" ");
    let mut command = Command::new("make");
    command
        .arg("-s")
        .arg("-C")
        .arg(copy)
        .arg(format!("CC={compiler}"));
    Ok(command)
}

fn succeed(version: &Version, command: &mut Command) -> Result<Finished> {
    // The caller's make, if there is one, is not this one's business.
    command
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .env("LC_ALL", "C");
    let ended = finish(command, b"", LONG_LIMIT)?;
    if ended.status.success() {
        return Ok(ended);
    }
    let (version, command) = (version.path().to_owned(), shown(command));
    Err(Error::Build {
        version,
        command,
        log: ended.log(),
    })
}

/// Copies all files of a directory into another one, which is created if need be.
pub(crate) fn copy_dir(from: &Path, to: &Path) -> Result<()> {
    fs_err::create_dir_all(to)?;
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_dir(&path, &copy)?;
        } else {
            fs_err::copy(&path, &copy)?;
        }
    }
    Ok(())
}

/// Runs the program on the input, in a working directory of its own that holds nothing but the
/// input's files, and with an environment of nothing but `PATH`, `LC_ALL=C`, an option of the
/// sanitizers and the input's.
///
/// `name` is what the program is told to be called, so that messages of two versions that start
/// with it can be compared.
pub fn run(program: &Path, name: &str, input: &Input) -> Result<Observation> {
    let dir = TempDir::new()?;
    for (file, bytes) in &input.files {
        let path = dir.path().join(file);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::write(&path, bytes)?;
    }
    let mut command = Command::new(program);
    command.arg0(name).args(&input.args).current_dir(dir.path());
    plain_environment(&mut command);
    command.envs(&input.env);
    let ended = finish(&mut command, &input.stdin, TIME_LIMIT)?;
    Ok(Observation {
        outcome: outcome(&ended),
        stdout: ended.stdout,
        stderr: ended.stderr,
    })
}

/// Runs a subject's own test-suite on a program; what it printed is the `stdout`.
pub fn check(script: &Path, program: &Path) -> Result<Observation> {
    let dir = TempDir::new()?;
    let mut command = Command::new("sh");
    command
        .arg(script.canonicalize()?)
        .arg(program)
        .current_dir(dir.path());
    plain_environment(&mut command);
    let ended = finish(&mut command, b"", LONG_LIMIT)?;
    Ok(Observation {
        outcome: outcome(&ended),
        stdout: ended.stdout,
        stderr: ended.stderr,
    })
}

fn plain_environment(command: &mut Command) {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    command.env_clear().env("PATH", path).env("LC_ALL", "C");
    // Whether leaks can be looked for depends on the machine (the checker traces the program).
    command.env("ASAN_OPTIONS", "detect_leaks=0");
}

fn outcome(ended: &Finished) -> Outcome {
    match (ended.timed_out, ended.status.code(), ended.status.signal()) {
        (true, _, _) => Outcome::TimedOut,
        (false, Some(code), _) => Outcome::Exit(code),
        (false, None, Some(number)) => Outcome::Signal(number),
        (false, None, None) => unreachable!("a process that ended has a code or a signal"),
    }
}

/// Builds each version once, however many threads ask for it, and keeps the programs until it is
/// dropped.
pub struct Workshop {
    dir: TempDir,
    built: Mutex<HashMap<(Version, Flavour), Slot>>,
}

/// Filled by the first who asks. Errors are shared, as many may ask for what does not build.
type Slot = Arc<OnceLock<Result<PathBuf, Arc<Error>>>>;

impl Workshop {
    /// An empty workshop in a temporary directory.
    pub fn new() -> Result<Self> {
        Ok(Self {
            dir: TempDir::new()?,
            built: Mutex::default(),
        })
    }

    /// The program of the version, built now if it was not before.
    pub fn program(&self, version: &Version, flavour: Flavour) -> Result<PathBuf, Arc<Error>> {
        let slot = {
            // Nothing that can panic happens while the lock is held.
            let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
            built.entry((version.clone(), flavour)).or_default().clone()
        };
        slot.get_or_init(|| {
            let dir = TempDir::new_in(self.dir.path())
                .map_err(Error::from)?
                .keep();
            Ok(build(version, flavour, &dir)?)
        })
        .clone()
    }
}
