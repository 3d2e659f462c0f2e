//! What changed between two versions, as `beagle changes` shows it.
//!
//! The types here are the JSON format; [`SCHEMA`] changes when they do.

use beagle_change::{Change, Comparison, Influence, Kind, Line, Subject};
use beagle_program::Program;
use serde::Serialize;

/// Name and version of the JSON format.
pub const SCHEMA: &str = "beagle.changes/1";

/// How many lines of context a change has at most.
pub const CONTEXT: usize = 20;

/// The whole report.
#[derive(Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The old version.
    pub old: Version,
    /// The new version.
    pub new: Version,
    /// Counts.
    pub summary: Summary,
    /// What changed in meaning, numbered from 1.
    pub changes: Vec<ChangeEntry>,
    /// What changed in the text, numbered from 1.
    pub hunks: Vec<HunkEntry>,
    /// What all changes together can influence.
    pub influence: InfluenceEntry,
}

/// One of the two versions.
#[derive(Debug, Serialize)]
pub struct Version {
    /// What the user called it.
    pub label: String,
    /// Parts of the program that could not be looked at, each with the reason.
    pub missing: Vec<String>,
}

/// Counts of functions and changes.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Functions that are defined in either version.
    pub functions: usize,
    /// Of these, those without a change.
    pub identical: usize,
    /// Functions with a change, that both versions have.
    pub changed: usize,
    /// Functions that only new has.
    pub added: usize,
    /// Functions that only old has.
    pub deleted: usize,
    /// Global variables that differ.
    pub globals: usize,
    /// Changes.
    pub changes: usize,
    /// Hunks of the textual difference.
    pub hunks: usize,
    /// Statements that correspond in both versions.
    pub matched_statements: u32,
}

/// One change.
#[derive(Debug, Serialize)]
pub struct ChangeEntry {
    /// Its number, from 1.
    pub id: usize,
    /// `added`, `deleted` or `modified`.
    pub kind: &'static str,
    /// `function`, `global` or `assembler`.
    pub subject: &'static str,
    /// The function or variable, by the name that it has in new.
    pub name: String,
    /// The name in old, if it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_name: Option<String>,
    /// Whether the whole function or variable is only in one version.
    pub whole: bool,
    /// The changed lines of old.
    pub old: Vec<LineEntry>,
    /// The changed lines of new.
    pub new: Vec<LineEntry>,
    /// What stands in old where `new` has changed lines and `old` has none, or what it comes
    /// from, such as the definition of a macro; at most [`CONTEXT`] lines.
    pub old_context: Vec<LineEntry>,
    /// The same in new.
    pub new_context: Vec<LineEntry>,
    /// The hunks that it belongs to.
    pub hunks: Vec<usize>,
    /// What it can influence; absent if there are too many changes to ask for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub influence: Option<InfluenceEntry>,
}

/// A line of source.
#[derive(Debug, Serialize)]
pub struct LineEntry {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What stands there.
    pub text: String,
}

/// What can be influenced.
#[derive(Debug, Serialize)]
pub struct InfluenceEntry {
    /// Functions by name.
    pub functions: Vec<String>,
    /// Places where the program shows something to the outside.
    pub outputs: Vec<LineEntry>,
}

/// A run of changed lines.
#[derive(Debug, Serialize)]
pub struct HunkEntry {
    /// Its number, from 1.
    pub id: usize,
    /// The file in old.
    pub old_file: String,
    /// The first line in old.
    pub old_start: u32,
    /// How many lines of old.
    pub old_lines: u32,
    /// The file in new.
    pub new_file: String,
    /// The first line in new.
    pub new_start: u32,
    /// How many lines of new.
    pub new_lines: u32,
}

/// What a report is made from.
pub struct Facts<'a> {
    /// The programs.
    pub programs: (&'a Program, &'a Program),
    /// What was found.
    pub comparison: &'a Comparison,
    /// The lines of each of the comparison's hunks, old and new.
    pub hunk_texts: &'a [(Vec<String>, Vec<String>)],
    /// The influence of each change; empty if it was not asked for.
    pub influences: &'a [Influence],
    /// The influence of all changes together.
    pub influence: &'a Influence,
}

impl Report {
    /// Puts a report together.
    pub fn new(old: Version, new: Version, facts: &Facts) -> Report {
        let comparison = facts.comparison;
        let changes = comparison.changes.iter().enumerate();
        let mut in_hunk = vec![Vec::new(); comparison.hunks.len()];
        for change in &comparison.changes {
            change
                .hunks
                .iter()
                .for_each(|&hunk| in_hunk[hunk].push(change));
        }
        let changes = changes.map(|(i, change)| entry(i, change, facts, &in_hunk));
        let changes = changes.collect();
        let hunks = comparison
            .hunks
            .iter()
            .enumerate()
            .map(|(i, hunk)| HunkEntry {
                id: i + 1,
                old_file: hunk.old_file.clone(),
                old_start: hunk.old.start,
                old_lines: hunk.old.len() as u32,
                new_file: hunk.new_file.clone(),
                new_start: hunk.new.start,
                new_lines: hunk.new.len() as u32,
            });
        Report {
            schema: SCHEMA,
            old,
            new,
            summary: summary(facts),
            hunks: hunks.collect(),
            influence: influence_entry(facts.influence),
            changes,
        }
    }

