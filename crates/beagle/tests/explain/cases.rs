//! Whatever the difference is: crashes, runs without end, messages, code that is gone, several hunks, files.

use crate::support::Scratch;
use crate::{explained, line_of, named};

const TABLE: &str = "#include <stdio.h>\n\
    #include <stdlib.h>\n\
    static int squares[8];\n\
    static int square(int n) {\n\
    \x20 if (n < 0 || n > 7)\n\
    \x20   return -1;\n\
    \x20 return squares[n];\n\
    }\n\
    int main(int argc, char **argv) {\n\
    \x20 int n = argc > 1 ? atoi(argv[1]) : 0;\n\
    \x20 for (int i = 0; i < 8; i++)\n\
    \x20   squares[i] = i * i;\n\
    \x20 int found = square(n);\n\
    \x20 if (found < 0) {\n\
    \x20   fprintf(stderr, \"no %d\\n\", n);\n\
    \x20   return 1;\n\
    \x20 }\n\
    \x20 printf(\"%d\\n\", found);\n\
    \x20 return 0;\n\
    }\n";

#[test]
fn a_crash_is_explained_by_the_guard_that_is_gone() {
    let new = TABLE.replace("  if (n < 0 || n > 7)\n    return -1;\n", "");
    let report = explained(TABLE, &new, "-- 90000000");
    let first = &named(&report)[0];
    assert_eq!(first.version, "old", "{report:#}");
    assert_eq!(first.line, line_of(TABLE, "n > 7"), "{report:#}");
    assert!(first.kinds.contains(&"missing".to_owned()), "{report:#}");
    let alternates = report["alternates"].as_array().unwrap();
    assert!(
        alternates.iter().any(|it| it["agrees"] == true),
        "{report:#}"
    );
}

