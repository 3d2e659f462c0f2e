//! What was found between two versions, as `beagle diff` shows it.
//!
//! The types here are the JSON format, which docs/diff-json.md describes; [`SCHEMA`] changes when
//! they do. They are plain data: whoever searched and judged fills them in.

mod bytes;
mod input;
mod sequences;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::blame::Culprits;
use crate::coverage::Tests;
use crate::explain::Explanation;

pub use bytes::Bytes;
pub use input::InputEntry;
pub use sequences::{CriticalEntry, SequenceEntry, Sequences};

/// The version of the JSON format.
pub const SCHEMA: u32 = 1;

/// The whole report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What came out.
    pub verdict: Verdict,
    /// Why the search ended.
    pub reason: Reason,
    /// What the user called the old version.
    pub old: String,
    /// What the user called the new version.
    pub new: String,
    /// What the user called the version that is known to be right.
    pub golden: Option<String>,
    /// The name of the program, as it is shown in commands.
    pub program: String,
    /// How many times the programs ran to search; runs that confirm are not counted.
    pub runs: u64,
    /// How many questions the solver got.
    pub queries: u64,
    /// How long it took, from the command to the report.
    pub seconds: f64,
    /// How long it took until the first difference was confirmed.
    pub seconds_to_first: Option<f64>,
    /// The number of the run of the search that was the first to execute a change.
    pub runs_to_reach: Option<u64>,
    /// The number of the run in which the effect of a change was first seen.
    pub runs_to_infect: Option<u64>,
    /// The number of the run of the search that gave the first confirmed difference.
    pub runs_to_first: Option<u64>,
    /// From how many inputs the search started.
    pub seeds: u64,
    /// How far the user's own inputs get, if there were any.
    pub tests: Option<Tests>,
    /// Confirmed differences, worst first.
    pub differences: Vec<DifferenceEntry>,
    /// Differences with the same cause, worst first.
    pub groups: Vec<GroupEntry>,
    /// What changed in meaning, and how far it got.
    pub changes: Vec<ChangeEntry>,
    /// In which orders the changes were executed, if there are several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sequences: Option<Sequences>,
    /// Inputs on which the versions go different ways and nothing else shows it.
    pub divergences: u64,
    /// Inputs on which a version does not do the same each time.
    pub unstable: Vec<UnstableEntry>,
    /// What could not be followed.
    pub losses: Vec<LossEntry>,
    /// What would have to be known to say `equivalent`; empty if it is said.
    pub missing: Vec<String>,
    /// What each way to search has brought.
    pub strategies: Vec<StrategyEntry>,
    /// How the programs were kept from doing harm.
    pub isolation: String,
    /// Other things that the user should know, such as a sanitizer that could not be used.
    pub notes: Vec<String>,
    /// Where tests were saved.
    pub saved: Option<String>,
}

/// What came out of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// At least one difference was confirmed.
    Different,
    /// No input of the given shape distinguishes the versions.
    Equivalent,
    /// None was found, but there may be one.
    NoneFound,
}

/// Why the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Nothing in the program changed in meaning.
    Unchanged,
    /// Everything there was to try has been tried.
    Exhausted,
    /// The time was over.
    Timeout,
    /// As many runs as allowed were made.
    MaxRuns,
    /// As many questions as allowed were asked.
    MaxQueries,
    /// The first difference was all that was asked for.
    First,
    /// The user stopped it.
    Interrupted,
}

/// What kind of difference it is. The order is that of the report, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Only new crashes, or does what a sanitizer objects to.
    Crash,
    /// Only new does not end.
    Hang,
    /// Old does what golden does, new does not.
    Regression,
    /// Neither does what golden does.
    IncompleteFix,
    /// Standard output, files or the exit status differ.
    Output,
    /// Only the text on standard error differs.
    Message,
    /// New does what golden does, old does not.
    Progression,
    /// Only old crashes, does not end, or does what a sanitizer objects to.
    Fix,
}

impl Class {
    /// Whether new is worse than old; `None` if only the user can tell.
    pub fn regression(self) -> Option<bool> {
        match self {
            Class::Crash | Class::Hang | Class::Regression => Some(true),
            Class::IncompleteFix | Class::Progression | Class::Fix => Some(false),
            Class::Output | Class::Message => None,
        }
    }
}

/// What of a run differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// The exit status.
    Exit,
    /// The signal that ended it, or that one did.
    Signal,
    /// That one did not end in time.
    Time,
    /// What a sanitizer objects to.
    Fault,
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Files that were written, changed or deleted.
    Files,
}

/// An input on which the versions differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferenceEntry {
    /// Its number, from 1.
    pub id: usize,
    /// What kind of difference it is.
    pub class: Class,
    /// Whether new is worse than old; `null` if only the user can tell.
    pub regression: Option<bool>,
    /// What differs.
    pub aspects: Vec<Aspect>,
    /// The input.
    pub input: InputEntry,
    /// What old did.
    pub old: ObservedEntry,
    /// What new did.
    pub new: ObservedEntry,
    /// What golden did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub golden: Option<ObservedEntry>,
    /// The changes that it comes from, by id.
    pub changes: Vec<usize>,
    /// The group that it belongs to, by id.
    pub group: usize,
    /// The directory of the saved test.
    pub saved: Option<String>,
    /// In how many runs of each version it was seen.
    pub confirmed: u32,
}

