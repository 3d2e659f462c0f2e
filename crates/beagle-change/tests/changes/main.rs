//! What counts as a change, and where it is. Each test is a rule, with two small programs that
//! show it and the changes between them: `modified f: -3 +3` is a change of function `f` in line 3.

#[path = "../support/mod.rs"]
mod support;

mod control;
mod corners;
mod data;
mod expressions;
mod functions;
mod structures;
mod types;
mod unchanged;

use support::{build, comparison, files, shown};

/// Compares two programs and expects these changes, one per line; nothing if they are the same.
/// A line `//- name.c` starts another file.
#[track_caller]
fn check(old: &str, new: &str, expected: &str) {
    let version = |text: &str| {
        let text = text.strip_prefix('\n').unwrap_or(text);
        build(&files(text)).unwrap_or_else(|why| panic!("does not compile: {why}"))
    };
    let (old, new) = (version(old), version(new));
    let found = shown(&old, &new, &comparison(&old, &new));
    let expected: Vec<_> = expected.trim().lines().map(str::trim).collect();
    let found_lines: Vec<_> = found.lines().collect();
    assert!(
        found_lines == expected,
        "expected:\n{}\nfound:\n{found}",
        expected.join("\n")
    );
    // The other way round there is something to report as well.
    let back = comparison(&new, &old);
    assert_eq!(back.changes.is_empty(), expected.is_empty(), "backwards");
}

#[track_caller]
fn same(old: &str, new: &str) {
    check(old, new, "");
}

/// Checks the bodies of a function `f`, which starts in line 4 of the program.
#[track_caller]
fn check_body(old: &str, new: &str, expected: &str) {
    let program = |body: &str| {
        format!(
            "int g(int), h(int, int), v(const char *, ...);
             extern int a, b, c, d, t[10], *p, *q; extern unsigned u; extern long l; extern double e;
             int f(int x, int y, int z, char *s) {{
             {}
             return x; }}",
            body.trim()
        )
    };
    check(&program(old), &program(new), expected);
}
