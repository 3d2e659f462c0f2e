//! However a loop is left or interrupted, each of its rounds is in the trace once.

use std::collections::BTreeMap;

use beagle_executor::Outcome;
use beagle_trace::event::{DECIDING, MOST_DECIDING};
use beagle_trace::{Event, Limits, Recording, Stop};

use crate::support::{Traced, args};

const START: &str = r#"
    #include <setjmp.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/time.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static volatile int sink, ticks;
    static int *volatile nowhere;
    static sigjmp_buf jump;
"#;

fn traced(text: &str) -> Traced {
    Traced::source(&format!("{START}{text}"))
}

/// How often the branch was recorded that was recorded most often.
fn most(recording: &Recording) -> usize {
    let trace = recording.trace().expect("well-formed");
    let mut counts = BTreeMap::new();
    for event in trace.events() {
        if let Event::Branch { site, .. } = event {
            *counts.entry(site).or_insert(0) += 1;
        }
    }
    counts.into_values().max().unwrap_or(0)
}

#[test]
fn a_crash_in_a_loop_leaves_the_trace_up_to_it() {
    let mut traced = traced("int main(void) { for (int i = 0;; i++) if (i == 700) *nowhere = i; }");
    let (done, recording, report) = traced.run(&args(&[]), &Limits::default());
    assert!(report.is_ok(), "{report}");
    assert_eq!(done.outcome, Outcome::Signal(11));
    assert_eq!(most(&recording), 701);
}

#[test]
fn jumps_out_of_loops() {
    let mut traced = traced(
        r#"
        static void leave(int i) { if (i == 9) siglongjmp(jump, 1); }
        int main(int argc, char **argv) {
            volatile int round = 0;
            int x = argc > 1 ? argv[1][0] : 0;
            if (sigsetjmp(jump, 0) != 0) round++;
            if (round < 20) for (int i = 0;; i++) leave(i + x - x);
            printf("%d\n", round);
            return 0;
        }"#,
    );
    let (recording, _) = traced.agree(&args(&["7"]));
    assert_eq!(most(&recording), 200);
}

#[test]
fn a_handler_jumps_out_of_a_loop() {
    let mut traced = traced(
        r#"
        static void caught(int s) { if (s == SIGSEGV) siglongjmp(jump, 1); }
        int main(void) {
            volatile int round = 0;
            signal(SIGSEGV, caught);
            if (sigsetjmp(jump, 1) != 0) round++;
            if (round < 20) for (int i = 0;; i++) if (i == 99) *nowhere = i;
            printf("%d\n", round);
            return 0;
        }"#,
    );
    let (recording, _) = traced.agree(&args(&[]));
    assert_eq!(most(&recording), 2000);
}

#[test]
fn handlers_interrupt_loops() {
    let mut traced = traced(
        r#"
        static int step(int i) { return i % 3 == 0 ? i + 1 : i; }
        static void tick(int s) {
            for (int i = 0; i < s; i++) sink = step(sink);
            ticks++;
        }
        int main(void) {
            struct itimerval t = {{0, 300}, {0, 300}}, none = {{0, 0}, {0, 0}};
            unsigned h = 1;
            signal(SIGALRM, tick);
            setitimer(ITIMER_REAL, &t, 0);
            for (int i = 0; i < 2000000; i++) if (h & 1) h = h >> 1 ^ 0xedb88320u; else h >>= 1;
            setitimer(ITIMER_REAL, &none, 0);
            printf("%08x %d\n", h, ticks > 0);
            return 0;
        }"#,
    );
    let (recording, _) = traced.agree(&args(&[]));
    assert_eq!(most(&recording), 2_000_001);
}

/// The child comes back from the handler into the loop, and must not write into its parent's trace.
#[test]
fn a_handler_forks_inside_a_loop() {
    let mut traced = traced(
        r#"
        static volatile int child = -1;
        static void tick(int s) { if (child == -1 && s) child = fork(); ticks++; }
        int main(void) {
            struct itimerval t = {{0, 300}, {0, 300}};
            int rounds = 0, status = 0;
            signal(SIGALRM, tick);
            setitimer(ITIMER_REAL, &t, 0);
            // Timers are not the child's.
            while (ticks < 3 && rounds < 20000000) if (++rounds == sink) rounds = 0;
            if (child == 0) _exit(7);
            while (waitpid(child, &status, 0) < 0) {}
            printf("%d\n", WEXITSTATUS(status));
            return 0;
        }"#,
    );
    let (recording, _) = traced.agree(&args(&[]));
    let trace = recording.trace().expect("well-formed");
    assert_eq!(trace.stop(), None);
}