    /// The report as JSON.
    pub fn json(&self) -> String {
        // Plain data: there is nothing in it that could not be written.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// `in_hunk` has the changes of each hunk.
fn entry(index: usize, change: &Change, facts: &Facts, in_hunk: &[Vec<&Change>]) -> ChangeEntry {
    let (old, new) = facts.programs;
    let (subject, old_name, new_name) = match change.subject {
        Subject::Function(pair) => (
            "function",
            pair.old.map(|id| old.function(id).name.clone()),
            pair.new.map(|id| new.function(id).name.clone()),
        ),
        Subject::Global(pair) => (
            "global",
            pair.old.map(|id| old.global(id).name.clone()),
            pair.new.map(|id| new.global(id).name.clone()),
        ),
        Subject::Assembler => ("assembler", None, None),
    };
    let whole = subject != "assembler" && is_whole(change, facts);
    ChangeEntry {
        id: index + 1,
        kind: match change.kind() {
            Kind::Added => "added",
            Kind::Deleted => "deleted",
            Kind::Modified => "modified",
        },
        subject,
        old_name: old_name
            .clone()
            .filter(|name| new_name.as_ref().is_some_and(|new_name| name != new_name)),
        name: new_name.or(old_name).unwrap_or_default(),
        whole,
        old: lines(&change.old_lines),
        new: lines(&change.new_lines),
        old_context: context(change, facts, in_hunk, Side::Old),
        new_context: context(change, facts, in_hunk, Side::New),
        hunks: change.hunks.iter().map(|hunk| hunk + 1).collect(),
        influence: facts.influences.get(index).map(influence_entry),
    }
}

/// Whether what the change is in exists in one version only.
fn is_whole(change: &Change, facts: &Facts) -> bool {
    let (old, new) = facts.programs;
    match change.subject {
        Subject::Function(pair) => {
            let old = pair.old.is_some_and(|id| old.function(id).is_defined());
            let new = pair.new.is_some_and(|id| new.function(id).is_defined());
            old != new
        }
        Subject::Global(pair) => pair.old.is_none() || pair.new.is_none(),
        Subject::Assembler => false,
    }
}

/// One of the two versions.
#[derive(Clone, Copy)]
enum Side {
    Old,
    New,
}

impl Side {
    fn changed(self, change: &Change) -> &[Line] {
        match self {
            Side::Old => &change.old_lines,
            Side::New => &change.new_lines,
        }
    }
}

/// The lines of the change's hunks on one side, for hunks in which it has no lines of its own
/// on that side. What belongs to other changes is shown with them.
fn context(change: &Change, facts: &Facts, in_hunk: &[Vec<&Change>], side: Side) -> Vec<LineEntry> {
    let mut context = Vec::new();
    if is_whole(change, facts) {
        return context;
    }
    for &index in &change.hunks {
        let hunk = &facts.comparison.hunks[index];
        let (file, range) = match side {
            Side::Old => (&hunk.old_file, &hunk.old),
            Side::New => (&hunk.new_file, &hunk.new),
        };
        let is_inside = |line: &&Line| line.file == *file && range.contains(&line.line);
        if side.changed(change).iter().any(|line| is_inside(&line)) {
            continue;
        }
        let others = in_hunk[index].iter().flat_map(|other| side.changed(other));
        let taken: Vec<u32> = others.filter(is_inside).map(|line| line.line).collect();
        let texts = facts.hunk_texts.get(index).map(|texts| match side {
            Side::Old => &texts.0,
            Side::New => &texts.1,
        });
        let lines = range.clone().zip(texts.into_iter().flatten());
        let lines = lines.filter(|(line, text)| !taken.contains(line) && !text.trim().is_empty());
        context.extend(lines.map(|(line, text)| LineEntry {
            file: file.clone(),
            line,
            text: text.clone(),
        }));
    }
    context.truncate(CONTEXT);
    context
}

fn lines(lines: &[Line]) -> Vec<LineEntry> {
    let entry = |line: &Line| LineEntry {
        file: line.file.clone(),
        line: line.line,
        text: line.text.clone(),
    };
    lines.iter().map(entry).collect()
}

fn influence_entry(influence: &Influence) -> InfluenceEntry {
    InfluenceEntry {
        functions: influence.functions.clone(),
        outputs: lines(&influence.outputs),
    }
}

fn summary(facts: &Facts) -> Summary {
    let (old, new) = facts.programs;
    let defined = facts.comparison.functions.iter().filter(|pair| {
        pair.old.is_some_and(|id| old.function(id).is_defined())
            || pair.new.is_some_and(|id| new.function(id).is_defined())
    });
    let functions = defined.count();
    let (mut added, mut deleted, mut globals) = (0, 0, 0);
    let mut touched: Vec<_> = Vec::new();
    for change in &facts.comparison.changes {
        match (change.subject, change.kind()) {
            (Subject::Function(pair), _) if !is_whole(change, facts) => touched.push(pair.new),
            (Subject::Function(_), Kind::Deleted) => deleted += 1,
            (Subject::Function(_), _) => added += 1,
            (Subject::Global(_), _) => globals += 1,
            (Subject::Assembler, _) => {}
        }
    }
    touched.sort();
    touched.dedup();
    Summary {
        functions,
        identical: functions - added - deleted - touched.len(),
        changed: touched.len(),
        added,
        deleted,
        globals,
        changes: facts.comparison.changes.len(),
        hunks: facts.comparison.hunks.len(),
        matched_statements: facts.comparison.stmts.shared,
    }
}
