//! Options of the command, its exit status, and what it prints.

use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Pair, Ran, bytes};

/// Prints one of two words.
const WORD: &str = r#"
#include <stdio.h>
int main(int argc, char **argv)
{
    if (argc > 1 && argv[1][0] == 'x')
        puts("one");
    else
        puts("two");
    return 0;
}
"#;

/// Has more ways through it than can be tried.
const MANY_WAYS: &str = r#"
#include <stdio.h>
int main(void)
{
    int c, small = 0, other = 0;
    while ((c = getchar()) != EOF) {
        if (c >= 'a' && c <= 'z')
            small++;
        else
            other++;
    }
    printf("%d %d\n", small, other * 2);
    return 0;
}
"#;

fn word(edits: &[(&str, &str)]) -> Pair {
    Pair::edited(WORD, edits)
}

#[test]
fn unchanged_versions_are_equivalent_without_a_run() {
    let pair = Pair::edited(WORD, &[("#include", "// Only a comment.\n#include")]);
    let report = pair.diff("-- {a:2}").is("equivalent", 0).within(0);
    assert_eq!(report.json["reason"], "unchanged", "{report}");
}

#[test]
fn a_refactoring_of_a_small_shape_is_equivalent() {
    let edits = [("argv[1][0] == 'x'", "!(argv[1][0] - 'x')")];
    let report = word(&edits).diff("-- {x:1}").is("equivalent", 0);
    assert_eq!(report.json["reason"], "exhausted", "{report}");
    assert!(report.strings("missing").is_empty(), "{report}");
    // Nothing is said of what was not tried.
    let pair = Pair::edited(MANY_WAYS, &[("other * 2", "other + other")]);
    let report = pair
        .diff("--max-runs 12 --stdin-text ab")
        .is("none-found", 0)
        .within(12);
    assert_eq!(report.json["reason"], "max-runs", "{report}");
    assert!(!report.strings("missing").is_empty(), "{report}");
}

#[test]
fn what_cannot_be_compared_has_a_status_of_its_own() {
    let pair = word(&[("\"one\"", "\"three\"")]);
    for (line, code, words) in [
        ("diff old.c", 2, "required"),
        ("diff old.c new.c --strategy luck", 2, "luck"),
        ("diff old.c new.c --stdin nowhere", 2, "nowhere"),
        ("diff old.c new.c --env A -- x", 2, "A"),
        ("diff old.c broken.c -- {x}", 3, "broken.c"),
    ] {
        pair.write("broken.c", "int main(void) { return }\n");
        let ran = pair.beagle(line);
        assert_eq!(ran.code, Some(code), "{line}\n{ran}");
        assert_eq!(ran.stdout, "", "{line}\n{ran}");
        assert!(ran.stderr.contains(words), "{line}\n{ran}");
    }
}

#[test]
fn the_first_difference_is_enough_if_asked_for() {
    let pair = Pair::edited(MANY_WAYS, &[("other * 2", "other * 3")]);
    let report = pair.diff("--first --stdin-text ab").is("different", 1);
    assert_eq!(report.json["reason"], "first", "{report}");
    assert!(report.json["seconds_to_first"].is_number(), "{report}");
}

#[test]
fn what_fails_is_for_the_user_to_say() {
    let pair = word(&[("\"one\"", "\"three\"")]);
    pair.diff("-- {a:2}").is("different", 1);
    pair.diff("--fail-on regression -- {a:2}")
        .is("different", 0);
    pair.diff("--fail-on never -- {a:2}").is("different", 0);
    let pair = word(&[("puts(\"one\")", "__builtin_trap()")]);
    let report = pair
        .diff("--fail-on regression -- {a:2}")
        .is("different", 1);
    assert_eq!(report.one("crash").0["regression"], true, "{report}");
}

#[test]
fn a_version_that_is_right_tells_better_from_worse() {
    let pair = word(&[("\"one\"", "\"three\"")]);
    pair.write("neither.c", WORD.replace("\"one\"", "\"four\""));
    for (golden, class, regression) in [
        ("old.c", "regression", true),
        ("new.c", "progression", false),
        ("neither.c", "incomplete-fix", false),
    ] {
        let report = pair
            .diff(&format!("--golden {golden} -- {{a:2}}"))
            .is("different", 1);
        let found = report.one(class);
        assert_eq!(found.0["regression"], regression, "{report}");
        assert!(found.0["golden"]["exit"].is_number(), "{report}");
        assert_eq!(report.json["golden"], golden, "{report}");
    }
}

