//! Runs inside one process do what fresh processes do, and leave nothing behind for the next.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::process::Command;
use std::time::Duration;

use beagle_lane::Process;
use beagle_trace::Input;
use support::{fresh, make_text, run};

/// Runs each input three times in changing order, in the same process and in forked ones, and compares
/// with a fresh process.
#[track_caller]
fn check(text: &str, inputs: &[Input]) {
    let made = make_text(text);
    let mut process = made.start();
    let expected: Vec<_> = inputs
        .iter()
        .map(|input| fresh(&made.lane.program, input).unwrap())
        .collect();
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    for fork in [false, false, true, false] {
        let chosen: Vec<_> = order.iter().map(|&at| inputs[at].clone()).collect();
        for (at, (outcome, written)) in order.iter().zip(run(&mut process, &chosen, fork)) {
            assert!(!outcome.refused(), "{} {:?}", outcome.reason, inputs[*at]);
            let (end, all) = &expected[*at];
            let text = String::from_utf8_lossy(&written.stdout);
            assert_eq!(outcome.end, *end, "{:?} {text}", inputs[*at]);
            assert_eq!(written, *all, "{:?}", inputs[*at]);
        }
        order.reverse();
    }
}

fn args<const N: usize>(args: [&str; N]) -> Input {
    Input::from_args(support::NAME, args)
}

#[test]
fn state_of_the_program_and_of_libc_is_put_back() {
    let text = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <locale.h>
#include <sys/stat.h>
static int calls; static char big[200000]; static int set = 7; _Thread_local int local = 3;
static void at_exit(void) { printf("bye %d\n", calls); }
int main(int argc, char **argv) {
    atexit(at_exit);
    calls++; set++; local++; big[150000]++;
    printf("%d %d %d %d %d\n", calls, set, local, big[150000], rand());
    srand(argc); putenv("X=1");
    int c; opterr = 0;
    while ((c = getopt(argc, argv, "ab:")) != -1) printf("%c %s\n", c, c == 'b' ? optarg : "");
    char *p = malloc(100000), *q = calloc(1, 300000);
    int sum = 0; for (int i = 0; i < 300000; i++) sum += q[i];
    memset(p, 1, 100000); memset(q, 1, 300000);
    printf("%d %s\n", sum, getenv("X"));
    char *w = argc > 2 ? strtok(argv[2], ",") : 0;
    if (w) printf("%s\n", w);
    setlocale(LC_ALL, ""); umask(0);
    if (argc > 3) { free(p); q = realloc(q, 3000000); printf("%d\n", q[299999]); }
    close(1);
    return argc;
}"#;
    check(
        text,
        &[
            args([]),
            args(["-a", "-b", "x"]),
            args(["-bz", "a,b"]),
            args(["-q", "p,q,r", "-"]),
        ],
    );
}

#[test]
fn ways_to_end() {
    let text = r#"
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int deep(int n) { char room[512]; memset(room, n, sizeof room); return n < 0 ? 0 : deep(n + 1) + room[n % 512]; }
int main(int argc, char **argv) {
    char c = argc > 1 ? argv[1][0] : 0;
    volatile int zero = 0; int *volatile nowhere = 0;
    printf("before %c", c ? c : '-');
    switch (c) {
    case 'a': abort();
    case 'A': assert(zero);
    case 'e': exit(300);
    case '_': _exit(7);
    case 's': *nowhere = 1;
    case 'd': return 1 / zero;
    case 'o': return deep(1);
    case 'k': raise(SIGTERM);
    case 'i': signal(SIGTERM, SIG_IGN); raise(SIGTERM); return 9;
    case 't': __builtin_trap();
    case 'f': free((void *)&zero);
    }
    fflush(stdout);
    return 0;
}"#;
    let words = ["", "a", "A", "e", "_", "s", "d", "o", "k", "i", "t", "f"];
    check(text, &words.map(|word| args([word])));
}

