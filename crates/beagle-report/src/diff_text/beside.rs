//! Two outputs side by side, from shortly before the first difference on.

use std::fmt::{self, Write};

use anstyle::Style;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::fit::{count, window};

use super::{DIM, NEW, OLD};

/// How many rows are shown.
const ROWS: usize = 10;
/// How many of them stand before the first difference.
const BEFORE: usize = 2;
/// How many lines after the first difference are compared line by line.
const COMPARED: usize = 200;

/// Where a table of two columns stands.
pub(crate) struct Columns {
    /// Characters before the first column, of which the label takes some.
    pub indent: usize,
    /// Characters of each column.
    pub room: usize,
}

/// One row: what stands left and right, and whether that is a difference.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    left: String,
    right: String,
    differs: bool,
}

impl Row {
    /// A row of two short texts.
    pub(crate) fn new(left: impl Into<String>, right: impl Into<String>) -> Self {
        let (left, right) = (left.into(), right.into());
        Self {
            differs: left != right,
            left,
            right,
        }
    }

    /// A row that says something about both columns.
    pub(crate) fn note(left: impl Into<String>, right: impl Into<String>) -> Self {
        Self {
            left: left.into(),
            right: right.into(),
            differs: false,
        }
    }

    /// Puts a word where nothing stands.
    pub(crate) fn name_nothing(&mut self, left: &str, right: &str) {
        if self.left.is_empty() {
            self.left = left.to_owned();
        }
        if self.right.is_empty() {
            self.right = right.to_owned();
        }
    }
}

impl Columns {
    /// For a page of this width.
    pub(crate) fn new(width: usize) -> Self {
        const INDENT: usize = 12;
        // Between the columns stands ` │ `, behind them ` ◀`.
        let room = width.saturating_sub(INDENT + 5) / 2;
        Self {
            indent: INDENT,
            room: room.max(20),
        }
    }

    /// Writes rows, the first with a label.
    pub(crate) fn write(&self, out: &mut String, label: &str, rows: &[Row]) -> fmt::Result {
        let mut label = label;
        for row in rows {
            let width = self.indent - 4;
            write!(out, "   {DIM}{label:width$}{DIM:#} ")?;
            let (left, right) = (cut(&row.left, self.room), cut(&row.right, self.room));
            let styles = match row.differs {
                true => [OLD, NEW],
                false => [Style::new(), Style::new()],
            };
            let same = match row.differs {
                true => common(&left, &right),
                false => (0, 0),
            };
            self.cell(out, &left, styles[0], same, true)?;
            let gap = if right.is_empty() && !row.differs {
                ""
            } else {
                " "
            };
            write!(out, " {DIM}│{DIM:#}{gap}")?;
            self.cell(out, &right, styles[1], same, row.differs)?;
            writeln!(out, "{}", if row.differs { " ◀" } else { "" })?;
            label = "";
        }
        Ok(())
    }

    /// Writes a text; what is not the same on the other side stands out.
    fn cell(
        &self,
        out: &mut String,
        text: &str,
        style: Style,
        (before, after): (usize, usize),
        fill: bool,
    ) -> fmt::Result {
        let chars: Vec<char> = text.chars().collect();
        let middle = before..chars.len().saturating_sub(after).max(before);
        let part = |range: std::ops::Range<usize>| chars[range].iter().collect::<String>();
        match before + after {
            0 => write!(out, "{style}{text}{style:#}")?,
            _ => {
                let strong = style.bold().underline();
                let (start, end) = (part(0..middle.start), part(middle.end..chars.len()));
                let middle = part(middle);
                write!(out, "{style}{start}{style:#}{strong}{middle}{strong:#}")?;
                write!(out, "{style}{end}{style:#}")?;
            }
        }
        if fill {
            let width = self.room.saturating_sub(chars.len());
            write!(out, "{:width$}", "")?;
        }
        Ok(())
    }

    /// The rows for two outputs that differ.
    pub(crate) fn outputs(&self, old: &[u8], new: &[u8]) -> Vec<Row> {
        match is_text(old) && is_text(new) {
            true => self.lines(old, new),
            false => self.hex(old, new),
        }
    }

