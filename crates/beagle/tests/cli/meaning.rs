//! What counts as a change, and how each kind of it is shown.

use insta::assert_snapshot;

use crate::support::Scratch;

/// The report on two files.
#[track_caller]
fn check(old: &str, new: &str, code: i32) -> String {
    let scratch = Scratch::with(&[("old.c", old), ("new.c", new)]);
    scratch.beagle("changes old.c new.c -q").exits(code).stdout
}

const SUM: &str = "\
#include <stdio.h>

static int total(const int *values, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

int main(int argc, char **argv)
{
    int values[] = { 1, 2, argc };
    printf(\"%d\\n\", total(values, 3));
    return 0;
}
";

#[test]
fn a_file_and_its_copy() {
    assert_snapshot!(check(SUM, SUM, 0), @r"
    No change in meaning: old.c → new.c
    2 functions, all identical
    ");
}

#[test]
fn reformatted_source_with_renamed_locals() {
    let new = SUM
        .replace("    ", "\t")
        .replace(
            "int i = 0; i < count; i++",
            "int k = 0;\n\t\tk < count; k++",
        )
        .replace("values[i]", "values[ k ]")
        .replace("#include", "/* A comment. */\n#include");
    assert_snapshot!(check(SUM, &new, 0), @r"
    No change in meaning: old.c → new.c
    2 functions, all identical; 3 hunks of text
    ");
}

#[test]
fn a_changed_operator() {
    let new = SUM.replace("i < count", "i <= count");
    assert_snapshot!(check(SUM, &new, 1));
}

#[test]
fn a_dropped_clause_is_shown_with_what_stands_there_now() {
    let old = SUM.replace("sum += v", "if (sum >= 0 && values[i] > 0) sum += v");
    let new = SUM.replace("sum += v", "if (sum >= 0) sum += v");
    assert_snapshot!(check(&old, &new, 1));
}

#[test]
fn an_added_function() {
    let new = SUM
        .replace(
            "int main",
            "static int doubled(int value)\n{\n    return value + value;\n}\n\nint main",
        )
        .replace("total(values, 3)", "doubled(total(values, 3))");
    assert_snapshot!(check(SUM, &new, 1));
    assert_snapshot!(check(&new, SUM, 1));
}

#[test]
fn a_renamed_function_without_and_with_a_change() {
    let renamed = SUM.replace("total", "sum_of");
    assert_snapshot!(check(SUM, &renamed, 0), @r"
    No change in meaning: old.c → new.c
    2 functions, all identical; 2 hunks of text
    ");
    let changed = renamed.replace("int sum = 0", "int sum = 1");
    assert_snapshot!(check(SUM, &changed, 1));
}

#[test]
fn a_table() {
    let old = "\
static const char *const names[] = {
    \"zero\",
    \"one\",
    \"two\",
};
static const short widths[3] = { 4, 3, 3 };

int printf(const char *, ...);
int main(int argc, char **argv)
{
    printf(\"%*s\\n\", widths[argc % 3], names[argc % 3]);
    return 0;
}
";
    let new = old
        .replace("\"one\"", "\"ein\"")
        .replace("4, 3, 3", "4, 3, 5");
    assert_snapshot!(check(old, &new, 1));
}

#[test]
fn a_constant_in_a_header_shows_where_it_takes_effect_and_where_it_is_defined() {
    let main = "\
#include <stdio.h>
#include \"limits.h\"

int main(int argc, char **argv)
{
    if (argc > MOST)
        puts(\"too many\");
    return 0;
}
";
    let scratch = Scratch::with(&[
        ("old/main.c", main),
        (
            "old/limits.h",
            "/* How many there can be. */\n#define MOST 8\n",
        ),
        ("new/main.c", main),
        (
            "new/limits.h",
            "/* How many there can be. */\n#define MOST 9\n",
        ),
    ]);
    let ran = scratch.beagle("changes old new -q").exits(1);
    assert_snapshot!(ran.stdout);
}

#[test]
fn a_constant_in_a_header_counts_for_single_files_too() {
    let main = "#include \"limit.h\"\nint main(int argc, char **argv) { return argc > LIMIT; }\n";
    let scratch = Scratch::with(&[
        ("old/main.c", main),
        ("old/limit.h", "#define LIMIT 3\n"),
        ("new/main.c", main),
        ("new/limit.h", "#define LIMIT 4\n"),
    ]);
    let ran = scratch.beagle("changes old/main.c new/main.c -q").exits(1);
    assert!(ran.stdout.contains("~ main.c:2"), "{ran}");
}

#[test]
fn a_type_that_changes_an_operation() {
    let old = SUM.replace("int sum = 0", "long sum = 0");
    assert_snapshot!(check(&old, SUM, 1));
}

#[test]
fn a_long_change_is_cut_and_counted() {
    let body: String = (0..30)
        .map(|i| format!("    sum += values[{i} % count];\n"))
        .collect();
    let new = SUM.replace("    return sum;", &format!("{body}    return sum;"));
    assert_snapshot!(check(SUM, &new, 1));
}

#[test]
fn lines_and_lists_that_are_too_long_are_cut() {
    let calls: String = (0..40)
        .map(|i| format!("void a_function_number_{i}(int x) {{ printf(\"%d\\n\", x + {i}); }}\n"))
        .collect();
    let uses: String = (0..40)
        .map(|i| format!("    a_function_number_{i}(x);\n"))
        .collect();
    let long = "argc + ".repeat(40);
    let source = |last: &str| {
        format!(
            "int printf(const char *, ...);\n{calls}int main(int argc, char **argv)\n\
             {{\n    int x = {long}{last};\n{uses}    return 0;\n}}\n"
        )
    };
    let report = check(&source("1"), &source("2"), 1);
    for line in report.lines() {
        assert!(line.chars().count() <= 100, "too long: {line}");
    }
    assert_snapshot!(report);
}

#[test]
fn what_a_terminal_would_obey_is_not_printed() {
    let old = "int puts(const char *);\nint main(void) { puts(\"\x1b[31mred\x07\"); return 0; }\n";
    let scratch = Scratch::with(&[("old.c", old), ("new.c", &old.replace("red", "blue"))]);
    let ran = scratch
        .beagle("changes old.c new.c -q --color never")
        .exits(1);
    assert!(!ran.stdout.contains(['\x1b', '\x07']), "{ran}");
    assert!(ran.stdout.contains("\u{fffd}[31mblue\u{fffd}"), "{ran}");
}
