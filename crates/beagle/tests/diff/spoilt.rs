//! Answers that would spoil an input, and inputs with what was asked for beside what was there.

use crate::support::Pair;

const TECHNIQUES: &str = "reach,infect,propagate,shadow,cover,sequences,prune";

/// Values, quoted where they are written.
const VALUES: &str = r#"
#include <stdio.h>
static char value[64];
static int parse(const char *line)
{
    int length = 0;
    while (*line != '=' && *line != '\0')
        line++;
    if (*line++ == '\0')
        return 0;
    if (*line == '"' || *line == '\\') {
        fputs("quotes are not supported\n", stderr);
        return 0;
    }
    for (; *line != '\0' && *line != '\n' && length < 63; line++)
        value[length++] = *line;
    return length > 0;
}
int main(void)
{
    char line[64];
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (!parse(line))
            return 1;
        for (const char *at = value; *at != '\0'; at++) {
            if (*at == '"' || *at == '\\')
                putchar('\\');
            putchar(*at);
        }
    }
    return 0;
}
"#;

/// No value starts with a quote, so that the first character of the only value cannot be one.
#[test]
fn the_next_character_may_be_what_the_first_cannot() {
    let pair = Pair::edited(
        VALUES,
        &[(
            "*at == '\"' || *at == '\\\\')\n                put",
            "*at == '\\\\')\n                put",
        )],
    );
    pair.write("values", b"k=1\n");
    let report = pair.diff(&format!("--strategy {TECHNIQUES} --first --stdin values"));
    // 3 runs; 14 to 17, as chance decides, when only what is there could become another.
    report.is("different", 1).within(9);
}

/// Ranges of numbers, and what they come to.
const LIST: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static int number(const char **at)
{
    int n = 0;
    if (**at < '1' || **at > '9')
        exit(2);
    while (**at >= '0' && **at <= '9')
        n = n * 10 + (*(*at)++ - '0');
    return n;
}
int main(int argc, char **argv)
{
    int last = 0, joined = 0;
    const char *at = argc == 2 ? argv[1] : "";
    for (;;) {
        int from = number(&at), to = from;
        if (*at == '-') {
            at++;
            to = number(&at);
        }
        if (last > 0 && from <= last + 1)
            joined++;
        last = to;
        if (*at == '\0')
            break;
        if (*at++ != ',')
            exit(2);
    }
    printf("%d %d\n", last, joined);
    return 0;
}
"#;

/// A second range takes a comma and a number behind it; with the comma alone nothing new happens.
#[test]
fn a_sign_between_words_comes_with_another_word() {
    let pair = Pair::edited(LIST, &[("from <= last + 1", "from <= last")]);
    let report = pair.diff(&format!("--strategy {TECHNIQUES} --first -- {{1}}"));
    // 6 runs; 9 when the comma came alone.
    report.is("different", 1).within(8);
}
