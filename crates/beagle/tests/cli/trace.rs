//! `beagle trace`, as a user sees it.

use insta::assert_snapshot;

use crate::support::Scratch;

const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int value(const char *text)
{
    int n = (text[0] - '0') * 10 + (text[1] - '0');
    if (n > 60)
        return -1;
    return n;
}
int main(int argc, char **argv)
{
    int verbose = 0, option, n;
    while ((option = getopt(argc, argv, "v")) != -1)
        switch (option) {
        case 'v':
            verbose++;
            break;
        default:
            return 2;
        }
    if (optind >= argc)
        return 2;
    if (strcmp(argv[optind], "help") == 0)
        return 0;
    n = value(argv[optind]);
    if (verbose)
        printf("minutes: %d\n", n);
    return n < 0;
}
"#;

/// Times differ from run to run.
fn without_times(text: &str) -> String {
    let line = text.lines().map(|line| match line.trim_start() {
        time if time.starts_with("\"milliseconds\"") => "    \"milliseconds\": …",
        _ => line,
    });
    line.collect::<Vec<_>>().join("\n")
}

#[test]
fn shows_the_decisions_that_depend_on_the_input() {
    let scratch = Scratch::with(&[("minutes.c", PROGRAM)]);
    let ran = scratch
        .beagle("trace minutes.c -q --check -- -v 42")
        .exits(0);
    assert_snapshot!(ran.stdout);
}

#[test]
fn branches_without_a_condition_over_the_input_say_where_they_go_on() {
    let program = "int main(void) {\n\
        int zero = 0;\n\
        if (!zero)\n\
        return 0;\n\
        return 1;\n\
        }\n";
    let scratch = Scratch::with(&[("not.c", program)]);
    let ran = scratch.beagle("trace not.c -q --all").exits(0);
    assert!(ran.stdout.contains("goes on at line 4"), "{ran}");
    assert!(!ran.stdout.contains("  no "), "{ran}");
}

#[test]
fn says_the_same_to_machines() {
    let scratch = Scratch::with(&[("minutes.c", PROGRAM)]);
    let ran = scratch
        .beagle("trace minutes.c -q --check --format json -- 77")
        .exits(0);
    assert_eq!(ran.json()["schema"], "beagle.trace/1");
    assert_eq!(ran.json()["check"]["ok"], true);
    assert_eq!(ran.json()["outcome"], "exit status 1");
    assert_snapshot!(without_times(&ran.stdout));
}

#[test]
fn files_standard_input_and_environment_are_input() {
    let program = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    FILE *f = fopen(argv[1], "r");
    const char *mode = getenv("MODE");
    if (!f || !mode) return 2;
    if (fgetc(f) == 'x' && getchar() == 'y' && mode[0] == 'z') puts("all");
    return argc > 9;
}
"#;
    let scratch = Scratch::with(&[("p.c", program), ("data.txt", "x"), ("in", "y")]);
    let line = "trace p.c -q --check --stdin in --env MODE=z -- data.txt";
    let ran = scratch.beagle(line).exits(0);
    for part in ["data.txt[0]", "stdin[0]", "$MODE[0] == 'z'", "\"all\\n\""] {
        assert!(ran.stdout.contains(part), "{part} is in\n{}", ran.stdout);
    }
}

#[test]
fn a_crash_is_shown_and_no_failure_of_ours() {
    let program = "#include <stdlib.h>\nint main(int c, char **v) { if (v[1][0] == 'a') abort(); return c; }\n";
    let scratch = Scratch::with(&[("p.c", program)]);
    let ran = scratch.beagle("trace p.c -q --check -- abc").exits(0);
    assert!(ran.stdout.contains("SIGABRT"), "{}", ran.stdout);
    assert!(ran.stdout.contains("arg1[0] == 'a'"), "{}", ran.stdout);
}

#[test]
fn an_endless_loop_is_stopped() {
    let program =
        "int main(int c, char **v) { volatile int n = 0; while (v[0][0] || c) n++; return n; }\n";
    let scratch = Scratch::with(&[("p.c", program)]);
    let ran = scratch.beagle("trace p.c -q --time 1 --limit 3").exits(0);
    assert!(ran.stdout.starts_with("time-out: "), "{}", ran.stdout);
}

#[test]
fn bad_input_names_the_cause_and_the_way_out() {
    let scratch = Scratch::with(&[("p.c", "int main(void) { return 0; }\n")]);
    for (line, cause) in [
        ("trace p.c --stdin missing", "missing"),
        ("trace p.c --env NAME", "--env NAME"),
        ("trace p.c --file ../p.c", "--file ../p.c"),
        ("trace q.c", "q.c"),
    ] {
        let ran = scratch.beagle(line).fails(2);
        assert!(ran.stderr.contains(cause), "{}", ran.stderr);
    }
}

#[test]
fn a_program_is_instrumented_once() {
    let scratch = Scratch::with(&[("minutes.c", PROGRAM)]);
    let call = "trace minutes.c -q --format json -- -v 42";
    let first = scratch.beagle(call).exits(0);
    // With the names of the models that are in it.
    assert!(first.stdout.contains("getopt"), "{first}");
    let made = || -> Vec<_> {
        let entries = std::fs::read_dir(scratch.cache().join("traced")).unwrap();
        let entries = entries.map(|entry| entry.unwrap());
        entries
            .map(|entry| {
                (
                    entry.file_name(),
                    entry.metadata().unwrap().modified().unwrap(),
                )
            })
            .collect()
    };
    let before = made();
    assert_eq!(before.len(), 1);
    let second = scratch.beagle(call).exits(0);
    assert_eq!(without_times(&first.stdout), without_times(&second.stdout));
    assert_eq!(made(), before);
}
