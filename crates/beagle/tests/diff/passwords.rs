//! Words that a program compares its input with, which no search finds by chance.

use crate::support::Pair;

/// What SymCC's issue 23 asks for.
const NESTED: &str = r#"
#include <stdio.h>
#include <string.h>
int main(void)
{
    char text[64] = {0};
    size_t size = fread(text, 1, sizeof text - 1, stdin);
    if (size < 26)
        return 1;
    if (text[0] != 'K')
        return 2;
    if (text[1] == 'e') {
        if (text[2] != 'y')
            return 3;
        if (memcmp(text + 3, "\x7f" "ELF", 4) != 0)
            return 4;
        if (strncmp(text + 7, "version=2", 9) != 0)
            return 5;
        text[24] = '\0';
        puts(strcmp(text + 16, "sardines") == 0 ? "open" : "shut");
    }
    return 0;
}
"#;

#[test]
fn bytes_and_words_one_behind_the_other() {
    let pair = Pair::edited(NESTED, &[("\"open\"", "\"opened\"")]);
    // 7 runs.
    let report = pair
        .diff("--max-runs 10 --stdin-text hello")
        .is("different", 1)
        .within(10);
    let found = report.one("output");
    assert!(
        found.stdin().starts_with(b"Key\x7fELFversion=2sardines"),
        "{report}"
    );
}

/// Two names of 40 characters, the same but for the last, so that no abbreviation will do.
const OPTIONS: &str = r#"
#include <getopt.h>
#include <stdio.h>
static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"preserve-timestamps-of-symbolic-links-to", no_argument, NULL, 't'},
    {"preserve-timestamps-of-symbolic-links-tx", no_argument, NULL, 'x'},
    {"quiet", no_argument, NULL, 'q'},
    {NULL, 0, NULL, 0},
};
int main(int argc, char **argv)
{
    int times = 0, c;
    while ((c = getopt_long(argc, argv, "hq", options, NULL)) != -1) {
        switch (c) {
        case 'h':
            puts("usage");
            return 0;
        case 't':
            times = 1;
            break;
        case 'x':
        case 'q':
            break;
        case '?':
            return 1;
        }
    }
    printf("times %d\n", times);
    return 0;
}
"#;

#[test]
fn the_long_name_of_an_option() {
    let pair = Pair::edited(OPTIONS, &[("times = 1", "times = 2")]);
    // 2 runs; 9 when letter by letter led there.
    let report = pair.diff("--first -- {x:45}").is("different", 1).within(4);
    let found = report.one("output");
    assert_eq!(
        found.args(),
        ["--preserve-timestamps-of-symbolic-links-to"],
        "{report}"
    );
}
