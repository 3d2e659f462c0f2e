//! Which hunks it takes to make a difference, as `beagle blame` and `beagle diff` show it.
//!
//! The types here are the JSON format, which docs/blame.md describes; [`SCHEMA`] changes when they
//! do.

use std::fmt::{self, Write};

use anstyle::{AnsiColor, Style};
use serde::{Deserialize, Serialize};

use crate::diff::{InputEntry, LineEntry};
use crate::diff_text::{NEW, OLD, write_differs, write_field, write_input, write_sources};
use crate::fit::count;

/// The version of the JSON format.
pub const SCHEMA: u32 = 1;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const UNCLEAR: Style = AnsiColor::Yellow.on_default().bold();

/// So many hunks are named if the cause is only known to be among them.
const BROAD: usize = 8;

/// The whole report of `beagle blame`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
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
    /// Which hunks it takes; `null` if there is no difference.
    pub culprits: Option<Culprits>,
    /// When the difference went away, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub until: Option<UntilEntry>,
    /// How long it took.
    pub seconds: f64,
    /// Other things that the user should know.
    pub notes: Vec<String>,
}

/// Which hunks it takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Culprits {
    /// Sets of hunks that make old behave as new, of which no part does, unless there was no time to narrow them down.
    pub sets: Vec<CulpritSet>,
    /// Sets of hunks without which new behaves as old, of which no part is enough.
    pub undo: Vec<Vec<usize>>,
    /// Whether it takes several hunks that change nothing by themselves.
    pub interaction: bool,
    /// Whether there was time to try all that should be tried.
    pub complete: bool,
    /// How many hunks there are in all.
    pub count: usize,
    /// The hunks that the sets name.
    pub hunks: Vec<HunkEntry>,
    /// How many mixed versions were built.
    pub builds: usize,
    /// How many of them did not build.
    pub failed: usize,
    /// What is said about it, in a line.
    pub said: String,
}

/// A set of hunks that makes old behave as new.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CulpritSet {
    /// Their numbers.
    pub hunks: Vec<usize>,
    /// How they belong together.
    pub relation: Relation,
    /// Whether none of them can be left out. If not, there was no time to narrow them down: the cause is among them.
    #[serde(default = "yes")]
    pub minimal: bool,
}

fn yes() -> bool {
    true
}

/// How hunks belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// There is only one.
    Alone,
    /// They change nothing alone, only together.
    Interaction,
    /// Some of them change something else alone.
    Adds,
    /// They do not build without each other.
    Bound,
    /// Not known.
    Unknown,
}

/// A hunk of the textual difference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkEntry {
    /// Its number, from 1.
    pub id: usize,
    /// The file: of new, unless it is only in old.
    pub file: String,
    /// The line there, from 1; 0 for all of a file.
    pub line: usize,
    /// The function that it is in, as far as the text tells.
    pub function: Option<String>,
    /// The lines that it takes away.
    pub old_lines: Vec<LineEntry>,
    /// The lines that it puts there.
    pub new_lines: Vec<LineEntry>,
}

/// When a difference went away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntilEntry {
    /// The last revision that was looked at, as the user called it.
    pub last: String,
    /// The first revision from which on it does what old did; `null` if it still does not.
    pub fixed: Option<RevisionEntry>,
    /// How many revisions there are after new.
    pub revisions: usize,
    /// How many of them were built and run.
    pub tried: usize,
    /// How many of these could not be built.
    pub failed: usize,
}

/// A revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionEntry {
    /// Its hash.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
}

impl Culprits {
    /// What is to be said about sets of hunks, in a line.
    pub fn sentence(sets: &[CulpritSet], count: usize, complete: bool) -> String {
        let mut text = match sets {
            [] if !complete => "not known".to_owned(),
            [] if count == 0 => "not in the sources, which are the same".to_owned(),
            [] => "not in the sources: old with all hunks does not do what new does".to_owned(),
            [only] if count == 1 => format!("{}, the only one", named(&only.hunks)),
            [only] => one(only),
            [first, rest @ ..] if sets.iter().all(|set| set.relation == Relation::Alone) => {
                let others: Vec<usize> = rest.iter().flat_map(|set| set.hunks.clone()).collect();
                format!(
                    "{} alone; so does {} alone",
                    named(&first.hunks),
                    list(&others, "or")
                )
            }
            [first, rest @ ..] => {
                let others = rest.iter().map(|set| named(&set.hunks));
                let others: Vec<String> = others.collect();
                format!("{}; or else {}", one(first), others.join(", or "))
            }
        };
        if !complete && sets.iter().all(|set| set.minimal) {
            text.push_str(" (there was no time to find out more)");
        }
        text
    }