#[test]
fn streams_and_files() {
    let text = r#"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char line[100];
    while (fgets(line, sizeof line, stdin)) fprintf(stderr, "[%s]", line);
    FILE *f = fopen("a.txt", "r");
    if (!f) printf("%s\n", strerror(errno));
    else { fseek(f, -2, SEEK_END); printf("%d %ld\n", getc(f), ftell(f)); fclose(f); }
    f = fopen("./out.txt", "w"); fprintf(f, "%d", argc); fclose(f);
    f = fopen("out.txt", "a+"); fputs("more", f); rewind(f); fgets(line, 100, f); puts(line); fclose(f);
    struct stat s; printf("%d %ld\n", stat("out.txt", &s), (long)s.st_size);
    printf("%d %d\n", access("a.txt", R_OK), access("none", F_OK));
    printf("%d\n", rename("out.txt", "b.txt")); printf("%d\n", unlink("a.txt"));
    int fd = open("b.txt", O_RDONLY); char *m = mmap(0, 4, PROT_READ, MAP_PRIVATE, fd, 0); printf("%.4s\n", m);
    int d = dup(fd); lseek(d, 2, SEEK_SET); printf("%d\n", (int)read(fd, line, 100)); close(d); close(fd);
    printf("%d %d\n", isatty(0), open("no/where", O_RDONLY));
    printf("%d\n", (int)lseek(1, 0, SEEK_CUR));
    return 0;
}"#;
    check(
        text,
        &[
            args(["x"])
                .with_stdin("one\ntwo")
                .with_file("a.txt", "hello"),
            args([]).with_stdin(""),
            args(["", ""]).with_file("a.txt", "xyz"),
        ],
    );
}

#[test]
fn what_cannot_be_done_is_refused_and_leaves_nothing_behind() {
    let text = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    puts("x");
    if (argc > 1) return system(argv[1]);
    return 0;
}"#;
    let made = make_text(text);
    let mut process = made.start();
    let inputs = [args([]), args(["true"]), args([])];
    for fork in [false, true] {
        let all = run(&mut process, &inputs, fork);
        let refused: Vec<_> = all.iter().map(|(outcome, _)| outcome.refused()).collect();
        assert_eq!(refused, [false, true, false]);
        assert_eq!(all[0].0.seen(), all[2].0.seen());
        assert_eq!(all[0].1, all[2].1);
    }
}

#[test]
fn what_does_not_end_is_stopped() {
    let text = "int main(int c, char **v) { while (c > 1) ; return 3; }";
    let made = make_text(text);
    let mut process = made.start();
    let all = run(&mut process, &[args(["x"]), args([]), args(["y"])], false);
    let ends: Vec<_> = all.iter().map(|(it, _)| (it.timed_out(), it.end)).collect();
    assert_eq!(ends, [(true, 9), (false, 3 << 8), (true, 9)]);
}

/// As with Ctrl-Z and `fg`: the wait for the program is cut short then.
#[test]
fn beagle_may_be_stopped_and_go_on() {
    let made = make_text("int main(void) { for (;;) ; }");
    let mut setup = made.setup();
    setup.time = Duration::from_secs(1);
    let mut process = Process::start(setup).unwrap();
    let itself = std::process::id();
    let script = format!("sleep 0.3; kill -STOP {itself}; sleep 0.1; kill -CONT {itself}");
    let mut helper = Command::new("sh").args(["-c", &script]).spawn().unwrap();
    let all = run(&mut process, &[args([])], false);
    assert!(helper.wait().unwrap().success());
    assert!(all[0].0.timed_out());
}

#[test]
fn what_does_not_do_the_same_each_time_is_found_out() {
    let text = "#include <stdio.h>\nint main(void) { printf(\"%llu\", __builtin_ia32_rdtsc()); return 0; }";
    let steady = make_text("int main(void) { return 0; }");
    let random = make_text(text);
    let space = beagle_lane::Space::default();
    let tokens = beagle_lane::Tokens::default();
    let mut fuzzer = beagle_lane::Fuzzer::new(steady.start(), random.start(), space, tokens, 1);
    fuzzer.check(&[args([])]).unwrap();
    assert_eq!(fuzzer.status().unstable, [false, true]);
    assert_eq!(fuzzer.status().forked, [false, true]);
}

