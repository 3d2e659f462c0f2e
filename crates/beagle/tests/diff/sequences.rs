//! Several changes: the search goes through them in order, and the report says in which order they act.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::support::{Pair, Report};

/// Two switches that are set in this order, and a place where both count.
const SWITCHES: &str = r#"
#include <stdio.h>
int main(void)
{
    int first = 0, second = 0, c;
    while ((c = getchar()) != EOF) {
        if (c == 'a')
            first = 1;
        if (c == 'x')
            continue;
        if (c == 'b' && first == 1)
            second = 1;
        if (c == 'z')
            putchar(second > 1 ? '!' : '.');
    }
    return 0;
}
"#;

fn switches() -> Pair {
    let edits = [
        ("first = 1;", "first = 3;"),
        ("second = 1;", "second = first;"),
    ];
    Pair::edited(
        SWITCHES,
        &[&edits[..], &[("&& first == 1", "&& first")]].concat(),
    )
}

/// What is said of the only group.
#[track_caller]
fn critical(report: &Report) -> &Value {
    assert_eq!(
        report.json["groups"].as_array().unwrap().len(),
        1,
        "{report}"
    );
    &report.json["groups"][0]["critical"]
}

#[test]
fn going_through_changes_in_order_finds_what_takes_both() {
    let pair = switches();
    let report = pair.diff("--strategy sequences --max-runs 300 --first --stdin-text xyz");
    let report = report.is("different", 1);
    let critical = critical(&report);
    assert_eq!(critical["interaction"], true, "{report}");
    let culprits = &report.json["groups"][0]["culprits"]["sets"][0]["hunks"];
    assert_eq!(&critical["hunks"], culprits, "{report}");
    assert!(critical["inputs"].as_u64() > Some(0), "{report}");
    assert!(critical["skipping"].as_u64() > Some(0), "{report}");
    let sequences = &report.json["sequences"];
    assert!(sequences["exercised"].as_u64() > Some(1), "{report}");
    assert!(sequences["differing"].as_u64() > Some(0), "{report}");
    assert!(sequences["not_reached"].is_u64(), "{report}");
}

#[test]
fn the_same_runs_are_made_each_time() {
    let pair = switches();
    let ask = || {
        let report = pair.diff("--strategy sequences,cover --max-runs 40 --stdin-text xyz");
        let mut report = report.json;
        report["sequences"].take()
    };
    assert_eq!(ask(), ask());
}

/// Each of two checks is there because of the other, and both are taken away.
const CHECKS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static int share(int n)
{
    if (n == 0)
        exit(3);
    puts("share");
    return 100 / n;
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1;
    if (n == 0)
        exit(3);
    printf("%d\n", share(n));
    return 0;
}
"#;

#[test]
fn what_was_deleted_acts_where_it_was() {
    let pair = Pair::edited(CHECKS, &[("    if (n == 0)\n        exit(3);\n", "")]);
    let report = pair.diff("--first -- {7:2}").is("different", 1);
    let critical = critical(&report);
    assert_eq!(critical["hunks"], json!([2, 1]), "{report}");
    assert_eq!(critical["interaction"], true, "{report}");
}

#[test]
fn one_change_alone_is_no_interaction_although_another_is_executed() {
    let pair = Pair::edited(CHECKS, &[("100 / n", "101 / n"), (": 1;", ": 2;")]);
    let report = pair.diff("--first -- {7:2}").is("different", 1);
    assert_eq!(critical(&report)["interaction"], false, "{report}");
    let text = pair.beagle("-q diff old.c new.c --first --strategy shadow,cover -- {7:2}");
    assert!(!text.stdout.contains("together"), "{text}");
    assert!(text.stdout.contains("Orders of changes"), "{text}");
}

#[test]
fn one_change_has_no_order() {
    let pair = Pair::edited(CHECKS, &[("100 / n", "101 / n")]);
    let report = pair.diff("--first -- {7:2}").is("different", 1);
    assert!(report.json["sequences"].is_null(), "{report}");
    assert!(critical(&report).is_null(), "{report}");
    // There is nothing else to go by.
    pair.diff("--strategy sequences --first -- {7:2}")
        .is("different", 1);
}

#[test]
fn changes_by_themselves_are_gone_to() {
    let pair = switches();
    let report = pair.diff("--strategy isolation --max-runs 60 --no-blame --stdin-text xyz");
    let changes = report.json["changes"].as_array().unwrap();
    let reached = changes.iter().filter(|change| change["reached"] == true);
    assert!(reached.count() >= 2, "{report}");
}

/// The search goes on from change to change; thirty runs were seen to reach more than twenty of them.
#[test]
fn three_hundred_changes_do_not_bring_the_search_to_a_stop() {
    let many = |factor: usize| {
        let mut code = "#include <stdio.h>\nstatic int state;\n".to_owned();
        let mut cases = String::new();
        for i in 0..300 {
            writeln!(
                code,
                "static void f{i}(int x)\n{{\n    int y = x * {factor};\n    if (y == {i})\n        state += y;\n}}"
            )
            .unwrap();
            writeln!(cases, "        case {i}: f{i}(getchar()); break;").unwrap();
        }
        code + "int main(void)\n{\n    int c;\n    while ((c = getchar()) != EOF)\n        switch (c) {\n"
            + &cases
            + "        }\n    printf(\"%d\\n\", state);\n    return 0;\n}\n"
    };
    let pair = Pair::new(&many(2), &many(3));
    let report = pair.diff("--strategy sequences --max-runs 30 --no-blame --stdin-text ab");
    let changes = report.json["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 300, "{report}");
    let reached = changes.iter().filter(|change| change["reached"] == true);
    assert!(reached.count() > 10, "{report}");
    assert!(
        report.json["sequences"]["exercised"].as_u64() > Some(10),
        "{report}"
    );
}
