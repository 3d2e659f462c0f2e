//! Why two versions differ on an input, as `beagle explain` and `beagle diff` show it.
//!
//! The types here are the JSON format, which docs/explain.md describes; [`SCHEMA`] changes when they do.

use std::fmt::{self, Write};

use anstyle::{AnsiColor, Style};
use serde::{Deserialize, Serialize};

use crate::diff::{Bytes, InputEntry};
use crate::diff_text::{Columns, Row, cut, visible, write_differs, write_field, write_input};
use crate::fit::count;

/// The name and version of the JSON format.
pub const SCHEMA: &str = "beagle.explain/1";

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const UNCLEAR: Style = AnsiColor::Yellow.on_default().bold();

/// So many lines are shown to people.
const CAUSES: usize = 5;
/// So much of what speaks for a line is shown.
const EVIDENCE: usize = 4;

/// The whole report of `beagle explain`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// What the user called the old version.
    pub old: String,
    /// What the user called the new version.
    pub new: String,
    /// The name of the program, as it is shown in commands.
    pub program: String,
    /// The input.
    pub input: InputEntry,
    /// What differs between the versions; nothing if they do the same.
    pub aspects: Vec<String>,
    /// Whether a version did not do the same each time, so that nothing can be said.
    pub unstable: bool,
    /// The explanation; empty if there is no difference.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// How long it took, from the command to the report.
    pub seconds: f64,
}

/// Why two versions differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The story in words, a sentence each.
    pub story: Vec<String>,
    /// The lines to read, the first first.
    pub causes: Vec<CauseEntry>,
    /// Inputs that are near to this one, the best first.
    pub alternates: Vec<AlternateEntry>,
    /// What was cut short or could not be followed.
    pub notes: Vec<String>,
}

/// A line that may be the cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CauseEntry {
    /// From 1.
    pub rank: usize,
    /// `old` or `new`.
    pub version: String,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What stands there.
    pub text: String,
    /// The function that it is in.
    pub function: Option<String>,
    /// The number of the hunk that it belongs to, from 1; `null` if the line did not change.
    pub hunk: Option<usize>,
    /// What speaks for it and against it.
    pub evidence: Vec<EvidenceEntry>,
}

/// Something that speaks for a line, or against it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceEntry {
    /// Such as `changed`, `parting`, `value`, `alternate`, `blame`.
    pub kind: String,
    /// In words.
    pub text: String,
}

/// An input that is near to the one that is explained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlternateEntry {
    /// The input.
    pub input: InputEntry,
    /// How many bytes differ.
    pub bytes: usize,
    /// Whether the real versions do the same on it.
    pub agrees: bool,
    /// The version in which it goes another way: `old` or `new`.
    pub version: String,
    /// Whether the other version goes the same way as before.
    pub same_way: bool,
    /// Where it is decided differently, in order.
    pub branches: Vec<BranchEntry>,
}

/// A branch that an alternate input takes to another side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchEntry {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What happens there with the input that is explained.
    pub explained: String,
    /// What happens there with the alternate.
    pub alternate: String,
}

impl Report {
    /// The report for machines.
    pub fn json(&self) -> String {
        // Nothing in it can fail to be written: keys are strings, numbers are finite.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// The report for people, with colours that the caller may strip. `status` says what the exit
    /// status means.
    pub fn text(&self, width: usize, status: &str) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out, width.clamp(60, 200), status);
        out
    }

    fn write(&self, out: &mut String, width: usize, status: &str) -> fmt::Result {
        write_input(out, &self.input, &self.program, None, width)?;
        write_differs(out, &self.aspects, self.unstable, (&self.old, &self.new))?;
        self.explanation.write(out, &self.input, width)?;
        for note in &self.explanation.notes {
            writeln!(out, "{UNCLEAR}note{UNCLEAR:#}: {note}")?;
        }
        writeln!(out, "{status}")
    }
}

/// So many lines are shown where explanations are not all there is.
const FEW: usize = 2;

