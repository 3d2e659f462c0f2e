//! How far given inputs get with what changed, as `beagle coverage` shows it.
//!
//! The types here are the JSON format; [`SCHEMA`] changes when they do.

use std::fmt::{self, Write};

use anstyle::{AnsiColor, Style};
use serde::{Deserialize, Serialize};

use crate::fit::count;

/// The version of the JSON format.
pub const SCHEMA: u32 = 1;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const UNCLEAR: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// The whole report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What the user called the old version.
    pub old: String,
    /// What the user called the new version.
    pub new: String,
    /// The name of the program.
    pub program: String,
    /// How long it took.
    pub seconds: f64,
    /// How far the inputs get.
    #[serde(flatten)]
    pub tests: Tests,
    /// Other things that the user should know.
    pub notes: Vec<String>,
}

/// How far inputs get.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tests {
    /// How many inputs there are.
    pub tests: u64,
    /// How many of them there was no time to look at.
    pub unseen: u64,
    /// How many changes are executed.
    pub reached: u64,
    /// How many of these make a value or a way different.
    pub infected: u64,
    /// How many of these are seen from outside, on the real programs.
    pub shown: u64,
    /// Each change.
    pub changes: Vec<Covered>,
}

/// How far inputs get with one change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// Its number, from 1.
    pub id: usize,
    /// Where it is.
    pub file: String,
    /// Where it is.
    pub line: u32,
    /// The function or variable.
    pub function: Option<String>,
    /// `added`, `deleted` or `modified`.
    pub kind: String,
    /// Its first line.
    pub text: String,
    /// The first input that executes it.
    pub reached_by: Option<String>,
    /// The first input on which it makes something different.
    pub infected_by: Option<String>,
    /// The first input on which the real programs differ.
    pub shown_by: Option<String>,
}

impl Covered {
    fn place(&self) -> String {
        match &self.function {
            Some(function) => format!("{}:{}  {function}", self.file, self.line),
            None => format!("{}:{}", self.file, self.line),
        }
    }
}

impl Tests {
    /// Counts how far the inputs get.
    pub fn new(tests: u64, unseen: u64, changes: Vec<Covered>) -> Self {
        let count = |by: fn(&Covered) -> &Option<String>| {
            changes.iter().filter(|change| by(change).is_some()).count() as u64
        };
        Self {
            tests,
            unseen,
            reached: count(|change| &change.reached_by),
            infected: count(|change| &change.infected_by),
            shown: count(|change| &change.shown_by),
            changes,
        }
    }

    /// The same in one sentence.
    pub fn sentence(&self) -> String {
        let (reached, infected, shown) = (self.reached, self.infected, self.shown);
        let changes = count(self.changes.len(), "change");
        let (whose, s) = match self.tests {
            1 => ("Your test".to_owned(), "es"),
            tests => (format!("Your {tests} tests"), ""),
        };
        let (infect, show) = match self.tests {
            1 => ("infects", "shows"),
            _ => ("infect", "show"),
        };
        format!("{whose} reach{s} {reached} of {changes}, {infect} {infected}, {show} {shown}")
    }
}

