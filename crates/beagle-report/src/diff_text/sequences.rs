//! The orders in which changes were executed, as text.

use std::fmt::{self, Write};

use crate::diff::{CriticalEntry, Report};
use crate::fit::count;

use super::beside::cut;
use super::{BOLD, DIM, UNCLEAR};

/// Sequences that are listed; the rest is counted.
const SEQUENCES: usize = 6;

/// What it takes, in a line.
pub(super) fn together(critical: &CriticalEntry) -> String {
    let changes = arrows(&critical.changes);
    let on = count(critical.inputs as usize, "input");
    let skipping = match critical.skipping {
        0 => "no input skipped one of them".to_owned(),
        1 => "not on the one that skips one of them".to_owned(),
        number => format!("on none of {number} that skip one of them"),
    };
    format!("changes {changes} together: seen on {on}, {skipping}")
}

/// `1 → 3 → 2`.
fn arrows(changes: &[usize]) -> String {
    let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
    changes.join(" → ")
}

impl Report {
    pub(super) fn write_sequences(&self, out: &mut String, width: usize) -> fmt::Result {
        let Some(sequences) = &self.sequences else {
            return Ok(());
        };
        if sequences.exercised == 0 {
            return Ok(());
        }
        let inputs = count(sequences.inputs as usize, "input");
        writeln!(
            out,
            "{BOLD}Orders of changes{BOLD:#}  {DIM}on {inputs}{DIM:#}"
        )?;
        let shown = &sequences.list[..sequences.list.len().min(SEQUENCES)];
        let texts: Vec<String> = shown
            .iter()
            .map(|entry| cut(&arrows(&entry.changes), width * 3 / 5))
            .collect();
        let column = texts.iter().map(|text| text.chars().count()).max();
        let column = column.unwrap_or(0);
        for (entry, text) in shown.iter().zip(&texts) {
            let on = count(entry.inputs as usize, "input");
            let differing = match entry.differing {
                0 => String::new(),
                1 => ", 1 differs".to_owned(),
                number => format!(", {number} differ"),
            };
            writeln!(out, "       {text:column$}  {DIM}{on}{differing}{DIM:#}")?;
        }
        let rest = sequences.exercised.saturating_sub(shown.len() as u64);
        if rest > 0 {
            writeln!(out, "       {DIM}… and {rest} more{DIM:#}")?;
        }
        if let Some(number @ 1..) = sequences.not_reached {
            let steps = sequences.missing.iter().take(SEQUENCES);
            let mut steps: Vec<String> = steps.map(|step| arrows(step)).collect();
            let rest = number.saturating_sub(steps.len() as u64);
            if rest > 0 {
                steps.push(format!("… {rest} more"));
            }
            let text = steps.join(", ");
            writeln!(out, "       {UNCLEAR}not seen{UNCLEAR:#}: {text}")?;
        }
        writeln!(out)
    }
}