/// What one run did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ObservedEntry {
    /// Standard output, or its beginning.
    #[serde(rename = "stdout_b64")]
    pub stdout: Bytes,
    /// Whether there was more of it.
    #[serde(default)]
    pub stdout_cut: bool,
    /// Standard error, or its beginning.
    #[serde(rename = "stderr_b64")]
    pub stderr: Bytes,
    /// Whether there was more of it.
    #[serde(default)]
    pub stderr_cut: bool,
    /// The exit status, if it ended by itself.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was stopped because it took too long.
    pub timed_out: bool,
    /// What a sanitizer objected to.
    pub fault: Option<FaultEntry>,
    /// What it did to files, by path from where it ran. Bytes that are no text are escaped in the
    /// path.
    pub files: BTreeMap<String, FileEntry>,
}

/// What a sanitizer objected to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultEntry {
    /// Such as `heap-buffer-overflow`.
    pub kind: String,
    /// Where: `file:line`.
    pub place: Option<String>,
    /// In which function.
    pub function: Option<String>,
    /// What the sanitizer said.
    pub text: String,
}

/// What a run did to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FileEntry {
    /// It was written.
    Written {
        /// What is in it, or the beginning.
        #[serde(rename = "content_b64")]
        content: Bytes,
        /// Whether there is more.
        #[serde(default)]
        cut: bool,
        /// Its permissions.
        mode: u32,
    },
    /// It is a directory that was made.
    Directory {
        /// Its permissions.
        mode: u32,
    },
    /// It is a link that was made.
    Link {
        /// Where it leads; bytes that are no text are escaped.
        target: String,
    },
    /// It was deleted.
    Deleted,
}

/// Differences with the same cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupEntry {
    /// Its number, from 1.
    pub id: usize,
    /// What kind of differences these are.
    pub class: Class,
    /// How many inputs showed it.
    pub count: u64,
    /// What it is, in a few words.
    pub title: String,
    /// The changes that it comes from, by id.
    pub changes: Vec<usize>,
    /// The hunks that it takes, if they were looked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub culprits: Option<Culprits>,
    /// The changes that it takes, in order, if there are several in all and it can be told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub critical: Option<CriticalEntry>,
    /// Why the versions differ, if that was explained.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub explanation: Option<Explanation>,
}

/// A change, and how far its effect got.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeEntry {
    /// Its number, from 1, as in `beagle changes`.
    pub id: usize,
    /// The file: of new, unless it is only in old.
    pub file: String,
    /// The line there, from 1.
    pub line: u32,
    /// The function or global variable that it is in.
    pub function: Option<String>,
    /// `added`, `deleted` or `modified`.
    pub kind: String,
    /// The changed lines of old.
    pub old_lines: Vec<LineEntry>,
    /// The changed lines of new.
    pub new_lines: Vec<LineEntry>,
    /// Whether a run came there.
    pub reached: bool,
    /// Whether a value differed after it.
    pub infected: bool,
    /// Whether an output differed.
    pub propagated: bool,
    /// Where its effect was lost, in the run in which it got furthest; `null` if it got through
    /// or there was none.
    pub stopped_at: Option<StopEntry>,
}

/// A line of source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineEntry {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What stands there.
    pub text: String,
}

/// Where the effect of a change was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopEntry {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// How.
    pub why: String,
}

/// What could not be followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossEntry {
    /// What it was.
    pub cause: String,
    /// How often it came up.
    pub count: u64,
}

/// What a way to search has brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrategyEntry {
    /// Its name, as in `--strategy`.
    pub name: String,
    /// How many questions it asked.
    pub queries: u64,
    /// How many of them had an input as answer.
    pub answered: u64,
    /// How many runs it made.
    pub runs: u64,
    /// How many differences it found.
    pub differences: u64,
    /// How many questions it kept from being asked, as they could not lead to a difference.
    #[serde(default)]
    pub pruned: u64,
}

/// An input on which a version does not do the same each time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnstableEntry {
    /// The input.
    pub input: InputEntry,
    /// The label of the version.
    pub version: String,
    /// What differs from run to run.
    pub aspects: Vec<Aspect>,
    /// On how many inputs the same was seen.
    pub count: u64,
}

impl Report {
    /// A report on a search that has not begun.
    pub fn new(old: impl Into<String>, new: impl Into<String>, program: impl Into<String>) -> Self {
        Self {
            schema: SCHEMA,
            verdict: Verdict::NoneFound,
            reason: Reason::Exhausted,
            old: old.into(),
            new: new.into(),
            golden: None,
            program: program.into(),
            runs: 0,
            queries: 0,
            seconds: 0.0,
            seconds_to_first: None,
            runs_to_reach: None,
            runs_to_infect: None,
            runs_to_first: None,
            seeds: 0,
            tests: None,
            differences: Vec::new(),
            groups: Vec::new(),
            changes: Vec::new(),
            sequences: None,
            divergences: 0,
            unstable: Vec::new(),
            losses: Vec::new(),
            missing: Vec::new(),
            strategies: Vec::new(),
            isolation: String::new(),
            notes: Vec::new(),
            saved: None,
        }
    }

    /// The report for machines.
    pub fn json(&self) -> String {
        // Nothing in it can fail to be written: keys are strings, numbers are finite.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Whether code that changed was not looked at, or could not be judged.
    pub fn is_inconclusive(&self) -> bool {
        self.changes.iter().any(|change| !change.reached) || !self.unstable.is_empty()
    }
}