#[test]
fn saved_tests_run_without_beagle() {
    let pair = word(&[("\"one\"", "\"three\"")]);
    let report = pair.diff("--out found -- {a:2}").is("different", 1);
    assert_eq!(report.json["saved"], "found", "{report}");
    let test = pair.path(report.one("output").0["saved"].as_str().unwrap());
    for (version, printed) in [("old", "one\n"), ("new", "three\n")] {
        let program = pair.path(version);
        let mut clang = Command::new("clang-19");
        clang.arg(pair.path(&format!("{version}.c"))).arg("-o");
        assert!(clang.arg(&program).status().unwrap().success());
        let mut replay = Command::new(test.join("repro.sh"));
        let ran = Ran::new(replay.arg(&program).env_clear().output().unwrap());
        assert_eq!((ran.code, &ran.stdout[..]), (Some(0), printed), "{ran}");
    }
}

#[test]
fn only_the_ways_to_search_that_are_asked_for_are_used() {
    let pair = word(&[("\"one\"", "\"three\"")]);
    for list in [
        "reach",
        "propagate",
        "shadow",
        "cover",
        "shadow,cover",
        "cover,prune",
    ] {
        let report = pair.diff(&format!("--strategy {list} -- {{a:1}}"));
        let used = report.json["strategies"].as_array().unwrap();
        let names: Vec<_> = used.iter().map(|used| &used["name"]).collect();
        assert_eq!(names, list.split(',').collect::<Vec<_>>(), "{report}");
        // To get to the change takes one of these.
        if list.contains("cover") || list == "reach" {
            report.is("different", 1);
        }
    }
}

#[test]
fn what_others_are_measured_against_does_not_know_old() {
    let old = r#"
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "magic") == 0)
        puts("magic");
    if (argc > 1 && argv[1][0] == 'x')
        puts("x");
    return 0;
}
"#;
    let special = "if (argc > 1 && strcmp(argv[1], \"magic\") == 0)\n        puts(\"magic\");";
    let pair = Pair::edited(old, &[(special, "")]);
    let unguided = pair.diff("--strategy unguided --max-runs 50 -- {y:8}");
    // It does go where new goes.
    assert!(unguided.json["runs"].as_u64().unwrap() > 1, "{unguided}");
    unguided.is("none-found", 0);
    pair.diff("--strategy cover --max-runs 50 -- {y:8}")
        .is("different", 1);
}

const INPUTS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    char text[16] = {0};
    const char *variable = getenv("MODE");
    FILE *file = stdin;
    if (argc > 1 && strcmp(argv[1], "-e") != 0)
        file = fopen(argv[1], "r");
    if (!file)
        return 3;
    if (argc > 1 && strcmp(argv[1], "-e") == 0)
        strncpy(text, variable ? variable : "", sizeof text - 1);
    else
        fgets(text, sizeof text, file);
    puts(strncmp(text, "deep", 4) == 0 ? "one" : "two");
    return 0;
}
"#;

#[test]
fn inputs_come_from_where_the_user_says() {
    let pair = Pair::edited(INPUTS, &[("\"one\"", "\"three\"")]);
    pair.write("seed", "hello");
    pair.write("seeds/a", "hello");
    pair.write("seeds/b", "dinner");
    let report = pair.diff("--stdin seed").is("different", 1);
    assert!(
        report.one("output").stdin().starts_with(b"deep"),
        "{report}"
    );
    let report = pair.diff("--seeds seeds").is("different", 1);
    assert!(
        report.one("output").stdin().starts_with(b"deep"),
        "{report}"
    );
    assert_eq!(report.json["seeds"], 2, "{report}");
    for words in ["-- @{seed}", "--seeds seeds -- @@"] {
        let report = pair.diff(words).is("different", 1);
        let files = report.one("output").0["input"]["files"]
            .as_object()
            .unwrap()
            .clone();
        assert!(
            files.values().any(|file| bytes(file).starts_with(b"deep")),
            "{report}"
        );
    }
    let report = pair.diff("--env MODE={hello} -- -e").is("different", 1);
    let mode = report.one("output").0["input"]["env"]["MODE"]
        .as_str()
        .unwrap();
    assert!(mode.starts_with("deep"), "{report}");
}

#[test]
fn a_file_that_no_word_names_varies_if_asked_for() {
    let old = r#"
#include <stdio.h>
int main(void)
{
    char line[16] = "";
    FILE *file = fopen("sub/defaults", "r");
    if (file && fgets(line, sizeof line, file))
        puts(line[0] == 'k' && line[1] == '=' ? "key" : "none");
    return 0;
}
"#;
    let pair = Pair::edited(old, &[("\"key\"", "\"name\"")]);
    pair.write("sub/defaults", "abc\n");
    let report = pair.diff("--file sub/defaults").is("different", 1);
    let file = &report.one("output").0["input"]["files"]["sub/defaults"];
    assert!(bytes(file).starts_with(b"k="), "{report}");
    pair.write("beagle.toml", "files = ['sub/defaults']\n");
    pair.diff("").is("different", 1);
}

