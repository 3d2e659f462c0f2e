//! What differs between two programs, and how it is called.

use std::time::Duration;

use beagle_trace::Input;
use beagle_verdict::{
    Class, Effect, End, Entry, Judge, Setting, Severity, Standing, Verdict, Which,
};

use crate::support::{compile, no_args, pair, pair_with, sanitized_pair, setting, stdout, version};

const HELLO: &str = r#"#include <stdio.h>
int main(void) { puts("hello"); return 0; }"#;

#[test]
fn equal_programs_are_the_same() {
    let mut pair = pair(HELLO, HELLO);
    let seen = pair.same(&no_args());
    assert_eq!(seen.end, End::Exit(0));
    assert_eq!(stdout(&seen), "hello\n");
    assert!(seen.stderr.bytes.is_empty() && seen.files.is_empty());
    assert!(!pair.quick(&no_args()).differs());
}

#[test]
fn the_input_reaches_the_program() {
    let source = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    for (int i = 0; i < argc; i++) printf("[%s]", argv[i]);
    printf(" %s", getenv("COLOUR"));
    int c; while ((c = getchar()) != EOF) printf(" %02x", c);
    FILE *f = fopen("dir/data", "r"); printf(" %c\n", getc(f));
}"#;
    let input = Input::from_args("name", [b"a b".to_vec(), b"\xff".to_vec(), Vec::new()])
        .with_env("COLOUR", "red")
        .with_stdin(*b"\0x")
        .with_file("dir/data", "F");
    let seen = pair(source, source).same(&input);
    assert_eq!(seen.stdout.bytes, b"[name][a b][\xff][] red 00 78 F\n");
}

#[test]
fn output_messages_and_exit_status_are_told_apart() {
    let source = |out: &str, err: &str, status: i32| {
        format!(
            "#include <stdio.h>\nint main(void) {{ fputs(\"{out}\", stdout); fputs(\"{err}\", stderr); return {status}; }}"
        )
    };
    let judged = |out, err, status| {
        let difference =
            pair(&source("a", "b", 0), &source(out, err, status)).difference(&no_args());
        (
            difference.class,
            difference.aspects.to_string(),
            difference.severity(),
            difference.signature,
        )
    };
    let (class, aspects, severity, signature) = judged("x", "b", 0);
    assert_eq!(
        (class, &aspects[..], severity),
        (Class::Output, "stdout", Severity::Output)
    );
    assert_eq!(signature, "output/stdout/exit 0>exit 0");
    let (class, aspects, severity, _) = judged("a", "x", 0);
    assert_eq!(
        (class, &aspects[..], severity),
        (Class::Message, "stderr", Severity::Message)
    );
    let (class, aspects, severity, signature) = judged("a", "x", 1);
    assert_eq!(
        (class, &aspects[..], severity),
        (Class::Output, "exit, stderr", Severity::Status)
    );
    assert_eq!(signature, "output/exit+stderr/exit 0>exit 1");
}

#[test]
fn a_crash_is_a_regression_in_new_and_a_fix_in_old() {
    let crash = "#include <stdlib.h>\nint main(void) { abort(); }";
    let regression = pair(HELLO, crash).difference(&no_args());
    assert_eq!(regression.class, Class::Crash);
    assert_eq!(regression.new.end, End::Signal(6));
    assert_eq!(regression.severity(), Severity::Crash);
    let place = sanitized_pair(HELLO, crash).difference(&no_args());
    assert_eq!(place.new.fault.unwrap().key(), "ABRT@main");
    let fix = pair(crash, HELLO).difference(&no_args());
    assert_eq!((fix.class, fix.severity()), (Class::Fix, Severity::Better));
}

const HANG: &str = "int main(void) { volatile int x = 1; while (x); }";

fn impatient() -> Setting {
    let mut setting = setting();
    setting.limits.time = Duration::from_millis(300);
    setting
}

#[test]
fn a_hang_in_one_version_is_a_difference() {
    let hang = pair_with(HELLO, HANG, impatient()).difference(&no_args());
    assert_eq!((hang.class, hang.new.end), (Class::Hang, End::TimedOut));
    let fix = pair_with(HANG, HELLO, impatient()).difference(&no_args());
    assert_eq!(fix.class, Class::HangFix);
    pair_with(HANG, HANG, impatient()).same(&no_args());
}

#[test]
fn two_that_print_for_ever_are_the_same() {
    let source = r#"#include <stdio.h>
int main(void) { for (;;) puts("again"); }"#;
    let seen = pair_with(source, source, impatient()).same(&no_args());
    assert_eq!(seen.end, End::TimedOut);
    assert!(seen.stdout.truncated());
}

const OVERFLOW: &str = r#"#include <stdio.h>
#include <string.h>
__attribute__((noinline)) void fill(char *to, int n) { memset(to, 'x', n); }
int main(int argc, char **argv) {
    char line[8]; fill(line, LENGTH);
    int big = 2147483647; volatile int one = ONE;
    return (big - 1 + one) == 5;
}"#;

