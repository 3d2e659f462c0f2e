//! Runs that are brought back: of programs that read all of their input before they do anything with it, and of those
//! that say what is wrong and go on.

use crate::support::Pair;

/// Names in brackets, and numbers of four digits. Nothing is shown if anything is wrong.
const STRICT: &str = r#"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
static char text[64];
static int codes[64], count;
/* (name), or <digits> with exactly four digits. All is read before anything is done. */
static int read_all(void)
{
    const char *at = text;
    while (*at != '\0') {
        if (*at == '(') {
            at++;
            while (islower((unsigned char)*at))
                codes[count++] = *at++;
            if (*at++ != ')')
                return 0;
        } else if (*at == '<') {
            int code = 0, digits = 0;
            for (at++; isdigit((unsigned char)*at); at++, digits++)
                code = code * 10 + (*at - '0');
            if (digits != 4 || *at++ != '>')
                return 0;
            codes[count++] = code;
        } else {
            return 0;
        }
    }
    return 1;
}
static void show(int code)
{
    printf("%d\n", code == 4711 ? 0 : code);
}
int main(void)
{
    text[fread(text, 1, sizeof text - 1, stdin)] = '\0';
    if (!read_all()) {
        fputs("bad input\n", stderr);
        return 1;
    }
    for (int i = 0; i < count; i++)
        show(codes[i]);
    return 0;
}
"#;

/// Each step from a name to a number makes an input that is refused.
#[test]
fn an_input_that_is_refused_on_the_way() {
    let pair = Pair::edited(STRICT, &[("4711", "4712")]);
    pair.write("one", b"(ab)(cdefgh)(i)");
    // 229 runs; 625 when inputs that are refused were left to themselves.
    let report = pair
        .diff("--first --stdin one --strategy infect,propagate")
        .is("different", 1)
        .within(400);
    let found = report.one("output").stdin();
    let found = String::from_utf8_lossy(&found);
    assert!(found.contains("<471"), "{report}");
}

/// Lines that set something or add to it. What is wrong with a line is said, and the next one is looked at.
const LINES: &str = r#"
#include <stdio.h>
static int value['z' + 1];
static void run(const char *s)
{
    int name = *s++, append;
    if (name < 'a' || name > 'z') {
        puts("name expected");
        return;
    }
    append = *s == '+';
    if (append)
        s++;
    if (*s != '=') {
        puts("= expected");
        return;
    }
    s++;
    if (*s < '0' || *s > '9') {
        puts("digit expected");
        return;
    }
    value[name] = append ? value[name] + *s - '0' : *s - '0';
    printf("%c is %d\n", name, value[name]);
}
int main(void)
{
    char line[32];
    while (fgets(line, sizeof line, stdin) != NULL)
        run(line);
    return 0;
}
"#;

#[test]
fn what_came_next_is_to_come_next_still() {
    let edit = ("append ? value[name] + ", "append ? value[name] - ");
    let pair = Pair::edited(LINES, &[edit]);
    pair.write("lines", b"a=1\nb=23\na=4\n");
    // 12 runs; 222 when only a run was brought back that came to no change at all any more.
    let report = pair.diff("--strategy reach,propagate,cover --first --stdin lines");
    report.is("different", 1).within(30);
}
