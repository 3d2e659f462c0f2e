//! The report on differences as text.

mod beside;
mod sequences;
mod shell;
mod summary;

use std::fmt::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::diff::{
    Aspect, ChangeEntry, Class, DifferenceEntry, FaultEntry, FileEntry, GroupEntry, InputEntry,
    LineEntry, ObservedEntry, Report,
};
use crate::fit::{count, window};
use crate::words::aspects_named;
pub(crate) use beside::{Columns, Row, cut, visible};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
pub(crate) const OLD: Style = AnsiColor::Red.on_default();
pub(crate) const NEW: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const UNCLEAR: Style = AnsiColor::Yellow.on_default().bold();

/// Groups that are shown in full; of the others the title is.
const GROUPS: usize = 10;
/// Changes and lines of each that are shown with a group.
const CHANGES: usize = 4;
const LINES: usize = 6;
/// Longer commands are not for pasting.
const COMMAND: usize = 2000;

impl Report {
    /// The report for people, with colours that the caller may strip. `status` says what the exit
    /// status means.
    pub fn text(&self, width: usize, status: &str) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out, width.clamp(60, 200), status);
        out
    }

    fn write(&self, out: &mut String, width: usize, status: &str) -> fmt::Result {
        for group in self.groups.iter().take(GROUPS) {
            self.write_title(out, group, width)?;
            let mut differences = self.differences.iter();
            if let Some(shown) = differences.find(|difference| difference.group == group.id) {
                self.write_difference(out, shown, width)?;
                if let Some(explanation) = &group.explanation {
                    explanation.write_short(out, &shown.input, width)?;
                }
            }
            if let Some(culprits) = &group.culprits {
                culprits.write(out, width)?;
            }
            if let Some(critical) = group.critical.as_ref().filter(|it| it.interaction) {
                write_field(
                    out,
                    "order",
                    &cut(&sequences::together(critical), width - 12),
                )?;
            }
            // Known culprits say more than all that was executed.
            if group.culprits.as_ref().is_none_or(|it| it.count == 1) {
                self.write_lines(out, &group.changes, width)?;
            }
            writeln!(out)?;
        }
        if let Some(rest) = self.groups.get(GROUPS..).filter(|rest| !rest.is_empty()) {
            for group in rest {
                self.write_title(out, group, width)?;
            }
            writeln!(out)?;
        }
        self.write_unstable(out, width)?;
        self.write_changes(out, width)?;
        self.write_sequences(out, width)?;
        self.write_losses(out, width)?;
        self.write_summary(out, width, status)
    }

    fn write_title(&self, out: &mut String, group: &GroupEntry, width: usize) -> fmt::Result {
        let style = match group.class.regression() {
            Some(true) => BAD,
            Some(false) if group.class != Class::IncompleteFix => GOOD,
            _ => UNCLEAR,
        };
        let class = label(group.class);
        let inputs = match group.count {
            0 | 1 => String::new(),
            count => format!("  ({count} inputs)"),
        };
        let room = width.saturating_sub(class.len() + inputs.len() + 6);
        let title = cut(&visible(group.title.as_bytes()), room);
        let id = group.id;
        write!(out, "{BOLD}{id:>2}{BOLD:#} {style}{class}{style:#}")?;
        if !title.is_empty() {
            write!(out, ": {BOLD}{title}{BOLD:#}")?;
        }
        writeln!(out, "{DIM}{inputs}{DIM:#}")
    }

    fn write_difference(
        &self,
        out: &mut String,
        difference: &DifferenceEntry,
        width: usize,
    ) -> fmt::Result {
        let saved = difference.saved.as_deref();
        write_input(out, &difference.input, &self.program, saved, width)?;
        let columns = Columns::new(width);
        let heading = |name: &str, label: &str| match name == label {
            true => name.to_owned(),
            false => format!("{name}: {label}"),
        };
        let heads = Row::note(heading("old", &self.old), heading("new", &self.new));
        columns.write(out, "", &[heads])?;
        let (old, new) = (&difference.old, &difference.new);
        let differs = |aspect| difference.aspects.contains(&aspect);
        columns.write(out, "ends", &[Row::new(ends(old), ends(new))])?;
        if old.fault.is_some() || new.fault.is_some() {
            let rows = faults(old.fault.as_ref(), new.fault.as_ref());
            columns.write(out, "fault", &rows)?;
        }
        write_output(
            out,
            &columns,
            ("stdout", differs(Aspect::Stdout)),
            (&old.stdout.0, old.stdout_cut),
            (&new.stdout.0, new.stdout_cut),
        )?;
        write_output(
            out,
            &columns,
            ("stderr", differs(Aspect::Stderr)),
            (&old.stderr.0, old.stderr_cut),
            (&new.stderr.0, new.stderr_cut),
        )?;
        write_files(out, &columns, differs(Aspect::Files), old, new)?;
        if let Some(golden) = &difference.golden {
            let name = self.golden.as_deref().unwrap_or("golden");
            let text = match difference.class {
                Class::Regression => format!("{name} does as old"),
                Class::Progression => format!("{name} does as new"),
                _ => {
                    let stdout = visible(&golden.stdout.0);
                    format!("{name}: {}, stdout \"{stdout}\"", ends(golden))
                }
            };
            write_field(out, "golden", &cut(&text, width - 12))?;
        }
        let mut sure = format!(
            "seen in {} of each version",
            count(difference.confirmed as usize, "run")
        );
        if let Some(saved) = saved {
            sure.push_str(&format!("; saved in {saved}"));
        }
        write_field(out, "sure", &cut(&sure, width - 12))
    }

    /// The changed lines of changes.
    fn write_lines(&self, out: &mut String, ids: &[usize], width: usize) -> fmt::Result {
        let changes = ids
            .iter()
            .filter_map(|id| self.changes.iter().find(|c| c.id == *id));
        let changes: Vec<_> = changes.collect();
        for (number, change) in changes.iter().take(CHANGES).enumerate() {
            let label = if number == 0 { "changed" } else { "" };
            let name = change
                .function
                .as_deref()
                .map_or(String::new(), |name| format!("  {name}"));
            write_field(
                out,
                label,
                &cut(&format!("{}{name}", place(change)), width - 12),
            )?;
            write_sources(out, '-', OLD, &change.old_lines, &change.new_lines, width)?;
            write_sources(out, '+', NEW, &change.new_lines, &change.old_lines, width)?;
        }
        if changes.len() > CHANGES {
            let more = format!("… and {}", count(changes.len() - CHANGES, "more change"));
            write_field(out, "", &more)?;
        }
        Ok(())
    }
}

