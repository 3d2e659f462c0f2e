//! Ways that cannot make a difference are left out, and nothing else is.

use crate::support::{Pair, Report};

/// The account of `prune`.
fn pruned(report: &Report) -> u64 {
    let used = report.json["strategies"].as_array().unwrap();
    let prune = used.iter().find(|used| used["name"] == "prune");
    prune.unwrap()["pruned"].as_u64().unwrap()
}

fn runs(report: &Report) -> u64 {
    report.json["runs"].as_u64().unwrap()
}

/// `help` looks at everything it is given, and has nothing to do with what changes.
const HELP: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static void help(const char *text)
{
    for (; *text; text++)
        if (*text == 'a' || *text == 'b')
            puts("letter");
    exit(0);
}
static int twice(int c)
{
    return c * 2;
}
int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    if (argv[1][0] == 'h')
        help(argv[1] + 1);
    if (argv[1][0] == 'x' && argv[1][1] == 'y')
        printf("%d\n", twice(argv[1][2]));
    return 0;
}
"#;

#[test]
fn what_cannot_come_to_a_change_is_not_asked_for() {
    let pair = Pair::edited(HELP, &[("c * 2", "c * 2 + (c == 'z')")]);
    let with = pair
        .diff("--strategy shadow,cover,prune -- {h:4}")
        .is("different", 1);
    let without = pair
        .diff("--strategy shadow,cover -- {h:4}")
        .is("different", 1);
    assert!(pruned(&with) > 3, "{with}");
    assert!(runs(&with) * 2 <= runs(&without), "{with}\n{without}");
}

#[test]
fn leaving_out_proves_as_much_as_trying() {
    let pair = Pair::edited(HELP, &[("c * 2", "c + c")]);
    let with = pair.diff("-- {h:3}").is("equivalent", 0);
    let without = pair.diff("--strategy shadow,infect,propagate,reach,cover -- {h:3}");
    let without = without.is("equivalent", 0);
    assert!(pruned(&with) > 3, "{with}");
    assert!(runs(&with) < runs(&without), "{with}\n{without}");
}

/// Each has a change that comes to light only after branches from which no call, return or edge
/// leads to it, or which follow it.
const ODD: [(&str, &str, (&str, &str)); 8] = [
    (
        "what runs at the end",
        r#"static int code;
        static void bye(void) { printf("%d\n", code * 2); }
        int run(char *s) { atexit(bye); if (s[0] == 'x') code = 1; return 0; }"#,
        ("code * 2", "code * 3"),
    ),
    (
        "a destructor",
        r#"static int code;
        __attribute__((destructor)) static void bye(void) { printf("%d\n", code * 2); }
        int run(char *s) { if (s[0] == 'x') code = 1; return 0; }"#,
        ("code * 2", "code * 3"),
    ),
    (
        "a handler of a signal",
        r#"static int code;
        static void on(int s) { printf("%d\n", code * 2); }
        int run(char *s) {
            signal(SIGFPE, on);
            if (s[0] == 'x') { code = 1; kill(getpid(), SIGFPE); }
            return 0;
        }"#,
        ("code * 2", "code * 3"),
    ),
    (
        "a long jump",
        r#"static jmp_buf b;
        static void fail(char *s) { if (s[0] == 'x') longjmp(b, s[1] == 'y' ? 2 : 1); exit(0); }
        int run(char *s) {
            int how = setjmp(b);
            if (how) return printf("%d\n", how * 2);
            fail(s);
            return 0;
        }"#,
        ("how * 2", "how + 2 * (how > 1) + 1"),
    ),
    (
        "a function that the library calls",
        r#"static int order(const void *a, const void *b) {
            char x = *(char *)a, y = *(char *)b;
            if (x == 'x') return x - y;
            return y - x;
        }
        int run(char *s) { qsort(s, strlen(s), 1, order); puts(s); return 0; }"#,
        ("y - x", "x - y + (x > y)"),
    ),
    (
        "a function behind a pointer",
        r#"static int f(int c) { return c + 1; }
        static int g(int c) { return c * 2; }
        static int (*const table[])(int) = {f, g};
        int run(char *s) { if (s[0] != 'x') return 0; printf("%d\n", table[s[1] == 'y'](3)); return 0; }"#,
        ("c * 2", "c * 3"),
    ),
    (
        "what follows the change",
        r#"static int half(int c) { return c / 2; }
        int run(char *s) {
            int kept = half(s[0]);
            if (s[1] == 'q') { if (s[0] == 'b') printf("%d\n", kept); }
            return 0;
        }"#,
        ("c / 2", "c / 2 + (c == 'b')"),
    ),
    (
        "deleted code",
        r#"static int limit = 5;
        int run(char *s) {
            if (s[0] == 'x') { if (s[1] == 'y') limit = 6; }
            printf("%d\n", s[0] == 'x' ? limit : 5);
            return 0;
        }"#,
        ("if (s[1] == 'y') limit = 6;", ""),
    ),
];

#[test]
fn what_goes_odd_ways_is_not_left_out() {
    let headers = ["setjmp", "signal", "stdio", "stdlib", "string", "unistd"];
    let headers = headers
        .map(|name| format!("#include <{name}.h>\n"))
        .concat();
    let main = "int main(int argc, char **argv) { return argc < 2 ? 2 : run(argv[1]); }\n";
    for (name, text, edit) in ODD {
        let pair = Pair::edited(&format!("{headers}{text}\n{main}"), &[edit]);
        for strategy in ["shadow,cover,prune", "shadow,cover"] {
            let report = pair.diff(&format!("--strategy {strategy} --max-runs 300 -- {{aa:2}}"));
            assert_eq!(
                report.json["verdict"], "different",
                "{name}, {strategy}\n{report}"
            );
        }
    }
}

/// The name is at another address in each version, as the text of `usage` lies before it.
const NAMES: &str = r#"
#include <stdio.h>
static const char usage[] = "usage: day N";
static const char *const names[] = { "mon", "tue", "wed", "thu", "fri", "sat", "sun" };
int main(int argc, char **argv)
{
    int day;
    if (argc > 3)
        puts(usage);
    if (argc < 2 || argv[1][0] < '1' || argv[1][0] > '7')
        return 2;
    day = argv[1][0] - '1';
    const char *name = names[day];
    puts(name);
    day = day * 1000003 + argv[1][1] * 100003;
    return day % 100 == 0;
}
"#;

#[test]
fn an_address_that_differs_is_no_reason_to_look_for_faults() {
    let pair = Pair::edited(NAMES, &[("usage: day N", "usage: day N (1 to 7)")]);
    let report = pair.diff("--first --strategy shadow,cover --max-runs 12 -- {3x:2}");
    let used = report.json["strategies"].as_array().unwrap();
    let shadow = used.iter().find(|used| used["name"] == "shadow").unwrap();
    // On ways on which no change is executed the versions can be made to differ nowhere.
    assert_eq!(shadow["queries"], 0, "{report}");
}