#[test]
fn the_log_is_full_inside_nested_loops_and_calls() {
    let mut traced = traced(
        r#"
        static int inner(int n) { int s = 0; for (int i = 0; i < n; i++) s += i & 1 ? i : -i; return s; }
        static int outer(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= inner(i & 31) + i; return s; }
        int main(void) {
            int s = 0;
            for (int i = 0; i < 100; i++) { s += outer(i); if (s & 1) s += inner(3); }
            printf("%d\n", s);
            return 0;
        }"#,
    );
    let (whole, _) = traced.agree(&args(&[]));
    let whole = whole.trace().expect("well-formed");
    for events in 900..950 {
        let limits = Limits {
            events,
            ..Limits::default()
        };
        let (done, recording, report) = traced.run(&args(&[]), &limits);
        assert!(report.is_ok(), "{report}");
        assert_eq!(done.outcome, Outcome::Exit(0));
        let trace = recording.trace().expect("well-formed");
        assert_eq!(trace.stop(), Some(Stop::Events));
        let words = trace.words();
        assert!(words.len() + 65 >= events as usize && words.len() <= events as usize);
        assert_eq!(words, &whole.words()[..words.len()]);
    }
}

#[test]
fn recording_ends_inside_a_loop() {
    let mut traced = traced(
        r#"
        int main(int argc, char **argv) {
            unsigned char k = argc > 1 ? (unsigned char)argv[1][0] : 0;
            unsigned long h = 0;
            for (unsigned i = 0; i < 5000000; i++) {
                if (i % 3 == 0) h += i;
                if (i < 20000) sink = -(int)(k * i);
            }
            printf("%lu %d\n", h, sink);
            return 0;
        }"#,
    );
    let limits = Limits {
        nodes: 3000,
        events: 100_000,
        ..Limits::default()
    };
    let (done, recording, report) = traced.run(&args(&["x"]), &limits);
    assert!(report.is_ok(), "{report}");
    assert_eq!(done.outcome, Outcome::Exit(0));
    let trace = recording.trace().expect("well-formed");
    assert_eq!(trace.stop(), Some(Stop::Nodes));
    assert!(trace.words().len() < 100_000);
}

/// What depends on the input no more is neither an event that says so nor a loss.
#[test]
fn values_that_turn_out_to_be_constant() {
    let mut traced = traced(
        r#"
        static int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
        static int twice(int x) { return 2 * x; }
        int main(int argc, char **argv) {
            int c = argc > 1 ? argv[1][0] : 0, none = c ^ c, s = 0;
            for (int i = 0; i < 5; i++) {
                switch ((c & 0) + i) { case 1: s += 2; break; case 3: s += 5; break; default: s += 7; }
                s += table[(c - c) + i] / ((c ^ c) + 2);
                table[(c * 0) + i] = (c ^ c) + 1;
                s += twice(c & 0) + ((c & 0) == 0 ? 1 : 2) + (none ? 3 : 4);
                none += c ^ c;
            }
            printf("%d %d %g\n", s, c & 0, (double)(c ^ c));
            return s & 127;
        }"#,
    );
    let (recording, _) = traced.agree(&args(&["7"]));
    let trace = recording.trace().expect("well-formed");
    assert_eq!(trace.losses().len(), 0, "{:?}", trace.losses());
    let dependent = |event: &Event<'_>| {
        matches!(
            event,
            Event::Branch { node: Some(_), .. } | Event::Switch { node: Some(_), .. }
        )
    };
    // That there is an argument.
    assert!(trace.events().filter(dependent).count() <= 1);
}

#[test]
fn variables_that_only_decide_do_not_fill_the_trace() {
    let text = "static int count; int main(void) { while (count < 50000) count++; return 0; }";
    for (number, most) in [(1, 50_001), (DECIDING | 1, MOST_DECIDING as usize)] {
        let mut traced = Traced::watching(text, number);
        let (recording, _) = traced.agree(&args(&[]));
        let trace = recording.trace().expect("well-formed");
        let values = trace.events().filter_map(|event| match event {
            Event::Value { value, .. } => Some(value),
            _ => None,
        });
        // The first store is that of the result of main.
        let values: Vec<u64> = values.collect();
        assert_eq!(values.len(), most, "{number:#x}");
        assert_eq!(values[1..4], [1, 2, 3], "{number:#x}");
    }
}
