//! What can be seen of one run from outside.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// It exited with this status.
    Exit(i32),
    /// This signal ended it.
    Signal(i32),
    /// It did not end in time.
    TimedOut,
    /// It was stopped because it made more processes than are allowed.
    TooManyProcesses,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(status) => write!(f, "exit {status}"),
            Self::Signal(number) => match signal_name(*number) {
                Some(name) => write!(f, "signal {name}"),
                None => write!(f, "signal {number}"),
            },
            Self::TimedOut => f.write_str("timed out"),
            Self::TooManyProcesses => f.write_str("too many processes"),
        }
    }
}

fn signal_name(number: i32) -> Option<&'static str> {
    nix::sys::signal::Signal::try_from(number)
        .ok()
        .map(nix::sys::signal::Signal::as_str)
}

/// What a run wrote to standard output or standard error.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// The first bytes.
    pub bytes: Vec<u8>,
    /// How many there were in all.
    pub length: u64,
    /// The BLAKE3 hash of all of them.
    pub hash: [u8; 32],
}

impl Stream {
    /// Whether there were more bytes than are kept.
    pub fn truncated(&self) -> bool {
        self.length > self.bytes.len() as u64
    }
}

impl From<Vec<u8>> for Stream {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            length: bytes.len() as u64,
            hash: *blake3::hash(&bytes).as_bytes(),
            bytes,
        }
    }
}

impl Default for Stream {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.bytes.escape_ascii())?;
        if self.truncated() {
            write!(f, "… ({} bytes)", self.length)?;
        }
        Ok(())
    }
}

/// What lies at a path of the working directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entry {
    /// A regular file.
    File {
        /// Its permissions.
        mode: u32,
        /// Its content.
        content: Stream,
    },
    /// A directory.
    Directory {
        /// Its permissions.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Where it leads.
        target: Vec<u8>,
    },
    /// A pipe, socket or device.
    Special,
}

/// What happened to a path of the working directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// It was not there before.
    Created(Entry),
    /// It was another before.
    Changed(Entry),
    /// It is not there any more.
    Deleted,
}

/// A path of the working directory that a run changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The path, from the working directory.
    pub path: Vec<u8>,
    /// What happened to it.
    pub effect: Effect,
}

/// An error that a sanitizer has found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Its kind, as the sanitizer names it: `heap-buffer-overflow`, `signed-integer-overflow`.
    pub kind: String,
    /// The file and line in the program, if known.
    pub place: Option<String>,
    /// The function of the program, if known.
    pub function: Option<String>,
    /// The report.
    pub text: String,
}

impl Fault {
    /// Whether this is the same error in another version. Lines move with every change, so the
    /// function counts where it is known.
    pub fn is_like(&self, other: &Self) -> bool {
        self.key() == other.key()
    }

    /// What tells errors apart.
    pub fn key(&self) -> String {
        let place = self.function.as_ref().or(self.place.as_ref());
        match place {
            Some(place) => format!("{}@{place}", self.kind),
            None => self.kind.clone(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if let Some(function) = &self.function {
            write!(f, " in {function}")?;
        }
        if let Some(place) = &self.place {
            write!(f, " at {place}")?;
        }
        Ok(())
    }
}

/// What one run did, before anything is normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// How it ended.
    pub end: End,
    /// Standard output.
    pub stdout: Stream,
    /// Standard error.
    pub stderr: Stream,
    /// What it did to its working directory, by path.
    pub files: Vec<FileChange>,
    /// What the sanitizers say, if there is a build with them.
    pub fault: Option<Fault>,
    /// How long it took.
    pub time: Duration,
    /// What is different in every run, for the comparison.
    pub(crate) circumstances: Circumstances,
}

/// What is different in every run although nothing differs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Circumstances {
    /// The number of the process.
    pub pid: u32,
    /// The seconds since 1970 at the start and at the end.
    pub clock: (u64, u64),
}
