//! The report on changes as text, for a terminal of 100 columns.

use std::fmt::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::changes::{ChangeEntry, InfluenceEntry, LineEntry, Report};
use crate::fit::{count, listed, window};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const OLD: Style = AnsiColor::Red.on_default();
const NEW: Style = AnsiColor::Green.on_default();
const SAME: Style = AnsiColor::Yellow.on_default();
const WARN: Style = AnsiColor::Yellow.on_default().bold();

const WIDTH: usize = 100;
/// Of a longer change only the beginning is shown; the rest is in the source and in the JSON.
const LINES: usize = 12;
/// The same for lines that only explain a change.
const CONTEXT: usize = 4;

impl Report {
    /// The report for people, with colours that the caller may strip.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        for change in &self.changes {
            write_change(out, change)?;
            writeln!(out)?;
        }
        self.write_limitations(out)?;
        self.write_summary(out)
    }

    /// What could not be looked at, once if it is the same in both versions.
    fn write_limitations(&self, out: &mut String) -> fmt::Result {
        let (old, new) = (&self.old, &self.new);
        let both =
            |missing: &&String| old.missing.contains(missing) && new.missing.contains(missing);
        let mut write = |missing: &str, versions: &str| {
            writeln!(
                out,
                "{WARN}limitation{WARN:#}: not looked at in {versions}: {missing}"
            )
        };
        for missing in old.missing.iter().filter(both) {
            write(missing, "both versions")?;
        }
        for version in [old, new] {
            for missing in version.missing.iter().filter(|missing| !both(missing)) {
                write(missing, &version.label)?;
            }
        }
        Ok(())
    }

    fn write_summary(&self, out: &mut String) -> fmt::Result {
        let summary = &self.summary;
        let limited = !(self.old.missing.is_empty() && self.new.missing.is_empty());
        let head = match summary.changes {
            0 if limited => "No change in meaning in what could be looked at".to_owned(),
            0 => "No change in meaning".to_owned(),
            changes => count(changes, "change"),
        };
        let (old, new) = (&self.old.label, &self.new.label);
        writeln!(out, "{BOLD}{head}{BOLD:#}: {old} → {new}")?;
        let mut kinds = Vec::new();
        for (number, what) in [
            (summary.identical, "identical"),
            (summary.changed, "changed"),
            (summary.added, "added"),
            (summary.deleted, "deleted"),
        ] {
            if number > 0 {
                kinds.push(format!("{number} {what}"));
            }
        }
        match (summary.functions, summary.identical) {
            (1, 1) => write!(out, "1 function, identical")?,
            (functions, identical) if functions == identical => {
                write!(out, "{functions} functions, all identical")?;
            }
            (functions, _) => {
                let functions = count(functions, "function");
                write!(out, "{functions}: {}", kinds.join(", "))?;
            }
        }
        if summary.globals > 0 {
            write!(out, "; {} changed", count(summary.globals, "variable"))?;
        }
        if summary.hunks > 0 {
            write!(out, "; {} of text", count(summary.hunks, "hunk"))?;
        }
        writeln!(out)?;
        // With one change, it has just been said.
        if summary.changes > 1 {
            writeln!(out, "All changes together:")?;
            write_influence(out, &self.influence, None)?;
        }
        Ok(())
    }
}

fn write_change(out: &mut String, change: &ChangeEntry) -> fmt::Result {
    let name = match change.subject {
        "function" => format!("{}()", change.name),
        "assembler" => "top-level assembler".to_owned(),
        _ => change.name.clone(),
    };
    write!(out, "{BOLD}{:>3}  {name}{BOLD:#}  ", change.id)?;
    match (change.whole, change.kind) {
        (true, kind) => write!(out, "{kind} as a whole")?,
        (false, "modified") => write!(out, "modified")?,
        // It is not the function that was added or deleted.
        (false, kind) => write!(out, "statements {kind}")?,
    }
    if let Some(old_name) = &change.old_name {
        write!(out, ", was {old_name}")?;
    }
    let hunks: Vec<_> = change.hunks.iter().map(ToString::to_string).collect();
    match hunks.len() {
        0 => writeln!(out)?,
        1 => writeln!(out, "{DIM}  hunk {}{DIM:#}", hunks[0])?,
        _ => writeln!(out, "{DIM}  hunks {}{DIM:#}", listed(&hunks, 40))?,
    }
    write_source(out, change)?;
    if let Some(influence) = &change.influence {
        write_influence(out, influence, Some(change))?;
    }
    Ok(())
}

/// The lines of a change. Where its lines read the same in both versions they are shown once,
/// with what makes the difference below.
fn write_source(out: &mut String, change: &ChangeEntry) -> fmt::Result {
    let ChangeEntry {
        old,
        new,
        old_context,
        new_context,
        ..
    } = change;
    let layout = Layout::of(change);
    if reads_the_same(old, new) {
        layout.write(out, ('~', SAME, SAME), new, &[], LINES)?;
        layout.write(out, ('-', OLD, DIM), old_context, new_context, CONTEXT)?;
    } else {
        layout.write(out, ('-', OLD, OLD), old, new, LINES)?;
        layout.write(out, ('-', OLD, DIM), old_context, new_context, CONTEXT)?;
        layout.write(out, ('+', NEW, NEW), new, old, LINES)?;
    }
    layout.write(out, ('+', NEW, DIM), new_context, old_context, CONTEXT)
}

