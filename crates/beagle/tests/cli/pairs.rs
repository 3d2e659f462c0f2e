//! Pairs from the subject programs, with the whole report.

use insta::assert_snapshot;

use crate::support::{Scratch, subjects};

/// The report on a pair of versions of a subject.
#[track_caller]
fn check(subject: &str, old: &str, new: &str, code: i32) -> String {
    let scratch = Scratch::new();
    // Copied, so that the report has short names and nothing can write to the originals.
    let from = subjects().join(subject);
    scratch.sh(&format!("cp -r {} {subject}", from.display()));
    let ran = scratch.beagle_in(subject, &format!("changes {old} {new} -q"));
    let ran = ran.exits(code);
    assert_eq!(ran.stderr, "");
    for line in ran.stdout.lines() {
        assert!(line.chars().count() <= 100, "too long: {line}");
    }
    ran.stdout
}

#[test]
fn one_file_with_a_regression() {
    assert_snapshot!(check("fields", "from-end-before-start/old.c", "base.c", 1));
}

#[test]
fn one_file_with_a_changed_table() {
    assert_snapshot!(check("bitpack", "base.c", "nibble-table-typo/new.c", 1));
}

#[test]
fn a_directory_with_a_makefile() {
    assert_snapshot!(check("jobs", "base", "aging-floor/new", 1));
}

#[test]
fn a_directory_against_itself() {
    assert_snapshot!(check("jobs", "base", "base", 0), @r"
    No change in meaning: base → base
    35 functions, all identical
    ");
}
