//! What a test-suite gives to the program, recorded and put to use.

use std::collections::BTreeSet;

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::Scratch;

/// Counts words, in standard input or in files.
const TALLY: &str = r#"
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int limit = 100;

static int tally(FILE *in, const char *name) {
    int words = 0, inside = 0, byte;
    while ((byte = getc(in)) != EOF) {
        int space = isspace(byte);
        if (!space && !inside)
            words++;
        inside = !space;
    }
    if (words > limit)
        printf("%s: many\n", name);
    else
        printf("%s: %d\n", name, words);
    return words;
}

int main(int argc, char **argv) {
    int i = 1, files = 0;
    const char *mode = getenv("TALLY_MODE");
    if (mode && strcmp(mode, "loud") == 0)
        puts("TALLY");
    for (; i < argc; i++) {
        if (strcmp(argv[i], "-l") == 0 && i + 1 < argc) {
            limit = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--rare") == 0) {
            puts("rare");
        } else if (strcmp(argv[i], "-k") == 0) {
            raise(SIGTERM);
        } else {
            FILE *in = fopen(argv[i], "r");
            if (!in)
                return 2;
            tally(in, "file");
            fclose(in);
            files++;
        }
    }
    if (!files)
        tally(stdin, "-");
    FILE *log = fopen("tally.log", "w");
    if (log)
        fclose(log);
    return 0;
}
"#;

const MAKEFILE: &str = "tally: tally.c\n\t$(CC) $(FLAGS) -O2 -o tally tally.c\n\
                        check: tally\n\tsh ./check.sh\n";

/// A suite that notices if anything is different from what it knows.
const CHECK: &str = r#"
set -e
is() { test "$1" = "$2" || { echo "got $1, not $2"; exit 1; }; }
is "$(echo 'a b' | ./tally)" '-: 2'
is "$(./tally < data.txt)" '-: 3'
is "$(./tally -l 2 <<END
one two three
END
)" '-: many'
(cd sub && is "$(../tally ../data.txt)" 'file: 3')
is "$(TALLY_MODE=loud UNUSED=1 ./tally data.txt | head -1)" TALLY
is "$(env -i ./tally -l 1 "$PWD/data.txt")" 'file: many'
is "$(printf '1\n9\n' | while read n; do ./tally -l "$n" data.txt; done | wc -l)" 2
./tally -l 7 data.txt > 7 & ./tally -l 8 data.txt > 8 & wait
is "$(cat 7 8 | sort -u)" 'file: 3'
./tally missing.txt && exit 1 || is $? 2
cp tally other; is "$(./other -l 3 data.txt)" 'file: 3'
./tally -k && exit 1 || is $? 143
is "$(echo 'a b' | (./tally; cat))" '-: 2'
is "$(mktemp -u | (read line; ./tally --rare sub/empty; cat) | head -1)" rare
test ! -e sub/left; touch sub/left
"#;

fn project() -> Scratch {
    let scratch = Scratch::new();
    for version in ["old", "new"] {
        scratch.write(&format!("{version}/tally.c"), TALLY);
        scratch.write(&format!("{version}/Makefile"), MAKEFILE);
        scratch.write(&format!("{version}/check.sh"), CHECK);
        scratch.write(&format!("{version}/data.txt"), "one two\nthree\n");
        scratch.write(&format!("{version}/sub/empty"), "");
    }
    // Shown by tests; executed by tests, but only with values that make no difference; not even that.
    let new = TALLY
        .replace("words > limit", "words >= limit")
        .replace("return 2;", "return 2 + (argc > 9);")
        .replace("puts(\"TALLY\")", "puts(argc > 7 ? \"T\" : \"TALLY\")");
    scratch.write("new/tally.c", new);
    scratch
}

/// Each recorded input in one line; what stays as it is has a mark.
fn recorded(scratch: &Scratch, dir: &str) -> BTreeSet<String> {
    let found = scratch.sh(&format!("ls {dir}/*/input.json"));
    let line = |path: &str| {
        let json: Value = serde_json::from_str(&scratch.read(path)).unwrap();
        let parts = json["input"].as_array().unwrap().iter().skip(1);
        let parts = parts.filter_map(|part| {
            let value = part["value"].as_str().unwrap_or_default();
            let name = part["name"].as_str().unwrap_or_default();
            let stays = if part["symbolic"] == true { "" } else { "!" };
            let content = || {
                let file = part["file"].as_str().unwrap();
                scratch.read(&path.replace("input.json", file))
            };
            Some(match part["kind"].as_str().unwrap() {
                "argument" => format!("{stays}{value}"),
                "environment" => format!("{name}={value}"),
                "stdin" if content().is_empty() => return None,
                "stdin" => format!("< {:?}", content()),
                _ => format!("@{name}:{}", content().len()),
            })
        });
        parts.collect::<Vec<_>>().join(" ")
    };
    found.lines().map(line).collect()
}

#[test]
fn every_run_of_the_program_is_recorded_and_nothing_else_changes() {
    let scratch = project();
    let before = scratch.sh("find old -type f -exec cksum {} + | sort");
    let ran = scratch
        .beagle("record old --out seeds -- make check")
        .exits(0);
    assert_snapshot!("recorded", ran.stdout);
    let found = recorded(&scratch, "seeds");
    assert_eq!(found.len(), 13, "{found:#?}");
    for line in [
        "!data.txt @data.txt:14",
        "!data.txt TALLY_MODE=loud @data.txt:14",
        "missing.txt",
        "-k",
        "-l 1 !data.txt @data.txt:14",
        "-l 2 < \"one two three\\n\"",
        "-l 3 !data.txt @data.txt:14",
        "-l 7 !data.txt @data.txt:14",
        "-l 8 !data.txt @data.txt:14",
        "-l 9 !data.txt @data.txt:14",
        "< \"a b\\n\"",
        "< \"one two\\nthree\\n\"",
        "--rare !sub/empty @sub/empty:0",
    ] {
        assert!(found.contains(line), "{line} is not in {found:#?}");
    }
    let after = scratch.sh("find old -type f -exec cksum {} + | sort");
    assert_eq!(after, before);
    // Once more: the tree is as fresh as before, or the suite would fail; all is known.
    let again = scratch
        .beagle("record old --out seeds --format json -- make check")
        .exits(0);
    let json: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(json["status"], 0, "{again}");
    assert_eq!((&json["inputs"], &json["known"]), (&13.into(), &13.into()));
    assert_eq!(recorded(&scratch, "seeds").len(), 13);
}