impl Report {
    /// The report for machines.
    pub fn json(&self) -> String {
        // Nothing in it can fail to be written.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// The report for people, with colours that the caller may strip.
    pub fn text(&self, width: usize) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out, width);
        out
    }

    fn write(&self, out: &mut String, width: usize) -> fmt::Result {
        let (old, new, tests) = (&self.old, &self.new, &self.tests);
        if tests.changes.is_empty() {
            writeln!(
                out,
                "{BOLD}Nothing changed in meaning{BOLD:#}: {old} → {new}"
            )?;
        } else {
            writeln!(out, "{BOLD}{}{BOLD:#}: {old} → {new}", tests.sentence())?;
            writeln!(out)?;
            self.write_changes(out, width)?;
            writeln!(
                out,
                "{DIM}reached: executed; infected: it made a value or a way different; shown: the \
                 real programs differ{DIM:#}"
            )?;
        }
        if tests.unseen > 0 {
            let unseen = count(tests.unseen as usize, "test");
            let tell = "not looked at; --timeout gives more time";
            writeln!(out, "{UNCLEAR}note{UNCLEAR:#}: {unseen} {tell}")?;
        }
        for note in &self.notes {
            writeln!(out, "{UNCLEAR}note{UNCLEAR:#}: {note}")?;
        }
        Ok(())
    }

    fn write_changes(&self, out: &mut String, width: usize) -> fmt::Result {
        let changes = &self.tests.changes;
        let widest = changes.iter().map(|change| change.place().chars().count());
        let column = widest.max().unwrap_or(0).min(width / 2);
        for change in changes.iter().filter(|change| change.reached_by.is_some()) {
            let (style, far) = match (&change.infected_by, &change.shown_by) {
                (_, Some(_)) => (GOOD, "shown"),
                (Some(_), None) => (UNCLEAR, "infected"),
                (None, None) => (UNCLEAR, "reached"),
            };
            let mut steps: Vec<(&str, &str)> = Vec::new();
            let all = [
                ("reached", &change.reached_by),
                ("infected", &change.infected_by),
                ("shown", &change.shown_by),
            ];
            for (what, by) in all {
                let Some(by) = by else { continue };
                match steps.last() {
                    // One input may do all of it.
                    Some((_, before)) if before == by => {
                        steps.pop();
                        steps.push((what, by));
                    }
                    _ => steps.push((what, by)),
                }
            }
            let steps = steps.iter().map(|(what, by)| format!("{what} by {by}"));
            let steps = steps.collect::<Vec<_>>().join(", ");
            let (id, place) = (change.id, change.place());
            writeln!(
                out,
                "  {id:>3}  {DIM}{place:column$}{DIM:#}  {style}{far:8}{style:#}  {steps}"
            )?;
        }
        let missed = changes.iter().filter(|change| change.reached_by.is_none());
        let missed: Vec<_> = missed.collect();
        if !missed.is_empty() {
            if self.tests.reached > 0 {
                writeln!(out)?;
            }
            writeln!(out, "{BAD}No test reaches{BAD:#}")?;
        }
        for change in missed {
            let (id, place, text) = (change.id, change.place(), change.text.trim());
            writeln!(out, "  {id:>3}  {DIM}{place:column$}{DIM:#}  {text}")?;
        }
        writeln!(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(id: usize, by: [Option<&str>; 3]) -> Covered {
        let [reached_by, infected_by, shown_by] = by.map(|by| by.map(str::to_owned));
        Covered {
            id,
            file: "a.c".into(),
            line: id as u32 * 10,
            function: Some("f".into()),
            kind: "modified".into(),
            text: "  x = 1;".into(),
            reached_by,
            infected_by,
            shown_by,
        }
    }

    fn report(tests: u64, changes: Vec<Covered>) -> String {
        let report = Report {
            schema: SCHEMA,
            old: "v1".into(),
            new: "v2".into(),
            program: "p".into(),
            seconds: 0.0,
            tests: Tests::new(tests, 0, changes),
            notes: vec!["something".into()],
        };
        anstream::adapter::strip_str(&report.text(80)).to_string()
    }

    #[test]
    fn each_change_says_which_test_came_how_far() {
        let text = report(
            12,
            vec![
                covered(1, [Some("t/1"), Some("t/1"), Some("t/3")]),
                covered(2, [Some("t/2"), None, None]),
                covered(3, [None, None, None]),
            ],
        );
        insta::assert_snapshot!(text, @r"
        Your 12 tests reach 2 of 3 changes, infect 1, show 1: v1 → v2

            1  a.c:10  f  shown     infected by t/1, shown by t/3
            2  a.c:20  f  reached   reached by t/2

        No test reaches
            3  a.c:30  f  x = 1;

        reached: executed; infected: it made a value or a way different; shown: the real programs differ
        note: something
        ");
    }

    #[test]
    fn one_test_is_no_plural_and_no_change_is_no_coverage() {
        let one = report(1, vec![covered(1, [Some("a"), None, None])]);
        assert!(one.starts_with("Your test reaches 1 of 1 change, infects 0, shows 0"));
        let none = report(3, Vec::new());
        assert!(
            none.starts_with("Nothing changed in meaning: v1 → v2"),
            "{none}"
        );
    }
}