fn label(class: Class) -> &'static str {
    match class {
        Class::Crash => "regression, crash",
        Class::Hang => "regression, does not end",
        Class::Regression => "regression",
        Class::IncompleteFix => "incomplete fix",
        Class::Output => "different output",
        Class::Message => "different message",
        Class::Progression => "progression",
        Class::Fix => "fix",
    }
}

pub(crate) fn write_field(out: &mut String, label: &str, text: &str) -> fmt::Result {
    writeln!(out, "   {DIM}{label:8}{DIM:#} {text}")
}

/// In what the versions differ on one input.
pub(crate) fn write_differs(
    out: &mut String,
    aspects: &[String],
    unstable: bool,
    (old, new): (&str, &str),
) -> fmt::Result {
    let differs = match (aspects, unstable) {
        (_, true) => "not the same each time, so nothing can be said".to_owned(),
        ([], false) => format!("nothing: {old} and {new} do the same"),
        (aspects, false) => format!("{} ({old} → {new})", aspects_named(aspects)),
    };
    write_field(out, "differs", &differs)
}

/// The commands that show it again.
pub(crate) fn write_input(
    out: &mut String,
    input: &InputEntry,
    program: &str,
    saved: Option<&str>,
    width: usize,
) -> fmt::Result {
    let lines = shell::commands(input, program);
    let is_long = lines.iter().map(String::len).sum::<usize>() > COMMAND;
    let mut label = "input";
    for line in lines {
        let line = match is_long {
            true => cut(&line, width - 12),
            false => line,
        };
        write_field(out, label, &line)?;
        label = "";
    }
    if is_long {
        let whole = match saved {
            Some(saved) => format!("… is too long to be shown; {saved}/repro.sh has all of it"),
            None => "… is too long to be shown; --format json and --out DIR have all of it".into(),
        };
        write_field(out, "", &whole)?;
    }
    Ok(())
}

fn ends(observed: &ObservedEntry) -> String {
    match (observed.exit, observed.signal) {
        _ if observed.timed_out => "does not end in time".to_owned(),
        (Some(status), _) => format!("exit status {status}"),
        (None, Some(signal)) => match signal_name(signal) {
            Some(name) => format!("signal {signal} ({name})"),
            None => format!("signal {signal}"),
        },
        (None, None) => "unknown".to_owned(),
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    })
}

/// What the sanitizers say, in two rows: what and where.
fn faults(old: Option<&FaultEntry>, new: Option<&FaultEntry>) -> Vec<Row> {
    let what = |fault: Option<&FaultEntry>| fault.map_or("fine".to_owned(), |f| f.kind.clone());
    let place = |fault: Option<&FaultEntry>| {
        let fault = fault?;
        let mut text = fault.place.clone().unwrap_or_default();
        if let Some(function) = &fault.function {
            text.push_str(&format!(" in {function}()"));
        }
        Some(text.trim().to_owned())
    };
    let mut rows = vec![Row::new(what(old), what(new))];
    let places = (
        place(old).unwrap_or_default(),
        place(new).unwrap_or_default(),
    );
    if places != Default::default() {
        rows.push(Row::new(places.0, places.1));
    }
    rows
}