impl Explanation {
    /// Writes it after what the versions do.
    pub(crate) fn write_short(
        &self,
        out: &mut String,
        input: &InputEntry,
        width: usize,
    ) -> fmt::Result {
        write_story(out, self.story.get(1..).unwrap_or_default(), width)?;
        for cause in self.causes.iter().take(FEW) {
            cause.write(out, width)?;
        }
        match self.alternates.first().filter(|it| it.agrees) {
            Some(alternate) => alternate.write(out, input, width),
            None => Ok(()),
        }
    }

    /// Writes all of it but the notes.
    fn write(&self, out: &mut String, input: &InputEntry, width: usize) -> fmt::Result {
        write_story(out, &self.story, width)?;
        for cause in self.causes.iter().take(CAUSES) {
            cause.write(out, width)?;
        }
        if self.causes.len() > CAUSES {
            let more = count(self.causes.len() - CAUSES, "more line");
            write_field(out, "", &format!("{DIM}… {more} in --format json{DIM:#}"))?;
        }
        match self.alternates.first() {
            Some(alternate) => alternate.write(out, input, width),
            None => Ok(()),
        }
    }
}

/// Writes sentences, each on lines of its own.
fn write_story(out: &mut String, story: &[String], width: usize) -> fmt::Result {
    let mut label = "why";
    for line in story.iter().flat_map(|it| wrapped(it, width - 13)) {
        write_field(out, label, &line)?;
        label = "";
    }
    Ok(())
}

impl CauseEntry {
    fn write(&self, out: &mut String, width: usize) -> fmt::Result {
        let label = if self.rank == 1 { "read" } else { "" };
        let mut place = format!("{BOLD}{}:{}{BOLD:#}", self.file, self.line);
        if self.version == "old" {
            place.push_str(" of old");
        }
        if let Some(function) = &self.function {
            place.push_str(&format!("  in {function}()"));
        }
        if let Some(hunk) = self.hunk {
            place.push_str(&format!("  {DIM}hunk {hunk}{DIM:#}"));
        }
        write_field(out, label, &format!("{}. {place}", self.rank))?;
        let text = cut(&visible(self.text.trim().as_bytes()), width - 18);
        writeln!(out, "               {text}")?;
        for evidence in self.evidence.iter().take(EVIDENCE) {
            for (index, line) in wrapped(&evidence.text, width - 19).iter().enumerate() {
                let sign = if index == 0 { "–" } else { " " };
                writeln!(out, "               {DIM}{sign} {line}{DIM:#}")?;
            }
        }
        Ok(())
    }
}

impl AlternateEntry {
    fn write(&self, out: &mut String, input: &InputEntry, width: usize) -> fmt::Result {
        let changed = count(self.bytes, "byte");
        let said = match self.agrees {
            true => format!("{changed} changed, and both versions do the same"),
            false => format!("{changed} changed; the versions still differ"),
        };
        write_field(out, "instead", &said)?;
        let columns = Columns::new(width);
        columns.write(out, "", &[Row::note("this input", "alternate input")])?;
        let mut shown = |label: &str, a: &Bytes, b: &Bytes| match a == b {
            true => Ok(()),
            false => columns.write(out, label, &columns.outputs(&a.0, &b.0)),
        };
        let nothing = Bytes::default();
        let most = input.args.len().max(self.input.args.len());
        for at in 0..most {
            let of = |entry: &'_ InputEntry| entry.args.get(at).cloned().unwrap_or_default();
            shown(&format!("arg {}", at + 1), &of(input), &of(&self.input))?;
        }
        shown("stdin", &input.stdin, &self.input.stdin)?;
        for (name, content) in &input.env {
            let other = self.input.env.get(name).unwrap_or(&nothing);
            shown("env", content, other)?;
        }
        for (name, content) in &input.files {
            let other = self.input.files.get(name).unwrap_or(&nothing);
            shown("file", content, other)?;
        }
        Ok(())
    }
}

/// A text in lines of so many columns.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
