//! Which hunks of the textual difference a change belongs to.

mod support;

use support::{build, comparison, files};

/// Compares two programs and expects these hunks for their changes, as lines `-old +new`.
#[track_caller]
fn check(old: &str, new: &str, expected: &[&[&str]]) {
    let version = |text: &str| build(&files(text)).unwrap_or_else(|why| panic!("{why}"));
    let (old, new) = (version(old), version(new));
    let comparison = comparison(&old, &new);
    let shown = |&hunk: &usize| {
        let hunk = &comparison.hunks[hunk];
        let (old, new) = (&hunk.old, &hunk.new);
        let part = |sign: &str, file: &str, lines: &std::ops::Range<u32>| {
            (!lines.is_empty()).then(|| format!("{sign}{file}:{}", lines.start))
        };
        let parts = [
            part("-", &hunk.old_file, old),
            part("+", &hunk.new_file, new),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    let found: Vec<Vec<String>> = comparison
        .changes
        .iter()
        .map(|change| change.hunks.iter().map(shown).collect())
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn the_hunk_that_holds_the_line() {
    check(
        "//- a.c\nint a;\nint f(void) {\nreturn 1;\n}\n",
        "//- a.c\nint a;\nint f(void) {\nreturn 2;\n}\n",
        &[&["-a.c:3 +a.c:3"]],
    );
}

#[test]
fn the_hunk_further_down_in_a_statement_comes_before_names() {
    check(
        "//- a.c\nvoid kill_it(int x);\nint puts(const char *);\nvoid f(void) {\nputs(\"usage: kill_it\"\n\" one\"\n\" two\");\n}\n",
        "//- a.c\nvoid kill_it(long x);\nint puts(const char *);\nvoid f(void) {\nputs(\"usage: kill_it\"\n\" one\"\n\" three\");\n}\n",
        &[&["-a.c:6 +a.c:6"]],
    );
}

#[test]
fn the_hunk_of_the_macro_that_a_line_uses() {
    check(
        "//- limits.h\n#define OTHER 1\n#define LIMIT 10\n//- a.c\n#include \"limits.h\"\nint f(int x) {\nreturn x < LIMIT;\n}\n",
        "//- limits.h\n#define OTHER 1\n#define LIMIT 20\n//- a.c\n#include \"limits.h\"\nint f(int x) {\nreturn x < LIMIT;\n}\n",
        &[&["-limits.h:2 +limits.h:2"]],
    );
}

#[test]
fn a_file_that_only_one_version_has_is_one_hunk() {
    check(
        "//- a.c\nint f(void) { return 1; }\n",
        "//- a.c\nint f(void) { return 1; }\n//- b.c\nint g(void) { return 2; }\nint h(void) { return 3; }\n",
        &[&["+b.c:1"], &["+b.c:1"]],
    );
}
