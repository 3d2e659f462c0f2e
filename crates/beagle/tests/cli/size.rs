//! Sources that are longer or deeper than people write them.

use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::support::{Ran, Scratch};

/// Compares two files, with more stack for clang if that is needed.
fn compare(old: &str, new: &str, options: &str, stack: &str) -> Ran {
    let scratch = Scratch::with(&[("old.c", old), ("new.c", new)]);
    let script = format!("ulimit -s {stack}; exec $BEAGLE changes old.c new.c -q {options}");
    scratch.ran(scratch.command("bash").args(["-ec", &script]))
}

const DEFAULT_STACK: &str = "8192";

#[test]
fn a_long_line_is_shown_where_it_differs() {
    let numbers: String = (0..20_000).map(|i| format!("{i},")).collect();
    let source = |last: &str| {
        format!("int a[] = {{{numbers}{last}}}; int main(int c, char **v) {{ return a[c]; }}\n")
    };
    let ran = compare(&source("1"), &source("2"), "", DEFAULT_STACK).exits(1);
    assert_snapshot!(ran.stdout);
}

#[test]
fn a_function_of_three_thousand_lines() {
    let lines: String = (0..3000)
        .map(|i| format!("    if (x % {} == 1) x += {i}; else y ^= x;\n", i + 2))
        .collect();
    let source = |last: &str| {
        format!(
            "int main(int x, char **v)\n{{\n    int y = 0;\n{lines}    return y {last} x;\n}}\n"
        )
    };
    let start = Instant::now();
    let ran = compare(&source("+"), &source("-"), "", DEFAULT_STACK).exits(1);
    assert!(ran.stdout.contains("return y - x;"), "{ran}");
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn of_very_many_changes_only_the_influence_together_is_shown() {
    let source = |plus: usize| {
        let functions = (0..210).map(|i| format!("int f{i}(void) {{ return {}; }}\n", i + plus));
        let calls: String = (0..210).map(|i| format!(" + f{i}()")).collect();
        let functions: String = functions.collect();
        format!("{functions}int main(void) {{ return 0{calls}; }}\n")
    };
    let ran = compare(&source(0), &source(1), "", DEFAULT_STACK).exits(1);
    assert_eq!(ran.stdout.matches("can influence").count(), 1);
    assert!(ran.stdout.contains("210 changes: old.c → new.c"), "{ran}");
    let json = compare(&source(0), &source(1), "--format json", DEFAULT_STACK).json();
    assert_eq!(json["changes"][0].get("influence"), None);
    let functions = json["influence"]["functions"].as_array().unwrap();
    assert_eq!(functions.len(), 211);
}

fn nested(levels: usize, number: u32) -> String {
    let (open, close) = ("(".repeat(levels), format!(" + {number})").repeat(levels));
    format!("int main(int argc, char **argv) {{ return {open}argc{close}; }}\n")
}

#[test]
fn an_expression_of_two_thousand_levels() {
    let (old, new) = (nested(2000, 1), nested(2000, 2));
    let depth = "--cflags=-fbracket-depth=4000";
    let ran = compare(&old, &new, depth, "unlimited").exits(1);
    assert!(ran.stdout.contains("1 change: old.c → new.c"), "{ran}");
}

#[test]
fn an_expression_that_is_too_deep_for_the_compiler() {
    let (old, new) = (nested(2000, 1), nested(2000, 2));
    // Clang refuses politely,
    let ran = compare(&old, &new, "", DEFAULT_STACK).fails(3);
    assert!(
        ran.stderr.contains("bracket nesting level exceeded"),
        "{ran}"
    );
    // unless it is told to try, and then crashes.
    let ran = compare(&old, &new, "--cflags=-fbracket-depth=4000", "1024").fails(3);
    assert!(ran.stderr.contains("hint: clang itself crashed; "), "{ran}");
}

#[test]
fn a_sum_and_a_chain_of_five_thousand_operands() {
    let sum = |last: &str| {
        let terms = " + argc".repeat(5000);
        format!("int main(int argc, char **argv) {{ return 1{terms}{last}; }}\n")
    };
    compare(&sum(""), &sum(" - 1"), "", "unlimited").exits(1);
    let chain = |last: u32| {
        let links: String = (0..3000).map(|i| format!("argc == {i} ? {i} : ")).collect();
        format!("int main(int argc, char **argv) {{ return {links}{last}; }}\n")
    };
    compare(&chain(1), &chain(2), "", "unlimited").exits(1);
}