#[test]
fn inputs_from_elsewhere_do_not_keep_known_ones_from_being_varied() {
    let old = make_text("int main(int c, char **v) { return c < 2; }");
    let new = make_text("int main(int c, char **v) { return c < 2 || v[1][0] != 'a'; }");
    let space = beagle_lane::Space::default();
    let tokens = beagle_lane::Tokens::default();
    let mut fuzzer = beagle_lane::Fuzzer::new(old.start(), new.start(), space, tokens, 1);
    fuzzer.start_from(args(["a"]));
    for number in 0..20_000 {
        fuzzer.add(args([&format!("a{number}")]));
    }
    let mut differing = 0;
    for _ in 0..8 {
        fuzzer
            .step(&mut |news| differing += u32::from(news.differs))
            .unwrap();
    }
    assert!(differing > 0);
}

#[test]
fn what_is_executed_and_compared_is_known() {
    let text = r#"
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    if (argc < 2) return 0;
    if (strcmp(argv[1], "--secret") == 0) return 1;
    if (atoi(argv[1]) == 123456) return 2;
    return 3;
}"#;
    let made = make_text(text);
    let mut process = made.start();
    let mode = beagle_lane::Mode {
        compares: true,
        ..Default::default()
    };
    let inputs = support::batch(&[args([]), args(["7"]), args(["7"]), args(["123456"])]);
    let all = process.run(&inputs, mode).unwrap();
    let fresh: Vec<_> = all.iter().map(|outcome| outcome.fresh()).collect();
    assert_eq!(fresh, [true, true, false, true], "{all:?}");
    assert_eq!(all[1].whole, all[2].whole);
    assert_ne!(all[0].whole, all[1].whole);
    let compares = process.compares(&all).unwrap();
    let has = |is_text, a: &[u8], b: &[u8]| {
        let made = |it: &beagle_lane::Compared| it.is_text == is_text && it.sides == [a, b];
        compares[1].iter().any(made)
    };
    assert!(has(true, b"7", b"--secret"), "{compares:?}");
    let number = |it: u32| it.to_le_bytes();
    assert!(has(false, &number(7), &number(123_456)), "{compares:?}");
}

#[test]
fn what_was_seen_can_be_new_again() {
    let made = make_text("int main(int c, char **v) { return c < 2; }");
    let mut process = made.start();
    let inputs = support::batch(&[args([]), args(["7"])]);
    let modes = [(false, false), (false, false), (true, false), (true, false)];
    let modes = modes.into_iter().chain([(false, true), (true, false)]);
    let fresh = modes.map(|(other, forget)| {
        let mode = beagle_lane::Mode {
            other,
            forget,
            ..Default::default()
        };
        let all = process.run(&inputs, mode).unwrap();
        all[0].fresh()
    });
    let fresh: Vec<bool> = fresh.collect();
    assert_eq!(fresh, [true, false, true, false, true, false]);
}

#[test]
fn random_runs_of_a_subject_do_what_fresh_processes_do() {
    let subjects = beagle_subjects::subjects(&beagle_subjects::root()).unwrap();
    let subject = subjects.iter().find(|it| it.name == "ini").unwrap();
    let made = support::make_version(&subject.base);
    let mut process = made.start();
    let examples = support::examples(subject);
    let (space, tokens) = (
        beagle_lane::Space::default(),
        beagle_lane::Tokens::default(),
    );
    let mutator = beagle_lane::Mutator {
        space: &space,
        tokens: &tokens,
        parts: &beagle_lane::Parts::default(),
    };
    let mut chance = beagle_lane::Chance::new(1);
    let vary = |chance: &mut beagle_lane::Chance| {
        let base = chance.pick(&examples).unwrap().clone();
        mutator.vary(&base, &examples[0], chance)
    };
    let inputs: Vec<_> = (0..100).filter_map(|_| vary(&mut chance)).collect();
    let mut compared = 0;
    for (input, (outcome, written)) in inputs.iter().zip(run(&mut process, &inputs, false)) {
        if !outcome.refused() && !outcome.timed_out() {
            let expected = fresh(&made.lane.program, input).unwrap();
            assert_eq!((outcome.end, written), expected, "{input:?}");
            compared += 1;
        }
    }
    assert!(compared > 80, "{compared}");
}
