//! What is run, and how.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::keeper;
use crate::rules::Rules;

/// One version of the program.
#[derive(Debug, Clone)]
pub struct Version {
    /// What people call it.
    pub label: String,
    /// The program, built with the user's own flags.
    pub plain: PathBuf,
    /// The program with address and undefined-behaviour sanitizers, if there is one yet.
    pub sanitized: Option<PathBuf>,
}

/// Which of the versions is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Which {
    /// The version before the change.
    Old,
    /// The version after it.
    New,
    /// The version that is right.
    Golden,
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Old => "old",
            Self::New => "new",
            Self::Golden => "golden",
        })
    }
}

/// What a run may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The time by the clock.
    pub time: Duration,
    /// The address space of each process, in bytes.
    pub memory: u64,
    /// How many processes and threads there may be at a time.
    pub processes: u64,
    /// The size of the largest file, in bytes.
    pub file_size: u64,
    /// How many bytes of each stream, and of each file, are kept.
    pub output: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(5),
            memory: 2 << 30,
            processes: 128,
            file_size: 64 << 20,
            output: 256 << 10,
        }
    }
}

/// How to start the keeper: an executable that calls [`crate::keeper::main`] when it gets these
/// arguments.
#[derive(Debug, Clone)]
pub struct KeeperCommand {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl KeeperCommand {
    /// The executable that runs now. It has to ask [`crate::keeper::is_called`] first of all.
    pub fn of_this_executable() -> io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            arguments: vec![keeper::NAME.into()],
        })
    }
}

/// What stays the same for all runs.
#[derive(Debug, Clone)]
pub struct Setting {
    /// How to start the keeper.
    pub keeper: KeeperCommand,
    /// The name that the program sees, if the input has no arguments.
    pub argv0: OsString,
    /// A tree that is copied into the working directory before each run.
    pub fixture: Option<PathBuf>,
    /// Environment variables besides `PATH`, `HOME`, `TMPDIR`, `LC_ALL` and `TZ`.
    pub environment: Vec<(OsString, OsString)>,
    /// What a run may use.
    pub limits: Limits,
    /// What does not count as a difference.
    pub normalise: Rules,
    /// How often each version is run before a difference counts.
    pub repeats: u32,
    /// Do without new namespaces even if the system has them.
    pub without_namespaces: bool,
}

impl Setting {
    /// The usual setting for a program of this name.
    pub fn new(keeper: KeeperCommand, argv0: impl Into<OsString>) -> Self {
        Self {
            keeper,
            argv0: argv0.into(),
            fixture: None,
            environment: Vec::new(),
            limits: Limits::default(),
            normalise: Rules::default(),
            repeats: 3,
            without_namespaces: false,
        }
    }
}
