//! Files that the program looks for and does not find, and files that it was given and does not look for.

use std::collections::BTreeSet;
use std::path::Path;

use beagle_engine::Files;
use beagle_report::diff::{LossEntry, Report};
use beagle_trace::{Input, SourceKind};

use crate::invocation::Invocation;

/// So many are named.
const NAMES: usize = 5;

/// Tells of them. What is missing stands against saying that the versions are equivalent.
pub fn note(report: &mut Report, invocation: &Invocation, files: &Files) {
    if !files.absent.is_empty() {
        let names = listed(&files.absent);
        report.missing.push(format!("files are not there: {names}"));
        report.notes.push(format!(
            "the program looks for {names}, which {} not there; give it with --file",
            are(&files.absent)
        ));
    }
    // Other names are guesses. One that the user wrote is meant.
    let own = &invocation.seeds[..invocation.own];
    let named = files.absent_by_name.iter();
    let named: BTreeSet<String> = named
        .filter(|name| own.iter().any(|input| has_word(input, name)))
        .cloned()
        .collect();
    if !named.is_empty() {
        let names = listed(&named);
        report.missing.push(format!("files are not there: {names}"));
        report.losses.push(LossEntry {
            cause: format!("file that is not there: {names}"),
            count: 1,
        });
        report.notes.push(format!(
            "the program looks for {names}, which {} not there; a word @{{PATH}} gives a file and its name",
            are(&named)
        ));
    }
    for name in &files.unread {
        let shown = name.escape_ascii();
        let last = Path::new(std::str::from_utf8(name).unwrap_or_default()).file_name();
        let meant = files.absent.iter().find(|absent| {
            let absent = Path::new(absent.as_str()).file_name();
            absent.is_some() && absent == last
        });
        let why = match meant {
            Some(meant) => format!(
                "; it looks for {meant}: --file keeps the path, so give it from the directory where that is right"
            ),
            None => String::new(),
        };
        let warning = format!("--file {shown}: no run read it under that name{why}");
        report.notes.push(warning);
    }
}

fn has_word(input: &Input, word: &str) -> bool {
    let mut sources = input.sources.iter().skip(1);
    sources.any(|source| {
        let bytes = source.bytes.strip_prefix(b"./").unwrap_or(&source.bytes);
        source.kind == SourceKind::Argument && bytes == word.as_bytes()
    })
}

fn listed(names: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES).map(String::as_str).collect();
    match names.len().saturating_sub(NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn are(names: &BTreeSet<String>) -> &'static str {
    match names.len() {
        1 => "is",
        _ => "are",
    }
}