    fn lines(&self, old: &[u8], new: &[u8]) -> Vec<Row> {
        let (old, new) = (lines(old), lines(new));
        let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let start = same.saturating_sub(BEFORE);
        let numbered = old.len().max(new.len()) > 1;
        let last = old.len().max(new.len()).min(start + ROWS);
        let digits = last.to_string().len();
        let number = |index: usize| match numbered {
            true => format!("{:digits$}: ", index + 1),
            false => String::new(),
        };
        let mut rows = Vec::new();
        if start > 0 {
            let text = format!("… {} the same", count(start, "line"));
            rows.push(Row::new(&*text, &*text));
        }
        let mut push = |old_at: Option<usize>, new_at: Option<usize>| {
            let texts = (old_at.map(|at| old[at]), new_at.map(|at| new[at]));
            let room = self.room.saturating_sub(number(0).chars().count());
            let (left, right) = shown(texts, room);
            let with = |at: Option<usize>, text: String| match at {
                Some(at) => number(at) + &text,
                None => text,
            };
            rows.push(Row {
                left: with(old_at, left),
                right: with(new_at, right),
                differs: texts.0 != texts.1,
            });
        };
        for (left, right) in pairs(&old[start..], &new[start..]).into_iter().take(ROWS) {
            push(left.map(|at| at + start), right.map(|at| at + start));
        }
        let left = |lines: usize| lines.saturating_sub(start + ROWS);
        let more = |lines: usize| match left(lines) {
            0 => String::new(),
            more => format!("… {}", count(more, "more line")),
        };
        let rest = Row::note(more(old.len()), more(new.len()));
        if rest != Row::default() {
            rows.push(rest);
        }
        rows
    }

    fn hex(&self, old: &[u8], new: &[u8]) -> Vec<Row> {
        let width = match self.room {
            72.. => 16,
            40.. => 8,
            _ => 4,
        };
        let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let start = (same / width).saturating_sub(1) * width;
        let mut rows = Vec::new();
        if start > 0 {
            let text = format!("… {} the same", count(start, "byte"));
            rows.push(Row::new(&*text, &*text));
        }
        let end = old.len().max(new.len());
        let most = start + ROWS * width;
        for at in (start..end.min(most)).step_by(width) {
            rows.push(Row::new(hex_line(old, at, width), hex_line(new, at, width)));
        }
        if end > most {
            let more = |bytes: &[u8]| match bytes.len().saturating_sub(most) {
                0 => String::new(),
                more => format!("… {}", count(more, "more byte")),
            };
            rows.push(Row::note(more(old), more(new)));
        }
        rows
    }
}

/// How many characters two texts have in common at the start and at the end.
fn common(left: &str, right: &str) -> (usize, usize) {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let shorter = left.len().min(right.len());
    let pairs = left.iter().zip(&right);
    let before = pairs.take_while(|(a, b)| a == b).count();
    let pairs = left.iter().rev().zip(right.iter().rev());
    let after = pairs.take_while(|(a, b)| a == b).count();
    (before, after.min(shorter - before))
}

/// Whether bytes can be shown as text. The end may be in the middle of a character.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let is_text = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    is_text && !bytes.contains(&0)
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').collect()
}

/// Which lines stand side by side.
fn pairs(old: &[&[u8]], new: &[&[u8]]) -> Vec<(Option<usize>, Option<usize>)> {
    let old = &old[..old.len().min(COMPARED)];
    let new = &new[..new.len().min(COMPARED)];
    let mut pairs = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        let (left, right) = (op.old_range(), op.new_range());
        match op {
            DiffOp::Equal { .. } | DiffOp::Replace { .. } => {
                for at in 0..left.len().max(right.len()) {
                    let side = |range: &std::ops::Range<usize>| {
                        (at < range.len()).then_some(range.start + at)
                    };
                    pairs.push((side(&left), side(&right)));
                }
            }
            DiffOp::Delete { .. } => pairs.extend(left.map(|at| (Some(at), None))),
            DiffOp::Insert { .. } => pairs.extend(right.map(|at| (None, Some(at)))),
        }
    }
    pairs
}

/// Two lines as they are shown: with nothing that a terminal would obey, and cut to what differs.
fn shown((old, new): (Option<&[u8]>, Option<&[u8]>), room: usize) -> (String, String) {
    let differs = old != new;
    let other_ends = |other: Option<&[u8]>| other.is_some_and(|line| line.ends_with(b"\n"));
    let text = |line: Option<&[u8]>, other: Option<&[u8]>| {
        let Some(line) = line else {
            return String::new();
        };
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        let mut text = visible(body);
        if differs {
            let kept = text.trim_end_matches(' ').len();
            let spaces = "·".repeat(text.len() - kept);
            text.replace_range(kept.., &spaces);
            if body.is_empty() {
                text.push_str("(empty line)");
            } else if body.len() == line.len() && other_ends(other) {
                text.push_str(" (no newline)");
            }
        }
        text
    };
    let (left, right) = (text(old, new), text(new, old));
    (
        window(&left, Some(&right), room),
        window(&right, Some(&left), room),
    )
}

