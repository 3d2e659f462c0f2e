//! The examples of the papers that Beagle builds on, in our words, with the number of runs they take.

use crate::support::Pair;

/// Test Generation to Expose Changes in Evolving Programs (ASE 2010), Figure 1. Tests that take every
/// path of both versions need not show the change: only one input does.
const ONE_INPUT: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    int x = atoi(argv[1]), result;
    if (x > 0) {
        int limit = 3;
        if (x - limit > 0)
            result = 5;
        else
            result = 0;
    } else {
        result = -1;
    }
    if (x > 20)
        result = 10;
    printf("%d\n", result);
    return 0;
}
"#;

#[test]
fn the_single_input_that_shows_a_change() {
    let pair = Pair::edited(ONE_INPUT, &[("limit = 3", "limit = 2")]);
    // 59 runs for all there is to try with three characters; 8 are enough to find it.
    let report = pair.diff("-- {-1:3}").is("different", 1).within(120);
    let found = report.one("output");
    assert_eq!(found.args(), ["3"], "{report}");
    assert_eq!(
        (found.stdout("old"), found.stdout("new")),
        ("0\n".into(), "5\n".into())
    );
    assert_eq!(report.json["changes"][0]["propagated"], true, "{report}");
    pair.diff("--max-runs 16 -- {-1:3}").is("different", 1);
}

/// Regression Tests to Expose Change Interaction Errors (FSE 2013), Figure 5: a range without a first
/// number begins at 1, and one that begins at 0 is wrong.
const INTERACTION: &str = r#"
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    unsigned value = 0, first = 1;
    if (argc < 2)
        return 2;
    for (const char *at = argv[1];; at++) {
        if (isdigit((unsigned char)*at)) {
            value = (unsigned)(*at - '0');
        } else if (*at == '-') {
            int given = value != 0;
            first = given ? value : 1;
        } else if (*at == '\0') {
            assert(first != 0);
            break;
        }
    }
    printf("from %u\n", first);
    return 0;
}
"#;

#[test]
fn an_error_that_takes_two_changes() {
    let pair = Pair::edited(
        INTERACTION,
        &[
            ("first = 1;", "first = 1;\n    int number = 0;"),
            ("- '0');", "- '0');\n            number = 1;"),
            ("given = value != 0", "given = number"),
        ],
    );
    // Within 5 runs.
    let report = pair.diff("--max-runs 20 -- {1:4}").is("different", 1);
    let found = report.one("crash");
    assert_eq!(found.args(), ["0-"], "{report}");
    assert_eq!(found.0["new"]["signal"], 6, "{report}");
}

/// Shadow of a Doubt (ICSE 2016), Figures 1 and 3.
const UNDERFLOW: &str = r#"
#include <stdio.h>
static char field[4];
static int place(int x)
{
    int y = x - 1;
    if (y > 7) {
        int z = x - 8;
        if (z < 4)
            field[z] = 'A';
        return 0;
    }
    return 1;
}
int main(void)
{
    int x;
    if (fread(&x, sizeof x, 1, stdin) != 1)
        return 2;
    return place(x);
}
"#;

/// From each of the three inputs that the paper starts from, all of which miss the change.
#[test]
fn a_write_before_an_array_and_the_smallest_number() {
    let pair = Pair::edited(UNDERFLOW, &[("x - 1", "x + 1")]);
    let mut smallest = false;
    // 11 or 12 runs.
    for x in [0, 9, 15_i32] {
        pair.write("in", x.to_le_bytes());
        let report = pair.diff("--stdin in").is("different", 1).within(30);
        let found = report.differences();
        let number = |bytes: Vec<u8>| i32::from_le_bytes(bytes[..4].try_into().unwrap());
        let faults = found.iter().filter_map(|found| {
            let kind = |version: &str| found.0[version]["fault"]["kind"].as_str();
            Some((number(found.stdin()), kind("new").or(kind("old"))?))
        });
        let faults: Vec<_> = faults.collect();
        assert!(faults.contains(&(7, "index-out-of-bounds")), "{report}");
        // The largest number takes the same two ways.
        smallest |= faults.contains(&(i32::MIN, "signed-integer-overflow"));
    }
    assert!(smallest);
}