fn overflow(length: &str, one: &str) -> String {
    OVERFLOW.replace("LENGTH", length).replace("ONE", one)
}

#[test]
fn a_sanitizer_error_is_a_difference_though_the_output_is_equal() {
    let good = overflow("8", "1");
    let mut pair_ = sanitized_pair(&good, &overflow("9", "1"));
    assert!(!pair_.quick(&no_args()).differs());
    let found = pair_.difference(&no_args());
    assert_eq!(found.class, Class::Crash);
    assert_eq!(found.aspects.to_string(), "sanitizer");
    let fault = found.new.fault.clone().unwrap();
    assert_eq!(fault.kind, "stack-buffer-overflow");
    assert_eq!(fault.function.as_deref(), Some("fill"), "{}", fault.text);
    assert!(pair_.judge.still_shows(&no_args(), &found).unwrap());

    let found = sanitized_pair(&good, &overflow("8", "2")).difference(&no_args());
    let fault = found.new.fault.unwrap();
    assert_eq!(fault.kind, "signed-integer-overflow");
    assert!(fault.place.unwrap().ends_with("new.san.c:7"));

    let found = sanitized_pair(&overflow("9", "1"), &good).difference(&no_args());
    assert_eq!(found.class, Class::Fix);
}

#[test]
fn a_sanitizer_error_that_both_have_is_none_even_on_other_lines() {
    let moved = format!("\n\n{}", overflow("10", "1"));
    let seen = sanitized_pair(&overflow("9", "1"), &moved).same(&no_args());
    assert_eq!(seen.fault.unwrap().kind, "stack-buffer-overflow");
    // Different errors are a difference, but neither a crash nor a fix.
    let found = sanitized_pair(&overflow("9", "1"), &overflow("8", "2")).difference(&no_args());
    assert_eq!(found.class, Class::Output);
}

#[test]
fn leaks_and_an_exit_status_like_the_sanitizers_are_no_errors() {
    let leak = "#include <stdlib.h>\nint main(void) { volatile char *p = malloc(9); p[1] = 2; p = 0; return 99; }";
    let seen = sanitized_pair(leak, leak).same(&no_args());
    assert_eq!((seen.end, seen.fault), (End::Exit(99), None));
}