/// Text with backslashes for what cannot be seen.
pub(crate) fn visible(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                c if c.is_control() => out.extend(c.escape_unicode()),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

fn hex_line(bytes: &[u8], at: usize, width: usize) -> String {
    let end = bytes.len().min(at + width);
    let Some(line) = bytes.get(at..end).filter(|line| !line.is_empty()) else {
        return String::new();
    };
    let mut text = format!("{at:06x} ");
    for byte in line {
        text.push_str(&format!(" {byte:02x}"));
    }
    text.push_str(&"   ".repeat(width - line.len()));
    text.push_str("  ");
    let shown = |&byte: &u8| match byte {
        b' '..=b'~' => byte as char,
        _ => '.',
    };
    text.extend(line.iter().map(shown));
    text
}

/// The text, cut at its end if it is too long.
pub(crate) fn cut(text: &str, room: usize) -> String {
    window(text, None, room)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str) -> Vec<String> {
        let rows = Columns::new(57).outputs(old.as_bytes(), new.as_bytes());
        let text = |row: &Row| {
            let mark = if row.differs { " <" } else { "" };
            format!("{}|{}{mark}", row.left, row.right)
        };
        rows.iter().map(text).collect()
    }

    #[test]
    fn single_lines_have_no_numbers() {
        assert_eq!(check("a\n", "b\n"), ["a|b <"]);
        assert_eq!(check("", "\n"), ["|(empty line) <"]);
        assert_eq!(check("a\n", "a"), ["a|a (no newline) <"]);
        assert_eq!(check("a  \n", "a\t\n"), ["a··|a\\t <"]);
        assert_eq!(check("\u{1b}[0m", "\r"), ["\\u{1b}[0m|\\r <"]);
    }

    #[test]
    fn lines_that_are_missing_leave_a_gap() {
        assert_eq!(
            check("a\nb\nc\n", "a\nc\n"),
            ["1: a|1: a", "2: b| <", "3: c|2: c"]
        );
        assert_eq!(
            check("a\nx\n", "a\nx\ny\n"),
            ["1: a|1: a", "2: x|2: x", "|3: y <"]
        );
    }

    #[test]
    fn long_outputs_begin_shortly_before_the_difference() {
        let lines =
            |from: usize| -> String { (from..from + 500).map(|n| format!("{n}\n")).collect() };
        let rows = check(&(lines(0) + &lines(0)), &(lines(0) + &lines(1000)));
        assert_eq!(rows[0], "… 498 lines the same|… 498 lines the same");
        assert_eq!(rows[3], "501: 0|501: 1000 <");
        assert_eq!(rows.len(), ROWS + 2);
        assert_eq!(rows[11], "… 492 more lines|… 492 more lines");
    }

    #[test]
    fn long_lines_show_where_they_differ() {
        let long = "x".repeat(100);
        let rows = check(&format!("{long}1"), &format!("{long}2"));
        assert_eq!(rows, ["…xxxxxxxxxxxxxxxxxx1|…xxxxxxxxxxxxxxxxxx2 <"]);
    }

    #[test]
    fn bytes_that_are_no_text_are_numbers() {
        assert_eq!(
            check("\0a", "\0b"),
            ["000000  00 61        .a|000000  00 62        .b <"]
        );
        let zeros = "\0".repeat(99);
        let rows = check(&zeros, &(zeros.clone() + "x"));
        assert_eq!(rows[0], "… 92 bytes the same|… 92 bytes the same");
        assert_eq!(
            rows[2],
            "000060  00 00 00     ...|000060  00 00 00 78  ...x <"
        );
    }

    #[test]
    fn what_differs_within_a_line_stands_out() {
        assert_eq!(common("abc", "axc"), (1, 1));
        assert_eq!(common("aa", "aaa"), (2, 0));
        assert_eq!(common("", "x"), (0, 0));
        let mut out = String::new();
        let row = Row::new("one two", "one 2");
        Columns::new(57)
            .write(&mut out, "", &[row])
            .expect("a string");
        let strong = NEW.bold().underline();
        assert!(
            out.contains(&format!("one {NEW:#}{strong}2{strong:#}")),
            "{out:?}"
        );
    }

    #[test]
    fn text_may_end_within_a_character() {
        assert!(is_text(&"aü".as_bytes()[..2]));
        assert!(!is_text(b"\xff"));
    }
}