/// One output of both versions, and whether it differs; the same one only if it is short. Only its beginning may be
/// kept.
fn write_output(
    out: &mut String,
    columns: &Columns,
    (label, differs): (&str, bool),
    (old, old_cut): (&[u8], bool),
    (new, new_cut): (&[u8], bool),
) -> fmt::Result {
    if old == new && old_cut == new_cut {
        if old.is_empty() {
            return Ok(());
        }
        if old_cut && differs {
            return write_field(out, label, &differs_later(old.len()));
        }
        let text = match beside::is_text(old) {
            true => format!("the same: \"{}\"", visible(old)),
            false => format!("the same: {}", count(old.len(), "byte")),
        };
        return write_field(out, label, &cut(&text, columns.room * 2));
    }
    let mut rows = columns.outputs(old, new);
    if old.is_empty() || new.is_empty() {
        // Where there is no line at all, an empty column could be an empty line.
        let nothing = |bytes: &[u8]| if bytes.is_empty() { "(nothing)" } else { "" };
        rows[0].name_nothing(nothing(old), nothing(new));
    }
    if old_cut || new_cut {
        let text = |cut| if cut { "… and more" } else { "" };
        rows.push(Row::new(text(old_cut), text(new_cut)));
    }
    columns.write(out, label, &rows)
}

/// What is said of outputs whose beginnings are all that is kept.
fn differs_later(same: usize) -> String {
    format!(
        "the first {} are the same; the versions differ after them",
        count(same, "byte")
    )
}

/// Files that only one version wrote, or wrote differently.
fn write_files(
    out: &mut String,
    columns: &Columns,
    differs: bool,
    old: &ObservedEntry,
    new: &ObservedEntry,
) -> fmt::Result {
    let only_new = new
        .files
        .keys()
        .filter(|name| !old.files.contains_key(*name));
    // Files of which only the beginnings are kept, which are the same.
    let mut late = Vec::new();
    let mut is_shown = false;
    for name in old.files.keys().chain(only_new) {
        let (left, right) = (old.files.get(name), new.files.get(name));
        if left == right {
            if let Some(FileEntry::Written { content, cut, .. }) = left
                && *cut
            {
                late.push((name, content.0.len()));
            }
            continue;
        }
        is_shown = true;
        let title = format!("{name}: {}", file(left));
        let rows = [Row::new(title, format!("{name}: {}", file(right)))];
        columns.write(out, "file", &rows)?;
        if let (
            Some(FileEntry::Written { content: a, .. }),
            Some(FileEntry::Written { content: b, .. }),
        ) = (left, right)
            && a != b
        {
            columns.write(out, "", &columns.outputs(&a.0, &b.0))?;
        }
    }
    if differs && !is_shown {
        for &(name, same) in &late {
            let text = match late.len() {
                1 => differs_later(same),
                _ => format!(
                    "the first {} are the same; the versions may differ after them",
                    count(same, "byte")
                ),
            };
            write_field(out, "file", &format!("{name}: {text}"))?;
        }
    }
    Ok(())
}

fn file(file: Option<&FileEntry>) -> String {
    match file {
        None => "untouched".to_owned(),
        Some(FileEntry::Written { content, cut, mode }) => {
            let least = if *cut { "at least " } else { "" };
            format!("{least}{}, mode {mode:o}", count(content.0.len(), "byte"))
        }
        Some(FileEntry::Directory { mode }) => format!("directory, mode {mode:o}"),
        Some(FileEntry::Link { target }) => format!("link to {target}"),
        Some(FileEntry::Deleted) => "deleted".to_owned(),
    }
}

pub(crate) fn write_sources(
    out: &mut String,
    sign: char,
    style: Style,
    lines: &[LineEntry],
    others: &[LineEntry],
    width: usize,
) -> fmt::Result {
    for (index, line) in lines.iter().take(LINES).enumerate() {
        let text = visible(line.text.trim().as_bytes());
        let other = others
            .get(index)
            .map(|other| visible(other.text.trim().as_bytes()));
        let text = window(&text, other.as_deref(), width - 22);
        let number = line.line;
        writeln!(
            out,
            "            {style}{sign}{style:#} {DIM}{number:>5}{DIM:#}  {style}{text}{style:#}"
        )?;
    }
    if lines.len() > LINES {
        let more = count(lines.len() - LINES, "more line");
        writeln!(
            out,
            "            {style}{sign}{style:#}        {DIM}… {more}{DIM:#}"
        )?;
    }
    Ok(())
}

fn place(change: &ChangeEntry) -> String {
    match change.line {
        0 => change.file.clone(),
        line => format!("{}:{line}", change.file),
    }
}

#[cfg(test)]
mod tests;