#[test]
fn a_fixture_is_there_and_stays_as_it_is() {
    let old = r#"
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    FILE *file = fopen("sub/data", "r+");
    if (!file)
        return 1;
    fputc(argc > 1 && argv[1][0] == 'x' ? '1' : '2', file);
    return fclose(file);
}
"#;
    let pair = Pair::edited(old, &[("'1'", "'3'")]);
    pair.write("things/sub/data", "0123");
    let report = pair.diff("--fixture things -- {a:1}").is("different", 1);
    let found = report.one("output");
    assert_eq!(found.aspects(), ["files"], "{report}");
    let written = &found.0["new"]["files"]["sub/data"]["content_b64"];
    assert_eq!(bytes(written), b"3123", "{report}");
    assert_eq!(
        std::fs::read(pair.path("things/sub/data")).unwrap(),
        b"0123"
    );
}

#[test]
fn a_fuzz_target_and_a_single_function() {
    let target = r#"
#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size > 3 && data[2] == 77)
        return 1;
    return 0;
}
"#;
    let pair = Pair::edited(target, &[("77", "78")]);
    let report = pair.diff("--max-runs 30").is("different", 1);
    let tried: Vec<_> = report
        .differences()
        .iter()
        .map(|found| found.stdin())
        .collect();
    assert!(
        tried.iter().all(|data| [77, 78].contains(&data[2])),
        "{report}"
    );
    let function = r#"
#include <string.h>
static int known(const char *word, int n)
{
    if (strcmp(word, "secret") == 0 && n > 5)
        return 1;
    return 0;
}
int main(int argc, char **argv)
{
    return known(argv[0], argc);
}
"#;
    let pair = Pair::edited(function, &[("n > 5", "n > 6")]);
    let report = pair
        .diff("--max-runs 60 --function known")
        .is("different", 1);
    let found = report.one("output").stdin();
    assert!(found.starts_with(b"secret\0"), "{report}");
    // The number comes after 32 bytes of text.
    assert_eq!(found[32..36], 6_i32.to_le_bytes(), "{report}");
}

#[test]
fn an_interrupted_search_reports_what_it_has() {
    let pair = Pair::edited(MANY_WAYS, &[("other * 2", "other + other")]);
    let line = "-q diff old.c new.c --format json --timeout 10m --stdin-text abcdefgh";
    let mut command = pair.command(line);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let beagle = Pid::from_child(&child);
    while !has_child_called(child.id(), "program") {
        std::thread::sleep(Duration::from_millis(5));
    }
    kill_process(beagle, Signal::INT).unwrap();
    let report = Ran::new(child.wait_with_output().unwrap()).report();
    let report = report.is("none-found", 130);
    assert_eq!(report.json["reason"], "interrupted", "{report}");
}

/// Whether the process has a child with this name: the search has begun.
fn has_child_called(process: u32, name: &str) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let children = tasks.filter_map(|task| {
        let children = task.ok()?.path().join("children");
        std::fs::read_to_string(children).ok()
    });
    let children: Vec<String> = children.collect();
    let mut children = children.iter().flat_map(|list| list.split_whitespace());
    children.any(|child| {
        let line = std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
        line.split(|&byte| byte == 0).next() == Some(name.as_bytes())
    })
}

#[test]
fn the_report_for_people() {
    let pair = word(&[("\"one\"", "\"three\"")]);
    let ran = pair.beagle("-q diff old.c new.c -- {a:1}");
    assert_eq!((ran.code, &ran.stderr[..]), (Some(1), ""), "{ran}");
    let mut text = ran.stdout;
    for (pattern, replacement) in [
        (r"\d+(\.\d+)? m?s\b", "[TIME]"),
        (r" and \d+ runs? of the fast lane", ""),
        (r"\d+ runs?\b", "[N] runs"),
        (r"\d+ quer(y|ies)\b", "[N] queries"),
        (r"\d+ inputs? took", "[N] took"),
        (r"Programs ran with .*", "Programs ran with [ISOLATION]"),
    ] {
        let pattern = regex::Regex::new(pattern).unwrap();
        text = pattern.replace_all(&text, replacement).into_owned();
    }
    insta::assert_snapshot!(text);
}

/// Made small, an input no longer does all that it did when it was found.
#[test]
fn where_the_versions_part_is_said_of_the_input_that_is_shown() {
    let old = r#"
#include <stdio.h>
int main(void)
{
    int c, seen = 0;
    while ((c = getchar()) != EOF) {
        if (c == 'x' && seen < 5)
            seen++;
        if (c == 'y')
            puts("why");
    }
    return 0;
}
"#;
    let edits = [("seen < 5", "seen < 0"), ("c == 'y'", "c == 'z'")];
    let pair = Pair::edited(old, &edits);
    let report = pair
        .diff("--timeout 4s --strategy shadow --stdin-text xxy")
        .is("different", 1);
    for found in report.differences() {
        assert!(!found.stdin().contains(&b'x'), "{report}");
    }
    let groups = report.json["groups"].as_array().into_iter().flatten();
    for group in groups {
        let title = group["title"].as_str().unwrap_or_default();
        assert!(title.ends_with("part at new.c:9"), "{report}");
    }
}