/// eXpress (ISSTA 2011), Figure 1: four characters in a row, and a text of a certain length.
const STATES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int scan(const char *text, int n)
{
    int state = 0;
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '[')
            state = 1;
        else if (state == 1 && c == '{')
            state = 2;
        else if (state == 2 && c == '<')
            state = 3;
        else if (state == 3 && c == '*')
            state = 4;
        if (c == ' ')
            return state;
        if (c == '\t' || c == '\n')
            return -1;
    }
    return length > 0 && text[length - 1] == '}' ? state : -n;
}
int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    printf("%d\n", scan(argv[1], atoi(argv[2])));
    return 0;
}
"#;

/// The paper needed 441 runs without guidance.
#[test]
fn a_change_behind_a_sequence_of_states() {
    let added = "state = 4;\n        if (state == 4 && length == 15)\n            state += n;";
    let pair = Pair::edited(STATES, &[("state = 4;", added)]);
    // 56 runs.
    let report = pair.diff("--max-runs 160 -- {} {7:2}").is("different", 1);
    let found = report.one("output");
    assert_eq!(found.args()[0].len(), 15, "{report}");
    // Between them others may stand.
    let mut states = "[{<*".chars().peekable();
    for character in found.args()[0].chars() {
        states.next_if_eq(&character);
    }
    assert_eq!(states.peek(), None, "{report}");
}

/// Section 2.2 of the FSE 2013 paper: `cut` allocates its table only if a range has an end, and asks
/// it for the beginning of the range without one.
const CUT: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    const char *list = NULL;
    int delimiter = 0;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-f", 2) == 0)
            list = argv[i] + 2;
        else if (strcmp(argv[i], "--out=:") == 0)
            delimiter = 1;
    }
    if (!list)
        return 2;
    size_t most = 0, open = 0;
    char *at = (char *)list;
    while (*at) {
        size_t from = strtoul(at, &at, 10), to = from;
        if (from == 0 || from > 5000)
            return 2;
        if (*at == '-') {
            at++;
            to = strtoul(at, &at, 10);
            if (to == 0)
                open = from;
            if (to > 5000)
                return 2;
        }
        if (to > most)
            most = to;
        if (*at && *at++ != ',')
            return 2;
    }
    if (most < open)
        most = open;
    char *printable = calloc(most + 1, 1);
    if (!printable)
        return 3;
    for (size_t i = 1; i <= most; i += 2)
        printable[i] = 1;
    if (delimiter && open && !printable[open])
        puts("starts a range");
    printf("done\n");
    free(printable);
    return 0;
}
"#;

#[test]
fn a_table_that_is_too_small() {
    let edits = [("    if (most < open)\n        most = open;\n", "")];
    let pair = Pair::edited(CUT, &edits);
    // 20 to 40 runs.
    let report = pair
        .diff("--max-runs 100 -- -f{1:5} {--out:7}")
        .is("different", 1);
    // Worst first.
    let found = report.differences()[0];
    assert_eq!(found.0["class"], "crash", "{report}");
    assert!(found.args()[0].ends_with('-'), "{report}");
    assert_eq!(found.args()[1], "--out=:", "{report}");
    assert_eq!(
        found.0["new"]["fault"]["kind"], "heap-buffer-overflow",
        "{report}"
    );
    assert_eq!(found.0["old"]["fault"], serde_json::Value::Null, "{report}");
}

/// What eXpress calls infection: the change is executed and makes the same of this input, and what it
/// makes is used only behind another branch.
const KEPT: &str = r#"
#include <stdio.h>
struct state { unsigned level, other; };
static void set(struct state *state, unsigned a)
{
    state->level = a & 255;
}
int main(void)
{
    unsigned in[2];
    struct state state = {0, 0};
    if (fread(in, sizeof in, 1, stdin) != 1)
        return 2;
    set(&state, in[0]);
    printf("%u\n", in[1] == 77 ? state.level : 0);
    return 0;
}
"#;

#[test]
fn a_state_that_differs_comes_before_an_output_that_does() {
    let pair = Pair::edited(KEPT, &[("a & 255", "a & 127")]);
    pair.write("in", [0; 8]);
    // The one goes to where the value is used, but never with a value that differs.
    let without = pair.diff("--max-input 8 --strategy cover --stdin in");
    let without = without.is("none-found", 0);
    assert_eq!(without.json["changes"][0]["reached"], true, "{without}");
    assert_eq!(without.json["changes"][0]["infected"], false, "{without}");
    let with = pair.diff("--max-input 8 --strategy infect,cover --stdin in");
    let with = with.is("different", 1).within(10);
    let found = with.one("output").stdin();
    assert_eq!((found[0] & 128, found[4]), (128, 77), "{with}");
}
