//! What a change can influence: never less than it does.

mod support;

use beagle_change::{Analysed, Influence};
use beagle_program::Dependence;
use support::{build, comparison, files};

/// Compares two programs and expects the changes together to influence these functions, and to
/// reach outputs in these lines.
#[track_caller]
fn check(old: &str, new: &str, functions: &[&str], outputs: &[u32]) {
    let version = |text: &str| build(&files(text)).unwrap_or_else(|why| panic!("{why}"));
    let (old, new) = (version(old), version(new));
    let comparison = comparison(&old, &new);
    let (a, b) = (Dependence::of(&old.program), Dependence::of(&new.program));
    let influence = Influence::of(
        &Analysed::new(&a, &old.sources),
        &Analysed::new(&b, &new.sources),
        &comparison,
        &comparison.changes,
    );
    let mut found = influence.functions.clone();
    found.sort();
    assert_eq!(found, functions);
    let mut lines: Vec<_> = influence.outputs.iter().map(|line| line.line).collect();
    lines.sort();
    assert_eq!(lines, outputs);
}

#[test]
fn a_deleted_call_takes_away_what_the_callee_writes() {
    let program = |call: &str| {
        format!(
            "#include <stdio.h>\nstatic int g;\nvoid up(int *p) {{ (*p)++; }}\nint main(void) {{\ng = 3;{call}\nprintf(\"%d\\n\", g);\nputs(\"end\");\nreturn 0;\n}}\n"
        )
    };
    check(&program(" up(&g);"), &program(""), &["main", "up"], &[6]);
}

#[test]
fn a_deleted_exit_lets_the_rest_run() {
    let program = |guard: &str| {
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {{\nif (argc > 1) {guard}\nputs(\"end\");\nreturn 0;\n}}\n"
        )
    };
    check(&program("exit(1);"), &program(";"), &["main"], &[4, 5, 6]);
}

#[test]
fn what_does_not_depend_on_the_change_is_not_influenced() {
    let program = |number: u32| {
        format!(
            "#include <stdio.h>\nint one(void) {{ return {number}; }}\nint two(void) {{ return 2; }}\nint main(void) {{\nprintf(\"%d\\n\", two());\nprintf(\"%d\\n\", one());\nreturn 0;\n}}\n"
        )
    };
    check(&program(1), &program(3), &["main", "one"], &[6]);
}