#[test]
fn static_programs_and_scripts_of_libtool_are_recorded_too() {
    let scratch = project();
    let ran = scratch
        .beagle("record old --build 'make FLAGS=-static' --out static -- make check")
        .exits(0);
    assert_eq!(recorded(&scratch, "static").len(), 13, "{ran}");
    let script = "#!/bin/sh\n# temporary wrapper script for .libs/tally\n\
                  d=$(dirname \"$0\"); exec \"$d/.libs/tally\" \"$@\"\n";
    scratch.write("old/wrapper", script);
    scratch.write(
        "old/Makefile",
        "tally: tally.c\n\tmkdir -p .libs; $(CC) -O2 -o .libs/tally tally.c\n\
         \tcp wrapper tally; chmod +x tally\n",
    );
    let ran = scratch
        .beagle("record old --program tally --out libtool -- 'echo a | ./tally; ./tally data.txt'")
        .exits(0);
    let found = recorded(&scratch, "libtool");
    let expected = ["!data.txt @data.txt:14", "< \"a\\n\""].map(str::to_owned);
    assert_eq!(found, expected.into(), "{ran}");
}

#[test]
fn coverage_says_which_test_gets_how_far_with_each_change() {
    let scratch = project();
    scratch
        .beagle("record old --out seeds -- make check")
        .exits(0);
    // The order in which runs that are made at the same time are recorded is anybody's guess.
    scratch.sh("rm -r $(grep -lE '\"[78]\"' seeds/*/input.json | xargs dirname)");
    let ran = scratch
        .beagle("coverage old new --seeds seeds --strict")
        .exits(0);
    assert_snapshot!("covered", ran.stdout);
    scratch.sh("rm -r $(grep -l missing seeds/*/input.json | xargs dirname)");
    let ran = scratch
        .beagle("coverage old new --seeds seeds --strict --format json")
        .exits(4);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let counts = ["tests", "reached", "shown"].map(|name| json[name].as_u64());
    assert_eq!(counts, [Some(10), Some(2), Some(1)], "{ran}");
    let ran = scratch.beagle("coverage old new").exits(2);
    assert!(ran.stderr.contains("there are no inputs"), "{ran}");
}

#[test]
fn a_comparison_starts_from_what_was_recorded_and_from_earlier_findings() {
    let scratch = project();
    scratch
        .beagle("record old --out seeds -- make check")
        .exits(0);
    scratch.write("seeds/note.txt", "a raw seed\n");
    scratch.write("seeds/broken/input.json", "{}");
    let ran = scratch
        .beagle("diff old new --seeds seeds --out found --first --format json")
        .exits(1);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["tests"]["tests"], 14, "{ran}");
    assert_eq!(json["tests"]["reached"], 3, "{ran}");
    let notes = json["notes"].to_string();
    assert!(notes.contains("seeds/broken"), "{ran}");
    assert!(notes.contains("add nothing near the changes"), "{ran}");
    // Without any seeds, what was found is one.
    let ran = scratch
        .beagle("diff old new --out found --first --format json")
        .exits(1);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(json["tests"].is_null(), "{ran}");
    let notes = json["notes"].to_string();
    assert!(notes.contains("findings of an earlier comparison"), "{ran}");
}

#[test]
fn what_cannot_be_recorded_is_refused_with_the_way_out() {
    let scratch = project();
    let ran = scratch.beagle("record old -- true").exits(1);
    assert_snapshot!("recorded_nothing", ran.stdout);
    let ran = scratch.beagle("record old/tally.c -- make check").exits(2);
    assert_snapshot!("recorded_single_file", ran.stderr);
    let ran = scratch
        .beagle("record old --out s -- sh -c './tally data.txt; exit 7'")
        .exits(0);
    assert!(ran.stdout.contains("ended with exit status 7"), "{ran}");
    let ran = scratch
        .beagle("record old --out s -- no-such-command x")
        .exits(3);
    assert!(ran.stderr.contains("no-such-command"), "{ran}");
    scratch.beagle("record old").exits(2);
    scratch.write("old/tally.c", "int main(void) { return }");
    scratch.beagle("record old -- make check").exits(3);
}

#[test]
fn more_runs_than_asked_for_are_only_counted() {
    let scratch = project();
    // Until there were enough, and once more.
    let loops = "until test -e ../spool/enough; do ./tally -l $((i = i + 1)) data.txt; done; \
                 ./tally --rare data.txt";
    let ran = scratch
        .beagle(&format!(
            "record old --max-runs 2 --out s --format json -- '{loops}'"
        ))
        .exits(0);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let left_out = &json["left_out"][0];
    assert_eq!(left_out["cause"], "there were enough already", "{ran}");
    let left_out = left_out["count"].as_u64().unwrap();
    assert!(left_out >= 1, "{ran}");
    let runs = json["runs"].as_u64().unwrap();
    assert_eq!(json["inputs"], runs - left_out, "{ran}");
}
