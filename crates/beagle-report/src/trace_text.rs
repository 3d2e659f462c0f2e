//! The path of one run as text.

use std::fmt::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::fit::{count, window};
use crate::trace::{Report, Step};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const YES: Style = AnsiColor::Green.on_default();
const NO: Style = AnsiColor::Red.on_default();
const WARN: Style = AnsiColor::Yellow.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Columns of the source text beside each step.
const SOURCE: usize = 36;
/// Columns of what a step says: more than fit beside it, because a condition cut short says little.
const SAID: usize = 120;

impl Report {
    /// The report for people, with colours that the caller may strip.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let places: Vec<String> = self.steps.iter().map(place).collect();
        let room = places
            .iter()
            .map(|p| p.chars().count())
            .max()
            .unwrap_or(0)
            .min(30);
        for (step, place) in self.steps.iter().zip(&places) {
            write_step(out, step, place, room)?;
        }
        if self.left_out > 0 {
            let more = count(self.left_out, "more step");
            writeln!(out, "{DIM}… {more}; --limit 0 shows all{DIM:#}")?;
        }
        if !self.steps.is_empty() {
            writeln!(out)?;
        }
        self.write_summary(out)
    }

    fn write_summary(&self, out: &mut String) -> fmt::Result {
        let summary = &self.summary;
        writeln!(
            out,
            "{BOLD}{}{BOLD:#}: {} of {} depend on the input, {}, {}",
            self.outcome,
            summary.symbolic,
            count(summary.decisions, "decision"),
            count(summary.assumptions, "assumption"),
            count(summary.outputs, "output"),
        )?;
        if let Some(stopped) = &self.stopped {
            writeln!(out, "{WARN}cut short{WARN:#}: {stopped}")?;
        }
        for loss in &self.losses {
            let times = count(loss.count as usize, "time");
            writeln!(out, "{WARN}not followed{WARN:#}: {} ({times})", loss.cause)?;
        }
        let Some(check) = &self.check else {
            return Ok(());
        };
        if let Some(why) = &check.incomplete {
            writeln!(out, "{WARN}self-check incomplete{WARN:#}: {why}")?;
        }
        if check.ok {
            return writeln!(
                out,
                "{BOLD}self-check passed{BOLD:#}: {}, {}, {}",
                count(check.nodes, "expression"),
                count(check.conditions, "condition"),
                count(check.outputs, "output"),
            );
        }
        for failure in &check.failures {
            writeln!(out, "{BAD}self-check failed{BAD:#}: {failure}")?;
        }
        Ok(())
    }
}

fn place(step: &Step) -> String {
    match (&step.place, &step.function) {
        (Some(place), _) => format!("{}:{}", place.file, place.line),
        (None, Some(function)) => format!("in {function}"),
        (None, None) => String::new(),
    }
}

fn write_step(out: &mut String, step: &Step, place: &str, room: usize) -> fmt::Result {
    let text = step.place.as_ref().map_or("", |place| &*place.text);
    let text = window(text, None, SOURCE);
    // The answer is to the condition as it was compiled, which need not be the one in the source.
    let (style, what) = match (step.taken, &step.expression) {
        (Some(true), Some(_)) => (YES, "yes"),
        (Some(false), Some(_)) => (NO, "no"),
        _ => (DIM, step.kind),
    };
    let mut said = step.note.clone().unwrap_or_default();
    if let Some(expression) = &step.expression {
        if !said.is_empty() {
            said.push_str(": ");
        }
        said.push_str(expression);
    }
    let said = window(&said, None, SAID);
    let pad = room.saturating_sub(place.chars().count());
    let gap = SOURCE.saturating_sub(text.chars().count());
    writeln!(
        out,
        "{DIM}{place}{DIM:#}{:pad$}  {text}{:gap$}  {style}{what:<6}{style:#}  {said}",
        "", ""
    )
}