#[test]
fn a_run_without_end_is_explained() {
    let new = TABLE.replace("i < 8; i++", "i < 8; i += argc < 2");
    let report = explained(TABLE, &new, "--run-timeout 1s -- 3");
    let first = &named(&report)[0];
    assert_eq!(first.line, line_of(TABLE, "i < 8"), "{report:#}");
    assert_eq!(report["aspects"][0], "time", "{report:#}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("cut short"), "{report:#}");
}

#[test]
fn a_message_that_differs_is_explained() {
    let new = TABLE.replace("no %d\\n\", n", "no %d\\n\", -n");
    let report = explained(TABLE, &new, "-- 9");
    assert_eq!(report["aspects"], serde_json::json!(["stderr"]));
    let first = &named(&report)[0];
    assert_eq!(first.line, line_of(TABLE, "no %d"), "{report:#}");
}

#[test]
fn a_wrong_value_is_shown_with_what_both_versions_make_of_it() {
    let new = TABLE.replace("i * i", "i + i");
    let report = explained(TABLE, &new, "-- 3");
    let first = &named(&report)[0];
    assert_eq!(first.line, line_of(&new, "i + i"), "{report:#}");
    let story = report["story"].to_string();
    assert!(story.contains("is 9 in old and 6 in new"), "{report:#}");
}

#[test]
fn of_several_hunks_that_are_executed_the_one_that_matters_comes_first() {
    let new = TABLE
        .replace("int i = 0", "int i = 0 * argc")
        .replace("n > 7", "n > 6")
        .replace("\"%d\\n\", found", "\"%i\\n\", found")
        .replace("found < 0", "found <= -1");
    let report = explained(TABLE, &new, "-- 7");
    let first = &named(&report)[0];
    assert_eq!(first.line, line_of(&new, "n > 6"), "{report:#}");
    assert!(first.kinds.contains(&"blame".to_owned()), "{report:#}");
}

#[test]
fn a_function_that_was_written_anew_is_explained_by_what_ran() {
    let start = TABLE.find("static int square(").unwrap();
    let end = TABLE.find("int main").unwrap();
    let mut new = TABLE.to_owned();
    new.replace_range(
        start..end,
        "static int square(int n) {\n\
        \x20 int known = 0;\n\
        \x20 switch (n) {\n\
        \x20 case 3:\n\
        \x20   known = 8;\n\
        \x20   break;\n\
        \x20 default:\n\
        \x20   known = n < 0 || n > 7 ? -1 : squares[n];\n\
        \x20 }\n\
        \x20 return known;\n\
        }\n",
    );
    let report = explained(TABLE, &new, "-- 3");
    let lines = named(&report);
    let wanted = line_of(&new, "known = 8");
    let first = lines.iter().take(3).any(|it| it.line == wanted);
    assert!(first, "{report:#}");
}

const SUM: &str = "#include <stdio.h>\n\
    int main(int argc, char **argv) {\n\
    \x20 FILE *file = fopen(argc > 1 ? argv[1] : \"\", \"rb\");\n\
    \x20 if (!file) return 1;\n\
    \x20 int byte, sum = 0;\n\
    \x20 while ((byte = getc(file)) != EOF)\n\
    \x20   if (byte < 0xf0)\n\
    \x20     sum = sum + byte;\n\
    \x20 printf(\"%d\\n\", sum);\n\
    \x20 return 0;\n\
    }\n";

#[test]
fn bytes_of_files_are_shown_side_by_side() {
    let new = SUM.replace("byte < 0xf0", "byte < 0xe0");
    let scratch = Scratch::with(&[("old.c", SUM), ("new.c", &new)]);
    scratch.write("data.bin", [0, 1, 2, 3, 0xe5, 7, 0xff, 9]);
    let ran = scratch
        .beagle("-q explain old.c new.c --timeout 5m -- @{data.bin}")
        .exits(1);
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn what_only_sanitizers_see_is_explained() {
    let new = TABLE.replace("n > 7", "n > 8");
    let scratch = Scratch::with(&[("old.c", TABLE), ("new.c", &new)]);
    let found = scratch
        .beagle("-q diff old.c new.c --timeout 30s --no-blame --out tests --format json -- {8}");
    let report = found.exits(1).json();
    let mut differences = report["differences"].as_array().unwrap().iter();
    let fault = differences.find(|it| !it["new"]["fault"].is_null());
    let saved = fault.unwrap()["saved"].as_str().unwrap();
    let command = format!("-q explain old.c new.c {saved} --timeout 5m --format json");
    let report = scratch.beagle(&command).exits(1).json();
    let line = line_of(&new, "n > 8");
    assert_eq!(named(&report)[0].line, line, "{report:#}");
}

#[test]
fn what_cannot_be_explained_is_told() {
    let new = TABLE.replace("n > 7", "n > 6");
    let scratch = Scratch::with(&[("old.c", TABLE), ("new.c", &new)]);
    let ran = scratch.beagle("-q explain old.c new.c -- 2").exits(0);
    assert!(ran.stdout.contains("do the same"), "{ran}");
    let ran = scratch.beagle("-q explain old.c new.c").exits(2);
    assert!(ran.stderr.contains("no input is given"), "{ran}");
    let ran = scratch.beagle("-q explain old.c new.c nowhere").exits(2);
    assert!(ran.stderr.contains("nowhere"), "{ran}");
}

#[test]
fn a_test_that_diff_saved_is_explained_and_so_is_a_regression_in_diff() {
    let new = TABLE.replace("  if (n < 0 || n > 7)\n    return -1;\n", "");
    let scratch = Scratch::with(&[("old.c", TABLE), ("new.c", &new)]);
    let found = scratch.beagle(
        "-q diff old.c new.c --timeout 10s --max-runs 60 --out tests --format json -- {90000000}",
    );
    let report = found.exits(1).json();
    let group = &report["groups"][0];
    assert_eq!(group["class"], "crash", "{report:#}");
    let cause = &group["explanation"]["causes"][0];
    assert_eq!(cause["version"], "old", "{report:#}");
    let saved = report["differences"][0]["saved"].as_str().unwrap();
    let command = format!("-q explain old.c new.c {saved} --format json");
    let report = scratch.beagle(&command).exits(1).json();
    assert_eq!(report["schema"], "beagle.explain/1");
    assert_eq!(named(&report)[0].version, "old", "{report:#}");
}

/// Whatever the compiler makes of a condition, what is said of its sides is true of the source.
#[test]
fn the_sides_of_negated_conditions_are_not_mixed_up() {
    for condition in [
        "if (!t)",
        "if (t == 0)",
        "if (!is(t))",
        "if (!(t && x))",
        "if (!t || x < 0)",
        "while (!t)",
        "for (; !t;)",
    ] {
        let program = |limit: u32| {
            format!(
                "#include <stdio.h>\n\
                 #include <stdlib.h>\n\
                 static int is(int t) {{ return t; }}\n\
                 int main(int argc, char **argv) {{\n\
                 int x = argc > 1 ? atoi(argv[1]) : is(0);\n\
                 int t = x > {limit};\n\
                 {condition}\n\
                 {{\n\
                 puts(\"small\");\n\
                 return 0;\n\
                 }}\n\
                 puts(\"big\");\n\
                 return 0;\n\
                 }}\n"
            )
        };
        let (old, new) = (program(10), program(12));
        let report = explained(&old, &new, "-- 12");
        let all = report.to_string();
        assert!(!all.contains("condition"), "{condition}: {report:#}");
        let (small, big) = (line_of(&new, "small"), line_of(&new, "big"));
        // Of a part of a condition the other one may come next.
        let ways = [
            format!("old goes on at old.c:{big}, new at new.c:{small}"),
            format!("old goes on at old.c:{big}, new in the same line"),
            format!("old goes on in the same line, new at new.c:{small}"),
        ];
        assert!(
            ways.iter().any(|way| all.contains(way)),
            "{condition}: {report:#}"
        );
    }
}

#[test]
fn sides_that_no_line_tells_apart_are_only_said_to_differ() {
    let program = |limit: u32| {
        format!(
            "#include <stdio.h>\n\
             #include <stdlib.h>\n\
             int main(int argc, char **argv) {{\n\
             int x = argc > 1 ? atoi(argv[1]) : 0;\n\
             !(x > {limit}) ? puts(\"small\") : puts(\"big\");\n\
             return 0;\n\
             }}\n"
        )
    };
    let report = explained(&program(10), &program(12), "-- 12");
    let all = report.to_string();
    assert!(all.contains("take different sides"), "{report:#}");
    assert!(!all.contains("condition"), "{report:#}");
}

/// A change in one function, seen in a member of a structure, in a branch and in the output.
const STEPS: &str = "#include <stdio.h>\n#include <stdlib.h>\n\
    struct order { int count; int weight; };\n\
    static void fill(struct order *o, int n) {\n\
        int doubled = n * 2;\n\
        o->count = doubled + 1;\n\
        o->weight = n;\n\
    }\n\
    int main(int argc, char **argv) {\n\
        struct order o = {0, 0};\n\
        fill(&o, atoi(argv[argc - 1]));\n\
        const char *size = \"small\";\n\
        if (o.count > 9)\n\
            size = \"large\";\n\
        printf(\"%s\\n\", size);\n\
        return 0;\n}\n";

#[test]
fn the_way_of_an_effect_is_told_from_line_to_line() {
    let new = STEPS.replace("n * 2", "n * 3");
    let report = explained(STEPS, &new, "-- {4}");
    let causes = report["causes"].as_array().expect("causes");
    let evidence = |line: u64, kind: &str| -> Vec<String> {
        let of_line = causes.iter().filter(|it| it["line"] == line);
        let all = of_line.flat_map(|it| it["evidence"].as_array().expect("evidence"));
        let all = all.filter(|it| it["kind"] == kind);
        all.map(|it| it["text"].as_str().expect("a text").to_owned())
            .collect()
    };
    let (change, branch) = (line_of(&new, "n * 3"), line_of(&new, "o.count > 9"));
    assert_eq!(causes[0]["line"], change);
    let store = line_of(&new, "o->count =");
    assert_eq!(
        evidence(store, "value"),
        ["`count of struct order` is 9 in old and 13 in new"]
    );
    assert_eq!(
        evidence(store, "path"),
        [format!(
            "the effect of new.c:{change} of hunk 1 can get here directly"
        )]
    );
    assert_eq!(
        evidence(branch, "path"),
        [format!(
            "the effect of new.c:{change} of hunk 1 can get here through new.c:{store} (`count of struct order`)"
        )]
    );
}

#[test]
fn hunks_that_it_takes_together_are_named() {
    let old = "#include <stdio.h>\n#include <stdlib.h>\n\
        int main(int argc, char **argv) {\n\
            int n = atoi(argv[argc - 1]);\n\
            int low = n;\n\
            puts(\"ready\");\n\
            puts(\"steady\");\n\
            puts(\"go\");\n\
            int high = n;\n\
            puts(low * high > 29 ? \"large\" : \"small\");\n\
            return 0;\n}\n";
    let new = old
        .replace("int low = n;", "int low = n + 1;")
        .replace("int high = n;", "int high = n + 2;");
    let report = explained(old, &new, "-- {4}");
    let story = report["story"].to_string();
    assert!(story.contains("It takes hunks 1 and 2 together"), "{story}");
}

/// More expressions of the input than are recorded, before the line that changes.
const MANY_EXPRESSIONS: &str = "#include <stdio.h>\n#include <stdlib.h>\n\
    int main(int argc, char **argv) {\n\
        int n = atoi(argv[argc - 1]);\n\
        unsigned sum = 0;\n\
        for (int i = 0; i < 3000000; i++)\n\
            if ((i ^ n) & 4)\n\
                sum += i;\n\
        if (n > 40)\n\
            sum += 7;\n\
        printf(\"%u\\n\", sum);\n\
        return 0;\n}\n";

#[test]
fn a_run_with_too_many_expressions_is_explained_by_where_it_went() {
    let new = MANY_EXPRESSIONS.replace("n > 40", "n > 41");
    let report = explained(MANY_EXPRESSIONS, &new, "-- 41");
    let first = &named(&report)[0];
    assert_eq!(first.line, line_of(&new, "n > 41"), "{report:#}");
    assert!(first.kinds.contains(&"parting".to_owned()), "{report:#}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("too many expressions"), "{notes}");
}
