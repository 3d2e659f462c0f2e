//! A version pair and the truth about it: what changed, and inputs that do and do not show it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::expectation::{Expected, quoted};
use crate::subject::Version;

/// Two versions of a subject.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The name of its directory.
    pub name: String,
    /// Its directory.
    pub dir: PathBuf,
    /// What sort of change it is.
    pub kind: Kind,
    /// What the change does, in a sentence.
    pub summary: String,
    /// The version before the change.
    pub old: Version,
    /// The version after it.
    pub new: Version,
    /// The version after it as it should have been, if new has a mistake beside what was wanted.
    pub golden: Option<Version>,
    /// The functions whose code changed, exactly; names as in `new`, deleted ones as in `old`.
    pub changed_functions: Vec<String>,
    /// The globals whose initialisers changed, exactly.
    pub changed_globals: Vec<String>,
    /// The textual hunks (numbered from 1, see [`crate::hunks`]) that make the difference: several
    /// that are wrong only together, or one that is alone.
    pub culprits: Vec<usize>,
    /// The culprits of an interaction in the order in which they act on the inputs that differ.
    pub sequence: Vec<usize>,
    /// Inputs on which the versions behave differently.
    pub differs: Vec<Difference>,
    /// Inputs on which they behave the same.
    pub agrees: Vec<Input>,
}

/// What sort of change a pair is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A plausible mistake: new is wrong on some inputs.
    Regression,
    /// Old is wrong on some inputs, new is right.
    Fix,
    /// No input shows a difference.
    Refactoring,
    /// Intended new behaviour, with or without a mistake behind it.
    Feature,
    /// Several hunks, each harmless alone, that are wrong together.
    Interaction,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Regression,
        Self::Fix,
        Self::Refactoring,
        Self::Feature,
        Self::Interaction,
    ];
}

/// An input on which the versions of a pair behave differently, and how.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The input.
    pub input: Input,
    /// Whether old is right and new is wrong on it.
    pub regression: bool,
    /// If set, only builds with sanitizers show the difference.
    pub sanitizer: Option<Sanitizer>,
    /// What old does.
    pub old: Expected,
    /// What new does.
    pub new: Expected,
}

/// The sanitizer that reports an error. Builds always have both of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sanitizer {
    /// Memory errors.
    Address,
    /// Undefined behaviour.
    Undefined,
}

/// All that a program is given for a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Input {
    /// The arguments, without the program's name.
    pub args: Vec<OsString>,
    /// Standard input.
    pub stdin: Vec<u8>,
    /// The files in its working directory, by relative path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Environment variables beside the fixed ones.
    pub env: BTreeMap<String, String>,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "args {:?}, stdin {}", self.args, quoted(&self.stdin))?;
        for (name, bytes) in &self.files {
            write!(f, ", file {name} {}", quoted(bytes))?;
        }
        for (name, value) in &self.env {
            write!(f, ", {name}={value:?}")?;
        }
        Ok(())
    }
}
