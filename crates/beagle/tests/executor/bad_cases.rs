//! Programs that misbehave: the trace up to there is kept, and the server lives.

use std::time::Duration;

use beagle_executor::Outcome;
use beagle_trace::{Event, Limits, Stop};

use crate::support::{Traced, args};

/// Enough for a loaded machine; programs that do not end get less.
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(1500);

fn limits(time: Duration) -> Limits {
    Limits {
        time,
        memory_mib: 256,
        ..Limits::default()
    }
}

/// A program that does `body` after a branch on its first argument, and behaves if that is `ok`.
fn misbehaving(body: &str) -> Traced {
    Traced::source(&format!(
        r#"
        #include <pthread.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static volatile int sink;
        static int deep(int n) {{ char b[512]; b[n % 512] = (char)n; sink = b[n % 512]; return deep(n + 1) + b[0]; }}
        static void *other(void *p) {{ sink = ((char *)p)[0]; return p; }}
        int main(int argc, char **argv) {{
            (void)deep; (void)other;
            if (argc > 1 && argv[1][0] == 'x') {{
                {body}
            }}
            puts("fine");
            return 0;
        }}"#
    ))
}

/// Runs it misbehaving, looks at the trace, then checks that the next run is fine.
fn outcome_of(body: &str) -> (Outcome, Option<Stop>) {
    outcome_within(LONG, body)
}

fn outcome_within(time: Duration, body: &str) -> (Outcome, Option<Stop>) {
    let mut traced = misbehaving(body);
    let (done, recording, report) = traced.run(&args(&["x"]), &limits(time));
    assert!(report.is_ok(), "{report}");
    let trace = recording.trace().expect("well-formed");
    let decided = trace.events().any(|e| {
        matches!(
            e,
            Event::Branch {
                taken: true,
                node: Some(_),
                ..
            }
        )
    });
    assert!(decided, "the branch before is in the trace");
    let stop = trace.stop();
    traced.agree(&args(&["y"]));
    (done.outcome, stop)
}

#[test]
fn endless_loop() {
    let (outcome, _) = outcome_within(SHORT, "for (;;) sink++;");
    assert_eq!(outcome, Outcome::TimedOut);
}

#[test]
fn endless_loop_with_branches_fills_the_log_and_goes_on() {
    let mut traced =
        misbehaving("for (unsigned i = 0; i < 30000000; i++) if (sink == (int)i) sink++;");
    let limits = Limits {
        events: 100_000,
        ..Limits::default()
    };
    let (done, recording, report) = traced.run(&args(&["x"]), &limits);
    assert!(report.is_ok(), "{report}");
    assert_eq!(
        (done.outcome, &done.stdout[..]),
        (Outcome::Exit(0), &b"fine\n"[..])
    );
    let trace = recording.trace().expect("well-formed");
    assert_eq!(trace.stop(), Some(Stop::Events));
    assert!(trace.words().len() <= 100_000);
}

/// Events of two words do not step over the end of the log, wherever in it they start.
#[test]
fn switches_fill_the_log() {
    // Five words each time round, which divides the size of no log used here.
    let body = "for (unsigned i = 0; i < 200000; i++) { \
         switch (i & 3) { case 0: sink++; break; case 1: sink--; break; default: sink += 2; } \
         switch (i & 7) { case 2: sink++; break; case 3: sink--; break; default: sink += 3; } }";
    let mut traced = misbehaving(body);
    for events in 1000..1005 {
        let limits = Limits {
            events,
            ..Limits::default()
        };
        let (done, recording, report) = traced.run(&args(&["x"]), &limits);
        assert!(report.is_ok(), "{report}");
        assert_eq!(done.outcome, Outcome::Exit(0));
        let trace = recording.trace().expect("well-formed");
        assert_eq!(trace.stop(), Some(Stop::Events));
        assert!(trace.words().len() <= events as usize);
    }
}

#[test]
fn too_many_nodes_end_recording_not_the_program() {
    let mut traced = misbehaving(
        "unsigned h = (unsigned)argv[1][0]; for (int i = 0; i < 100000; i++) h = h * 31 + (unsigned)i; printf(\"%u\\n\", h);",
    );
    let limits = Limits {
        nodes: 10_000,
        ..Limits::default()
    };
    let (done, recording, report) = traced.run(&args(&["x"]), &limits);
    assert!(report.is_ok(), "{report}");
    assert_eq!(done.outcome, Outcome::Exit(0));
    let trace = recording.trace().expect("well-formed");
    assert_eq!(trace.stop(), Some(Stop::Nodes));
    assert!(trace.nodes().len() <= 10_000);
}

