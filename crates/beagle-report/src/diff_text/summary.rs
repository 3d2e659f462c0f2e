//! What stands below the differences: how far each change got, what is not known, and the counts.

use std::fmt::{self, Write};

use crate::diff::{Aspect, ChangeEntry, Class, Reason, Report, UnstableEntry, Verdict};
use crate::fit::{count, listed};

use super::beside::cut;
use super::{BOLD, DIM, GOOD, UNCLEAR, place, write_input};

/// Changes that are listed one by one; nobody reads hundreds of them.
const CHANGES: usize = 20;
/// Inputs with runs that differ from each other, of which one is enough to see.
const UNSTABLE: usize = 3;

impl Report {
    pub(super) fn write_unstable(&self, out: &mut String, width: usize) -> fmt::Result {
        for UnstableEntry {
            input,
            version,
            aspects,
            count: inputs,
        } in self.unstable.iter().take(UNSTABLE)
        {
            let what: Vec<_> = aspects
                .iter()
                .map(|aspect| name(*aspect).to_owned())
                .collect();
            let on = match inputs {
                0 | 1 => String::new(),
                inputs => format!(", on {inputs} inputs"),
            };
            writeln!(
                out,
                "{UNCLEAR}not repeatable{UNCLEAR:#}: {version}: from run to run, {} may differ{on}",
                what.join(", ")
            )?;
            write_input(out, input, &self.program, None, width)?;
        }
        if self.unstable.len() > UNSTABLE {
            let more = count(self.unstable.len() - UNSTABLE, "more input");
            writeln!(out, "   {DIM}… and {more} that cannot be judged{DIM:#}")?;
        }
        match self.unstable.is_empty() {
            true => Ok(()),
            false => writeln!(out),
        }
    }

    /// How far each change got; of many changes those first that got furthest.
    pub(super) fn write_changes(&self, out: &mut String, width: usize) -> fmt::Result {
        if self.changes.is_empty() {
            return Ok(());
        }
        writeln!(out, "{BOLD}How far each change got{BOLD:#}")?;
        let mut changes: Vec<&ChangeEntry> = self.changes.iter().collect();
        if changes.len() > CHANGES {
            changes.sort_by_key(|change| {
                std::cmp::Reverse((change.propagated, change.infected, change.reached))
            });
        }
        let named = |change: &ChangeEntry| match &change.function {
            Some(function) => format!("{}  {function}", place(change)),
            None => place(change),
        };
        let shown = &changes[..changes.len().min(CHANGES)];
        let widest = shown
            .iter()
            .map(|change| named(change).chars().count())
            .max();
        let column = widest.unwrap_or(0).min(width * 2 / 5);
        for change in shown {
            let (place, id) = (cut(&named(change), column), change.id);
            let (style, far) = progress(change);
            writeln!(
                out,
                "  {id:>3}  {DIM}{place:column$}{DIM:#}  {style}{far}{style:#}"
            )?;
            if let Some(stop) = &change.stopped_at {
                let text = format!("lost at {}:{}: {}", stop.file, stop.line, stop.why);
                writeln!(out, "       {}", cut(&text, width.saturating_sub(7)))?;
            }
        }
        if changes.len() > CHANGES {
            let rest = &changes[CHANGES..];
            let more = count(rest.len(), "more change");
            let missed = rest.iter().filter(|change| !change.reached).count();
            writeln!(
                out,
                "       {DIM}… and {more}, {missed} of them not reached{DIM:#}"
            )?;
        }
        writeln!(out)
    }

    pub(super) fn write_losses(&self, out: &mut String, width: usize) -> fmt::Result {
        if !self.losses.is_empty() {
            let losses = self.losses.iter();
            let losses: Vec<_> = losses
                .map(|loss| format!("{} ({}×)", loss.cause, loss.count))
                .collect();
            let losses = listed(&losses, width - 14);
            writeln!(out, "{BOLD}Not followed{BOLD:#}  {losses}")?;
        }
        for note in &self.notes {
            writeln!(out, "{UNCLEAR}note{UNCLEAR:#}: {note}")?;
        }
        Ok(())
    }

    pub(super) fn write_summary(
        &self,
        out: &mut String,
        width: usize,
        status: &str,
    ) -> fmt::Result {
        if !out.is_empty() {
            writeln!(out, "{DIM}{}{DIM:#}", "─".repeat(width))?;
        }
        let head = match (self.verdict, self.reason) {
            (Verdict::Different, _) => self.counts(),
            (Verdict::Equivalent, Reason::Unchanged) => {
                format!("{GOOD}Equivalent{GOOD:#}: nothing changed in meaning")
            }
            (Verdict::Equivalent, _) => {
                format!("{GOOD}Equivalent{GOOD:#}: no input of this shape distinguishes them")
            }
            (Verdict::NoneFound, _) => format!("{BOLD}No difference found{BOLD:#}"),
        };
        writeln!(out, "{head}: {} → {}", self.old, self.new)?;
        if self.reason != Reason::Unchanged {
            writeln!(out, "{}", self.coverage())?;
            if let Some(tests) = &self.tests {
                writeln!(out, "{}.", tests.sentence())?;
            }
            writeln!(out, "{}", self.effort())?;
        }
        if self.verdict == Verdict::NoneFound {
            match &self.missing[..] {
                [] => writeln!(out, "There may be one all the same.")?,
                missing => {
                    let missing = listed(missing, width.saturating_sub(40));
                    writeln!(out, "There may be one all the same: {missing}")?;
                }
            }
        }
        let reason = why(self.reason);
        if !reason.is_empty() {
            writeln!(out, "Stopped because {reason}.")?;
        }
        if let Some(saved) = &self.saved {
            writeln!(
                out,
                "Tests are in {saved}; `beagle replay {saved} VERSION` runs them again."
            )?;
        }
        if !self.isolation.is_empty() {
            writeln!(out, "{DIM}Programs ran with {}.{DIM:#}", self.isolation)?;
        }
        match status {
            "" => Ok(()),
            status => writeln!(out, "{status}"),
        }
    }