#[test]
fn a_program_that_behaves_randomly_is_unstable() {
    let random = r#"#include <stdio.h>
#include <sys/random.h>
int main(void) { unsigned n; getrandom(&n, sizeof n, 0); printf("%u\n", n); }"#;
    match pair(HELLO, random).judge.judge(&no_args()).unwrap() {
        Verdict::Unstable {
            version, aspects, ..
        } => {
            assert_eq!(
                (version, aspects.to_string()),
                (Which::New, "stdout".to_owned())
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn addresses_numbers_of_processes_times_and_paths_do_not_count() {
    let source = r#"#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <limits.h>
int main(void) {
    int local; char exe[PATH_MAX]; exe[readlink("/proc/self/exe", exe, PATH_MAX - 1)] = 0;
    time_t now = time(NULL);
    printf("%p %p %d %ld %s %s\n", &local, main, getpid(), (long)now, exe, ctime(&now));
    printf("%s\n", getcwd(NULL, 0));
    EXTRA
}"#;
    let mut alike = pair(
        &source.replace("EXTRA", ""),
        &source.replace("EXTRA", "return 0;"),
    );
    alike.same(&no_args());
    let mut other = pair(
        &source.replace("EXTRA", ""),
        &source.replace("EXTRA", "puts(\"7\");"),
    );
    assert_eq!(other.difference(&no_args()).class, Class::Output);
}

#[test]
fn what_the_user_wants_to_ignore_does_not_count() {
    let source =
        |version| format!("#include <stdio.h>\nint main(void) {{ puts(\"tool {version}\"); }}");
    let mut setting = setting();
    setting.normalise.replace(r"tool \d\.\d", "tool V").unwrap();
    pair_with(&source("1.0"), &source("1.1"), setting).same(&no_args());
}

#[test]
fn what_a_program_does_to_its_files_is_seen() {
    let dir = tempfile::TempDir::new().unwrap();
    std::fs::create_dir(dir.path().join("sub")).unwrap();
    std::fs::write(dir.path().join("sub/kept"), "kept").unwrap();
    std::fs::write(dir.path().join("changed"), "before").unwrap();
    std::fs::write(dir.path().join("deleted"), "").unwrap();
    std::os::unix::fs::symlink("sub/kept", dir.path().join("link")).unwrap();
    let source = r#"#include <stdio.h>
#include <unistd.h>
#include <sys/stat.h>
int main(void) {
    FILE *f = fopen("changed", "w"); fputs("after", f); fclose(f);
    f = fopen("made", "w"); fputs(TEXT, f); fclose(f); chmod("made", 0600);
    unlink("deleted"); mkdir("empty", 0700); symlink("nowhere", "dangling");
    char b[8] = {0}; f = fopen("link", "r"); fread(b, 1, 4, f); puts(b);
    f = fopen("input", "r"); fread(b, 1, 4, f); puts(b);
}"#;
    let mut setting = setting();
    setting.fixture = Some(dir.path().to_owned());
    let (old, new) = (
        source.replace("TEXT", "\"1\""),
        source.replace("TEXT", "\"2\""),
    );
    let mut pair = pair_with(&old, &new, setting);
    let input = no_args().with_file("input", "data");
    let found = pair.difference(&input);
    assert_eq!(found.aspects.to_string(), "files");
    assert_eq!(stdout(&found.old), "kept\ndata\n");
    let names: Vec<_> = found
        .old
        .files
        .iter()
        .map(|change| {
            let effect = match &change.effect {
                Effect::Created(_) => "+",
                Effect::Changed(_) => "~",
                Effect::Deleted => "-",
            };
            format!("{effect}{}", change.path.escape_ascii())
        })
        .collect();
    assert_eq!(
        names,
        ["~changed", "+dangling", "-deleted", "+empty", "+made"]
    );
    assert_eq!(
        found.old.files[1].effect,
        Effect::Created(Entry::Link {
            target: b"nowhere".to_vec()
        })
    );
    assert_eq!(
        found.new.files[4].effect,
        Effect::Created(Entry::File {
            mode: 0o600,
            content: b"2".to_vec().into()
        })
    );
    // The fixture itself is as it was.
    assert_eq!(
        std::fs::read(dir.path().join("changed")).unwrap(),
        b"before"
    );
}

#[test]
fn the_golden_version_tells_regressions_from_progress() {
    let dir = tempfile::TempDir::new().unwrap();
    let program = |name: &str| {
        let source = format!("#include <stdio.h>\nint main(void) {{ puts(\"{name}\"); }}");
        version(name, &compile(dir.path(), name, &source, &[]))
    };
    let (a, b, c) = (program("a"), program("b"), program("c"));
    let standing = |old: &_, new: &_, golden: &_| {
        let (old, new, golden): (_, _, _) =
            (Clone::clone(old), Clone::clone(new), Clone::clone(golden));
        let mut judge = Judge::new(old, new, Some(golden), setting()).unwrap();
        match judge.judge(&no_args()).unwrap() {
            Verdict::Different(found) => {
                assert!(judge.still_shows(&no_args(), &found).unwrap());
                found.standing.unwrap()
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(standing(&a, &b, &a), Standing::Regression);
    assert_eq!(standing(&a, &b, &b), Standing::Progression);
    assert_eq!(standing(&a, &b, &c), Standing::IncompleteFix);
}

#[test]
fn another_difference_is_not_the_same_one() {
    let old = r#"#include <stdio.h>
int main(int argc, char **argv) { puts("x"); return 0; }"#;
    let new = r#"#include <stdio.h>
int main(int argc, char **argv) {
    if (argv[1][0] == 'a') { puts("y"); return 0; }
    if (argv[1][0] == 'b') return 3;
    puts("x"); return 0;
}"#;
    let mut pair = pair(old, new);
    let input = |word| Input::from_args("prog", [word]);
    let found = pair.difference(&input("a"));
    assert!(pair.judge.still_shows(&input("abc"), &found).unwrap());
    assert!(!pair.judge.still_shows(&input("b"), &found).unwrap());
    assert!(!pair.judge.still_shows(&input("c"), &found).unwrap());
}

#[test]
fn judges_can_go_to_another_thread() {
    let mut pair = pair(HELLO, HELLO);
    std::thread::spawn(move || pair.same(&no_args()))
        .join()
        .unwrap();
}

#[test]
fn another_program_is_observed_and_held_against_the_two() {
    let source = |text: &str| format!("#include <stdio.h>\nint main(void) {{ puts(\"{text}\"); }}");
    let mut pair = pair(&source("old"), &source("new"));
    let difference = pair.difference(&no_args());
    for (text, like_old, like_new) in [
        ("old", true, false),
        ("new", false, true),
        ("other", false, false),
    ] {
        let program = compile(pair.dir.path(), "third", &source(text), &[]);
        let seen = pair.judge.observe(&version("third", &program), &no_args());
        let seen = seen.unwrap().unwrap();
        let same = |run| !pair.judge.compare(run, &seen).any();
        assert_eq!(same(&difference.old), like_old, "{text}");
        assert_eq!(same(&difference.new), like_new, "{text}");
    }
    let random = "#include <stdio.h>\n#include <sys/random.h>\n\
        int main(void) { unsigned x[9]; getrandom(x, sizeof x, 0); \
        for (int i = 0; i < 9; i++) printf(\"%u\\n\", x[i] % 90); }";
    let program = compile(pair.dir.path(), "random", random, &[]);
    let seen = pair.judge.observe(&version("random", &program), &no_args());
    assert!(seen.unwrap().is_none());
}