#[test]
fn stack_overflow() {
    assert_eq!(outcome_of("return deep(1);").0, Outcome::Signal(11));
}

#[test]
fn out_of_memory() {
    let body = "for (size_t n = 0;; n += 1 << 20) { char *p = malloc(1 << 20); if (!p) { puts(\"no memory\"); return 7; } memset(p, 1, 1 << 20); }";
    assert_eq!(outcome_of(body).0, Outcome::Exit(7));
}

#[test]
fn abort_and_crash() {
    assert_eq!(outcome_of("abort();").0, Outcome::Signal(6));
    assert_eq!(outcome_of("*(volatile int *)8 = 1;").0, Outcome::Signal(11));
    assert_eq!(outcome_of("sink = 1 / sink;").0, Outcome::Signal(8));
}

#[test]
fn closed_standard_streams() {
    let body = "fclose(stdout); close(2); close(0); return 3;";
    assert_eq!(outcome_of(body).0, Outcome::Exit(3));
}

#[test]
fn much_output() {
    let mut traced = misbehaving(
        "static char line[1000]; memset(line, argv[1][0], 999); for (int i = 0; i < 100000; i++) puts(line);",
    );
    let limits = Limits {
        time: Duration::from_secs(60),
        ..Limits::default()
    };
    let (done, recording, report) = traced.run(&args(&["x"]), &limits);
    assert!(report.is_ok(), "{report}");
    assert_eq!(done.outcome, Outcome::Exit(0));
    assert_eq!(done.stdout.len(), 100_000_005);
    let trace = recording.trace().expect("well-formed");
    assert!(trace.output_lost() > 0 || trace.stop().is_some());
    traced.agree(&args(&["y"]));
}

#[test]
fn another_program() {
    let (outcome, stop) = outcome_of("execlp(\"true\", \"true\", (char *)0); return 9;");
    assert_eq!((outcome, stop), (Outcome::Exit(0), Some(Stop::Exec)));
}

#[test]
fn threads() {
    let mut traced = misbehaving(
        "pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, other, argv[1]); for (int i = 0; i < 4; i++) pthread_join(t[i], 0);",
    );
    let (recording, _) = traced.agree(&args(&["x"]));
    let trace = recording.trace().expect("well-formed");
    assert!(!trace.losses().is_empty(), "what threads do is counted");
}

#[test]
fn child_processes_and_fork_bombs() {
    let mut traced = misbehaving(
        "pid_t p = fork(); if (p == 0) { puts(\"child\"); exit(4); } int s; waitpid(p, &s, 0); return WEXITSTATUS(s);",
    );
    let (done, _, report) = traced.run(&args(&["x"]), &limits(LONG));
    assert!(report.is_ok(), "{report}");
    assert_eq!(
        (done.outcome, &done.stdout[..]),
        (Outcome::Exit(4), &b"child\n"[..])
    );
    assert_eq!(
        outcome_within(SHORT, "for (;;) fork();").0,
        Outcome::TimedOut
    );
}

#[test]
fn signals_do_not_disturb_calls() {
    let mut traced = Traced::source(
        r#"
        #include <signal.h>
        #include <stdio.h>
        #include <sys/time.h>
        static volatile int ticks, sum;
        static int add(int a, int b) { return a + b; }
        static void tick(int s) { (void)s; ticks++; sum = add(sum, add(1, 2)); }
        int main(int argc, char **argv) {
            struct itimerval t = {{0, 200}, {0, 200}};
            int x = argc > 1 ? argv[1][0] : 0, y = 0;
            signal(SIGALRM, tick);
            setitimer(ITIMER_REAL, &t, 0);
            for (int i = 0; i < 3000000; i++) { y = add(x, i); if (add(y, -i) != x) return 1; }
            printf("%d\n", y);
            return 0;
        }"#,
    );
    let (recording, report) = traced.agree(&args(&["7"]));
    assert!(report.conditions > 0);
    drop(recording);
}
