//! The fast lane as part of `beagle diff`.

use crate::support::Pair;

const COUNT: &str = r#"
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    int c, words = 0, inside = 0;
    while ((c = getchar()) != EOF) {
        if (c == ' ' || c == '\n') inside = 0;
        else if (!inside) { inside = 1; words++; }
    }
    if (argc > 1 && strcmp(argv[1], "--double") == 0) words *= 2;
    printf("%d\n", words);
    return words > 9;
}
"#;

#[test]
fn very_many_inputs_find_what_is_near_without_any_question() {
    let pair = Pair::edited(COUNT, &[("words > 9", "words > 7")]);
    let report = pair.diff("--strategy fuzz --first --stdin-text 'a b c' -- {x}");
    let report = report.is("different", 1);
    let used = &report.json["strategies"][0];
    assert_eq!(used["name"], "fuzz", "{report}");
    assert!(used["runs"].as_u64() > Some(0), "{report}");
    assert_eq!(report.json["queries"], 0, "{report}");
}

#[test]
fn words_that_the_programs_compare_with_are_tried() {
    let pair = Pair::edited(COUNT, &[("words *= 2", "words *= 3")]);
    let report = pair.diff("--strategy fuzz --first --stdin-text 'a b c' -- {x}");
    report.is("different", 1);
}

#[test]
fn what_both_searches_find_is_one_difference() {
    // The status would be another difference.
    let count = COUNT.replace("return words > 9", "return 0");
    let pair = Pair::edited(&count, &[("words *= 2", "words *= 3")]);
    let report = pair.diff("--strategy cover,shadow,fuzz --timeout 4s --stdin-text 'a b' -- {x:9}");
    let report = report.is("different", 1);
    assert_eq!(
        report.json["groups"].as_array().unwrap().len(),
        1,
        "{report}"
    );
}

#[test]
fn a_program_that_the_lane_cannot_run_is_searched_otherwise() {
    let old = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    if (fork() == 0) _exit(0);
    wait(0);
    puts(argc > 1 && argv[1][0] == 'q' ? "one" : "two");
    return 0;
}
"#;
    let pair = Pair::edited(old, &[("\"one\"", "\"three\"")]);
    let report = pair.diff("--strategy cover,shadow,fuzz --first -- {x}");
    let report = report.is("different", 1);
    let notes = report.json["notes"].to_string();
    // It may be found before the lane has run at all.
    let used = report.json["strategies"].as_array().unwrap();
    let fuzz = used.iter().find(|used| used["name"] == "fuzz").unwrap();
    if fuzz["runs"].as_u64() > Some(0) {
        assert!(notes.contains("fast lane"), "{report}");
    }
}