fn reads_the_same(old: &[LineEntry], new: &[LineEntry]) -> bool {
    let mut pairs = old.iter().zip(new);
    !old.is_empty()
        && old.len() == new.len()
        && pairs.all(|(old, new)| old.text.trim() == new.text.trim())
}

/// How the lines of one change are aligned.
struct Layout<'a> {
    /// How wide the names of files with line numbers are.
    place: usize,
    /// The files that the change is in.
    files: Vec<&'a str>,
    /// The indentation that all lines of these files have.
    indent: usize,
    /// The indentation that all lines of other files have.
    other_indent: usize,
}

impl<'a> Layout<'a> {
    fn of(change: &'a ChangeEntry) -> Self {
        let own = || change.old.iter().chain(&change.new);
        let context = change.old_context.iter().chain(&change.new_context);
        let all: Vec<_> = own().chain(context).collect();
        let files: Vec<_> = own().map(|line| &*line.file).collect();
        let (inside, outside): (Vec<_>, Vec<_>) =
            all.iter().partition(|line| files.contains(&&*line.file));
        let indent = |lines: &[&LineEntry]| {
            let indents = lines.iter().map(|line| indent(&line.text));
            indents.min().unwrap_or(0)
        };
        // Names of files may be so long that aligning with them leaves no room.
        let places = all.iter().map(|line| place(line).chars().count());
        Self {
            place: places.max().unwrap_or(0).min(WIDTH / 3),
            indent: indent(&inside),
            other_indent: indent(&outside),
            files,
        }
    }

    /// Writes lines; where they are too long, the part is shown that differs from `others`.
    fn write(
        &self,
        out: &mut String,
        (sign, sign_style, style): (char, Style, Style),
        lines: &[LineEntry],
        others: &[LineEntry],
        most: usize,
    ) -> fmt::Result {
        // A single line more takes no more room than saying so.
        let shown = most + usize::from(lines.len() == most + 1);
        for (index, line) in lines.iter().take(shown).enumerate() {
            let place = place(line);
            let room = WIDTH.saturating_sub(7 + place.chars().count().max(self.place));
            let other = others.get(index).map(|other| self.unindented(other));
            let text = window(&self.unindented(line), other.as_deref(), room.max(30));
            let width = self.place;
            write!(out, "   {sign_style}{sign}{sign_style:#} ")?;
            writeln!(out, "{DIM}{place:width$}{DIM:#}  {style}{text}{style:#}")?;
        }
        if lines.len() > shown {
            let more = count(lines.len() - shown, "more line");
            write!(out, "   {sign_style}{sign}{sign_style:#} ")?;
            writeln!(out, "{DIM}… {more}{DIM:#}")?;
        }
        Ok(())
    }

    /// The text without the indentation that the lines of the change have in common.
    fn unindented(&self, line: &LineEntry) -> String {
        let common = match self.files.contains(&&*line.file) {
            true => self.indent,
            false => self.other_indent,
        };
        let text: String = expanded(&line.text).chars().skip(common).collect();
        text.trim_end().to_owned()
    }
}

fn place(line: &LineEntry) -> String {
    format!("{}:{}", line.file, line.line)
}

fn indent(text: &str) -> usize {
    let text = expanded(text);
    text.chars().take_while(|c| *c == ' ').count()
}

/// The text with tabs as spaces, and nothing that a terminal would obey.
fn expanded(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\t' => out.push_str("    "),
            '\r' => {}
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

/// What a change, or all of them, can influence. The function that a change is in goes without
/// saying.
fn write_influence(
    out: &mut String,
    influence: &InfluenceEntry,
    change: Option<&ChangeEntry>,
) -> fmt::Result {
    const LABEL: usize = 20;
    let room = WIDTH - LABEL;
    let own = change.filter(|change| change.subject == "function");
    let others = influence.functions.iter();
    let others = others.filter(|name| own.is_none_or(|own| own.name != **name));
    let others: Vec<String> = others.cloned().collect();
    write!(out, "     {DIM}can influence{DIM:#}  ")?;
    match (&others[..], own) {
        ([], Some(_)) => writeln!(out, "no other function")?,
        ([], _) => writeln!(out, "no function")?,
        (names, own) => {
            let what = if own.is_some() {
                "other function"
            } else {
                "function"
            };
            let number = count(names.len(), what);
            let names = listed(names, room.saturating_sub(number.len() + 2));
            writeln!(out, "{number}: {names}")?;
        }
    }
    let mut places: Vec<_> = influence.outputs.iter().collect();
    places.sort_by_key(|line| (&line.file, line.line));
    let mut places: Vec<_> = places.into_iter().map(place).collect();
    // One that reads differently in both versions is still one.
    places.dedup();
    write!(out, "     {DIM}can reach{DIM:#}      ")?;
    if places.is_empty() {
        return writeln!(out, "no output");
    }
    let number = count(places.len(), "output");
    let places = listed(&places, room.saturating_sub(number.len() + 2));
    writeln!(out, "{number}: {places}")
}
