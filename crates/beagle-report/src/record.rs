//! What was recorded of a test-suite, as `beagle record` shows it.
//!
//! The types here are the JSON format; [`SCHEMA`] changes when they do.

use std::fmt::{self, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::fit::count;

/// The version of the JSON format.
pub const SCHEMA: u32 = 1;

const BOLD: Style = Style::new().bold();
const UNCLEAR: Style = AnsiColor::Yellow.on_default();

/// The whole report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What the user called the version.
    pub version: String,
    /// The command that ran the suite.
    pub command: String,
    /// Its exit status.
    pub status: i32,
    /// The program whose runs were recorded.
    pub program: String,
    /// How often it ran.
    pub runs: u64,
    /// How many different inputs it got.
    pub inputs: u64,
    /// How many of them were in the directory before.
    pub known: u64,
    /// Runs that are not among the inputs, by cause.
    pub left_out: Vec<CauseEntry>,
    /// The directory with the inputs.
    pub out: String,
    /// What the command printed.
    pub log: String,
    /// Other things that the user should know.
    pub notes: Vec<String>,
}

/// Runs that are not among the inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CauseEntry {
    /// Why.
    pub cause: String,
    /// How many.
    pub count: u64,
}

impl Report {
    /// The report for machines.
    pub fn json(&self) -> String {
        // Nothing in it can fail to be written.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// The report for people, with colours that the caller may strip.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let Self {
            program,
            command,
            out: dir,
            known,
            ..
        } = self;
        let runs = count(self.runs as usize, "run");
        let inputs = count(self.inputs as usize, "different input");
        let left_out: u64 = self.left_out.iter().map(|entry| entry.count).sum();
        write!(
            out,
            "{BOLD}{runs} of {program}{BOLD:#} by `{command}`: {inputs}"
        )?;
        if left_out > 0 {
            let causes = self.left_out.iter();
            let causes = causes.map(|entry| match self.left_out.len() {
                1 => entry.cause.clone(),
                _ => format!("{} ({})", entry.cause, entry.count),
            });
            let causes = causes.collect::<Vec<_>>().join("; ");
            write!(out, ", {left_out} not recorded: {causes}")?;
        }
        writeln!(out)?;
        if self.runs == 0 {
            writeln!(
                out,
                "Does the suite run the {program} that the build makes? Its log is {}.",
                self.log
            )?;
        } else if self.inputs > 0 {
            let before = match known {
                0 => String::new(),
                known => format!(" ({known} were there before)"),
            };
            writeln!(
                out,
                "They are in {dir}{before}; `beagle diff OLD NEW --seeds {dir}` starts from them."
            )?;
        }
        for note in &self.notes {
            writeln!(out, "{UNCLEAR}note{UNCLEAR:#}: {note}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            schema: SCHEMA,
            version: "HEAD".into(),
            command: "make check".into(),
            status: 0,
            program: "tool".into(),
            runs: 412,
            inputs: 187,
            known: 0,
            left_out: Vec::new(),
            out: "seeds".into(),
            log: "/log".into(),
            notes: Vec::new(),
        }
    }

    fn plain(report: &Report) -> String {
        anstream::adapter::strip_str(&report.text()).to_string()
    }

    #[test]
    fn it_is_said_in_words() {
        let mut report = report();
        assert_eq!(
            plain(&report),
            "412 runs of tool by `make check`: 187 different inputs\n\
             They are in seeds; `beagle diff OLD NEW --seeds seeds` starts from them.\n"
        );
        report.known = 7;
        for (cause, count) in [("standard input is too large", 2), ("it is odd", 1)] {
            let cause = cause.to_owned();
            report.left_out.push(CauseEntry { cause, count });
        }
        let text = plain(&report);
        assert!(text.contains(
            "187 different inputs, 3 not recorded: standard input is too large (2); it is odd (1)\n"
        ));
        assert!(text.contains("in seeds (7 were there before);"));
    }

    #[test]
    fn a_suite_that_does_not_run_the_program_is_asked_about() {
        let report = Report {
            runs: 0,
            inputs: 0,
            ..report()
        };
        let text = plain(&report);
        assert!(text.starts_with("0 runs of tool by `make check`"), "{text}");
        assert!(text.contains("Does the suite run the tool"), "{text}");
    }
}