    /// What can be undone, in a line.
    pub fn undo_sentence(&self) -> Option<String> {
        let undo: Vec<String> = self.undo.iter().map(|set| named(set)).collect();
        match self.count > 1 && !undo.is_empty() {
            true => Some(format!(
                "new without {} does what old does",
                undo.join(" or without ")
            )),
            false => None,
        }
    }

    /// Writes them as part of a report.
    pub(crate) fn write(&self, out: &mut String, width: usize) -> fmt::Result {
        write_field(out, "cause", &format!("{BOLD}{}{BOLD:#}", self.said))?;
        if let Some(undo) = self.undo_sentence() {
            write_field(out, "", &undo)?;
        }
        if self.count == 1 {
            return Ok(());
        }
        let is_narrow = self.sets.iter().all(|set| set.minimal);
        let shown = if is_narrow { self.hunks.len() } else { BROAD };
        for hunk in self.hunks.iter().take(shown) {
            let mut place = format!("hunk {}  {}", hunk.id, hunk.place());
            if let Some(function) = &hunk.function {
                place.push_str(&format!("  {function}"));
            }
            write_field(out, "", &place)?;
            write_sources(out, '-', OLD, &hunk.old_lines, &hunk.new_lines, width)?;
            write_sources(out, '+', NEW, &hunk.new_lines, &hunk.old_lines, width)?;
        }
        if self.hunks.len() > shown {
            let more = count(self.hunks.len() - shown, "more hunk");
            write_field(out, "", &format!("{DIM}… {more}{DIM:#}"))?;
        }
        Ok(())
    }
}

impl HunkEntry {
    fn place(&self) -> String {
        match self.line {
            0 => self.file.clone(),
            line => format!("{}:{line}", self.file),
        }
    }
}

/// What is to be said about one set.
fn one(set: &CulpritSet) -> String {
    let hunks = named(&set.hunks);
    let two = set.hunks.len() == 2;
    if !set.minimal {
        let among = match set.hunks.len() {
            ..=BROAD => hunks,
            more => format!("{more} hunks"),
        };
        return format!("among {among}; there was no time to narrow it down");
    }
    match set.relation {
        Relation::Alone => format!("{hunks} alone"),
        Relation::Interaction if two => format!("{hunks} together; either alone is fine"),
        Relation::Interaction => format!("{hunks} together; fewer of them are fine"),
        Relation::Adds => format!("{hunks} together; some of them alone change something else"),
        Relation::Bound => format!("{hunks} together; they do not build apart"),
        Relation::Unknown => format!("{hunks} together"),
    }
}

fn named(hunks: &[usize]) -> String {
    match hunks {
        [hunk] => format!("hunk {hunk}"),
        hunks => format!("hunks {}", list(hunks, "and")),
    }
}