    /// `3 differences in 2 groups (1 regression, 1 different output)`.
    fn counts(&self) -> String {
        let inputs: u64 = self.groups.iter().map(|group| group.count).sum();
        let inputs = inputs.max(self.differences.len() as u64);
        let kinds = [
            (
                "regression",
                &[Class::Crash, Class::Hang, Class::Regression][..],
            ),
            ("incomplete fix", &[Class::IncompleteFix]),
            ("different output", &[Class::Output]),
            ("different message", &[Class::Message]),
            ("progression", &[Class::Progression]),
            ("fix", &[Class::Fix]),
        ];
        let mut parts = Vec::new();
        for (name, classes) in kinds {
            let groups = self.groups.iter();
            match groups
                .filter(|group| classes.contains(&group.class))
                .count()
            {
                0 => {}
                1 => parts.push(format!("1 {name}")),
                number if name.ends_with("fix") => parts.push(format!("{number} {name}es")),
                number => parts.push(format!("{number} {name}s")),
            }
        }
        let on = count(inputs as usize, "input");
        format!("{BOLD}{}{BOLD:#} on {on}", parts.join(", "))
    }

    /// How many changes got how far.
    fn coverage(&self) -> String {
        let changes = &self.changes;
        let number = |is: fn(&&ChangeEntry) -> bool| changes.iter().filter(is).count();
        let reached = number(|change| change.reached);
        let infected = number(|change| change.infected);
        let propagated = number(|change| change.propagated);
        let mut text = format!(
            "Changes: {reached} of {} reached, {infected} changed a value, {propagated} an output",
            changes.len(),
        );
        if self.divergences > 0 {
            let inputs = count(self.divergences as usize, "input");
            text.push_str(&format!("; {inputs} took other ways to the same result"));
        }
        text
    }

    /// What it took.
    fn effort(&self) -> String {
        let fast = self.strategies.iter().find(|it| it.name == FAST_LANE);
        let fast = match fast.map_or(0, |it| it.runs) {
            0 => String::new(),
            runs => format!(" and {} of the fast lane", count(runs as usize, "run")),
        };
        let mut text = format!(
            "{} from {}, {}{fast} in {}",
            count(self.runs as usize, "run"),
            count(self.seeds as usize, "seed"),
            match self.queries {
                1 => "1 query".to_owned(),
                queries => format!("{queries} queries"),
            },
            seconds(self.seconds)
        );
        if let Some(first) = self.seconds_to_first {
            text.push_str(&format!(", first difference after {}", seconds(first)));
        }
        text
    }
}

/// The name of the strategy that runs both versions natively, without questions.
const FAST_LANE: &str = "fuzz";

/// How far a change got.
fn progress(change: &ChangeEntry) -> (anstyle::Style, &'static str) {
    let plain = anstyle::Style::new();
    match (change.propagated, change.infected, change.reached) {
        (true, ..) => (GOOD, "changed an output"),
        (_, true, _) => (plain, "changed a value, but no output"),
        (_, _, true) => (plain, "reached, but changed no value"),
        _ => (UNCLEAR, "not reached"),
    }
}

fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::Unchanged => "",
        Reason::Exhausted => "there was nothing left to try",
        Reason::Timeout => "the time was over; --timeout gives it more",
        Reason::MaxRuns => "--max-runs was reached",
        Reason::MaxQueries => "--max-queries was reached",
        Reason::First => "--first asks for one difference only",
        Reason::Interrupted => "it was interrupted; this is what was found until then",
    }
}

fn name(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Exit => "exit status",
        Aspect::Signal => "signal",
        Aspect::Time => "whether it ends",
        Aspect::Fault => "sanitizer report",
        Aspect::Stdout => "stdout",
        Aspect::Stderr => "stderr",
        Aspect::Files => "files",
    }
}

fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 0.95 => format!("{:.0} ms", s * 1000.0),
        s if s < 9.95 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s => format!(
            "{:.0} min {:02.0} s",
            (s / 60.0).floor(),
            (s % 60.0).floor()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_exact_as_people_care() {
        let texts = [0.0, 0.0123, 0.94, 0.96, 9.9, 59.6, 119.0, 125.0].map(seconds);
        let expected = [
            "0 ms",
            "12 ms",
            "940 ms",
            "1.0 s",
            "9.9 s",
            "60 s",
            "119 s",
            "2 min 05 s",
        ];
        assert_eq!(texts, expected);
    }
}
