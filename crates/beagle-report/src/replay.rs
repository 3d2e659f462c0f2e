//! What became of saved tests, as `beagle replay` shows it.
//!
//! The types here are the JSON format; [`SCHEMA`] changes when they do.

use std::fmt::{self, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::fit::count;
use crate::words::aspects_named;

/// The version of the JSON format.
pub const SCHEMA: u32 = 1;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const UNCLEAR: Style = AnsiColor::Yellow.on_default();

/// The whole report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What the user called the versions: one or two.
    pub versions: Vec<String>,
    /// The tests, in the order of their numbers.
    pub tests: Vec<TestEntry>,
    /// Other things that the user should know.
    pub notes: Vec<String>,
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestEntry {
    /// Where it is.
    pub path: String,
    /// What kind of difference it showed when it was saved.
    pub class: String,
    /// What it shows now.
    pub outcome: Outcome,
    /// What differs: between two versions, or from what was saved of old.
    pub aspects: Vec<String>,
}

/// What a test shows now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The version does what old did.
    AsOld,
    /// The version does what new did.
    AsNew,
    /// The version does something else.
    Neither,
    /// The two versions do the same.
    Same,
    /// The two versions differ.
    Different,
    /// A version does not do the same each time.
    Unstable,
}

impl Outcome {
    /// Whether it is a difference.
    pub fn differs(self) -> bool {
        matches!(self, Outcome::AsNew | Outcome::Neither | Outcome::Different)
    }
}

impl Report {
    /// The report for machines.
    pub fn json(&self) -> String {
        // Nothing in it can fail to be written.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// The report for people, with colours that the caller may strip. `status` says what the exit
    /// status means.
    pub fn text(&self, status: &str) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out, status);
        out
    }

    fn write(&self, out: &mut String, status: &str) -> fmt::Result {
        let width = self
            .tests
            .iter()
            .map(|test| test.path.chars().count())
            .max();
        let width = width.unwrap_or(0);
        for test in &self.tests {
            let (style, text) = match test.outcome {
                Outcome::AsOld => (GOOD, "does what old did"),
                Outcome::Same => (GOOD, "no difference"),
                Outcome::AsNew => (BAD, "does what new did"),
                Outcome::Neither => (BAD, "does neither what old nor what new did"),
                Outcome::Different => (BAD, "differs"),
                Outcome::Unstable => (UNCLEAR, "not repeatable"),
            };
            write!(out, "{:width$}  {style}{text}{style:#}", test.path)?;
            match test.aspects.is_empty() {
                true => writeln!(out)?,
                false => writeln!(out, "{DIM}: {}{DIM:#}", aspects_named(&test.aspects))?,
            }
        }
        for note in &self.notes {
            writeln!(out, "{UNCLEAR}note{UNCLEAR:#}: {note}")?;
        }
        let differ = self
            .tests
            .iter()
            .filter(|test| test.outcome.differs())
            .count();
        let tests = count(self.tests.len(), "test");
        let versions = self.versions.join(" → ");
        writeln!(
            out,
            "{BOLD}{differ} of {tests} with a difference{BOLD:#}: {versions}"
        )?;
        writeln!(out, "{status}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_has_its_line() {
        let outcomes = [
            (Outcome::AsOld, &[][..]),
            (Outcome::AsNew, &["stdout", "exit"]),
            (Outcome::Neither, &["stdout"]),
            (Outcome::Unstable, &["stderr"]),
        ];
        let tests = (1..)
            .zip(outcomes)
            .map(|(number, (outcome, aspects))| TestEntry {
                path: format!("tests/{number:04}-output"),
                class: "output".into(),
                outcome,
                aspects: aspects.iter().map(ToString::to_string).collect(),
            });
        let report = Report {
            schema: SCHEMA,
            versions: vec!["HEAD".into()],
            tests: tests.collect(),
            notes: vec!["no sanitizers".into()],
        };
        insta::assert_snapshot!(anstream::adapter::strip_str(
            &report.text("Exit status 1: a difference")
        ));
        assert!(report.json().contains("\"outcome\": \"as-old\""));
    }
}