/// `1`, `1 and 2`, `1, 2 and 3`.
fn list(numbers: &[usize], word: &str) -> String {
    let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match &words[..] {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
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
        if let Some(culprits) = &self.culprits {
            culprits.write(out, width)?;
            let mut tried = format!(
                "{}, {}",
                count(culprits.count, "hunk"),
                count(culprits.builds, "mixed version")
            );
            if culprits.failed > 0 {
                tried.push_str(&format!(", {} of which did not build", culprits.failed));
            }
            write_field(out, "tried", &format!("{DIM}{tried}{DIM:#}"))?;
        }
        if let Some(until) = &self.until {
            let fixed = match &until.fixed {
                Some(fixed) => {
                    let short = fixed.commit.get(..7).unwrap_or(&fixed.commit);
                    format!("by {short} {}", fixed.subject)
                }
                None => format!("not until {}", until.last),
            };
            write_field(out, "fixed", &format!("{BOLD}{fixed}{BOLD:#}"))?;
            let mut tried = format!(
                "{} of {} after new tried",
                until.tried,
                count(until.revisions, "revision")
            );
            if until.failed > 0 {
                tried.push_str(&format!(", {} of which did not build", until.failed));
            }
            write_field(out, "", &format!("{DIM}{tried}{DIM:#}"))?;
        }
        for note in &self.notes {
            writeln!(out, "{UNCLEAR}note{UNCLEAR:#}: {note}")?;
        }
        writeln!(out, "{status}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(hunks: &[usize], relation: Relation) -> CulpritSet {
        CulpritSet {
            hunks: hunks.to_vec(),
            relation,
            minimal: true,
        }
    }

    #[test]
    fn what_is_said_names_the_hunks_and_how_they_belong_together() {
        use Relation::{Adds, Alone, Bound, Interaction};
        for (sets, count, said) in [
            (vec![set(&[1], Alone)], 1, "hunk 1, the only one"),
            (vec![set(&[3], Alone)], 4, "hunk 3 alone"),
            (
                vec![set(&[1, 3], Interaction)],
                4,
                "hunks 1 and 3 together; either alone is fine",
            ),
            (
                vec![set(&[2, 5, 7], Interaction)],
                9,
                "hunks 2, 5 and 7 together; fewer of them are fine",
            ),
            (
                vec![set(&[1], Alone), set(&[2], Alone), set(&[4], Alone)],
                4,
                "hunk 1 alone; so does 2 or 4 alone",
            ),
            (
                vec![set(&[1, 2], Bound), set(&[3, 4], Adds)],
                4,
                "hunks 1 and 2 together; they do not build apart; or else hunks 3 and 4",
            ),
        ] {
            assert_eq!(Culprits::sentence(&sets, count, true), said);
        }
        let cut = Culprits::sentence(&[set(&[1], Alone)], 2, false);
        assert_eq!(cut, "hunk 1 alone (there was no time to find out more)");
    }

    #[test]
    fn hunks_that_were_not_narrowed_down_are_not_said_to_act_together() {
        let broad = |count: usize| CulpritSet {
            minimal: false,
            ..set(&(1..=count).collect::<Vec<_>>(), Relation::Unknown)
        };
        assert_eq!(
            Culprits::sentence(&[broad(6)], 6, false),
            "among hunks 1, 2, 3, 4, 5 and 6; there was no time to narrow it down"
        );
        assert_eq!(
            Culprits::sentence(&[broad(60)], 90, false),
            "among 60 hunks; there was no time to narrow it down"
        );
    }

    #[test]
    fn the_report_shows_each_hunk() {
        let line = |file: &str, line, text: &str| LineEntry {
            file: file.into(),
            line,
            text: text.into(),
        };
        let hunk = |id, at: u32| HunkEntry {
            id,
            file: "new.c".into(),
            line: at as usize,
            function: Some("merge".into()),
            old_lines: vec![line("old.c", at - 1, "  int kept = 0;")],
            new_lines: vec![line("new.c", at, "  int kept;")],
        };
        let sets = vec![set(&[1, 3], Relation::Interaction)];
        let report = Report {
            schema: SCHEMA,
            old: "v1".into(),
            new: "v2".into(),
            program: "prog".into(),
            input: InputEntry {
                args: vec![b"-x"[..].into()],
                ..InputEntry::default()
            },
            aspects: vec!["stdout".into()],
            unstable: false,
            culprits: Some(Culprits {
                said: Culprits::sentence(&sets, 3, true),
                sets,
                undo: vec![vec![1], vec![3]],
                interaction: true,
                complete: true,
                count: 3,
                hunks: vec![hunk(1, 12), hunk(3, 40)],
                builds: 6,
                failed: 1,
            }),
            until: Some(UntilEntry {
                last: "v3".into(),
                fixed: Some(RevisionEntry {
                    commit: "0123456789abcdef".into(),
                    subject: "Set kept again".into(),
                }),
                revisions: 9,
                tried: 4,
                failed: 1,
            }),
            seconds: 1.5,
            notes: vec!["no sanitizers".into()],
        };
        insta::assert_snapshot!(anstream::adapter::strip_str(
            &report.text(100, "Exit status 1: the versions differ")
        ));
        let read: Report = serde_json::from_str(&report.json()).unwrap();
        assert_eq!(read, report);
    }
}
