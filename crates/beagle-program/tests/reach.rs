//! What can run after what, across calls.

mod support;

use std::collections::BTreeSet;

use beagle_program::{BlockId, CallGraph, Reached, reachable_from};
use support::{Case, lift};

const TEXT: &str = "
int puts(const char *);
void leaf(void) {
    puts(\"leaf\"); /*leaf*/
}
void a(int x) {
    puts(\"a1\"); /*a1*/
    if (x) {
        leaf(); /*a2*/
    } else {
        puts(\"a3\"); /*a3*/
    }
    puts(\"a4\"); /*a4*/
}
void b(int x) {
    if (x)
        puts(\"b1\"); /*b1*/
    leaf(); /*b2*/
    if (x)
        puts(\"b3\"); /*b3*/
}
void unused(void) {
    puts(\"unused\"); /*unused*/
}
int main(int argc, char **argv) {
    if (argc > 1)
        a(argc); /*m1*/
    if (argc > 2)
        b(argc); /*m2*/
    return 0; /*end*/
}";

const MARKERS: [&str; 12] = [
    "leaf", "a1", "a2", "a3", "a4", "b1", "b2", "b3", "unused", "m1", "m2", "end",
];

fn block(case: &Case, marker: &str) -> BlockId {
    case.program.stmt(case.marked(marker)[0]).block
}

fn markers(case: &Case, reached: &Reached) -> BTreeSet<&'static str> {
    let all = MARKERS.into_iter();
    all.filter(|marker| reached.contains(block(case, marker)))
        .collect()
}

#[track_caller]
fn check_forward(from: &str, expected: &[&str]) {
    let case = lift(TEXT);
    let calls = CallGraph::of(&case.program);
    let reached = reachable_from(&case.program, &calls, &[block(&case, from)]);
    assert_eq!(markers(&case, &reached), expected.iter().copied().collect());
}

#[test]
fn control_goes_on_in_the_caller_of_the_start() {
    check_forward(
        "a3",
        &["a3", "a4", "m1", "m2", "end", "b1", "b2", "b3", "leaf"],
    );
}

#[test]
fn what_was_entered_is_left_only_to_where_it_was_called() {
    // `leaf` is called from `b`, so nothing of `a` can follow.
    check_forward("b1", &["b1", "b2", "leaf", "b3", "m2", "end"]);
}

#[test]
fn a_function_may_return_to_any_caller_if_the_walk_starts_in_it() {
    let after_b = ["leaf", "b2", "b3", "m2", "end"];
    let after_a = ["a2", "a4", "m1", "b1"];
    check_forward("leaf", &[&after_b[..], &after_a[..]].concat());
}

#[test]
fn the_end_reaches_nothing_else() {
    check_forward("end", &["end"]);
}

#[test]
fn long_jumps_lead_to_where_they_were_set() {
    let case = lift(
        "#include <setjmp.h>
        int puts(const char *); jmp_buf b;
        void fail(void) {
            longjmp(b, 1); /*jump*/
        }
        int main(int argc, char **argv) {
            if (setjmp(b)) /*set*/
                return puts(\"failed\"); /*failed*/
            fail();
            return 0;
        }",
    );
    let calls = CallGraph::of(&case.program);
    let reached = reachable_from(&case.program, &calls, &[block(&case, "jump")]);
    assert!(reached.contains(block(&case, "failed")));
}

#[test]
fn handlers_run_after_they_were_installed() {
    let case = lift(
        "#include <stdlib.h>
        int puts(const char *);
        void bye(void) { puts(\"bye\"); } /*bye*/
        int main(int argc, char **argv) {
            atexit(bye);
            if (argc)
                puts(\"end\"); /*end*/
            return 0;
        }",
    );
    let calls = CallGraph::of(&case.program);
    let reached = reachable_from(&case.program, &calls, &[block(&case, "end")]);
    assert!(reached.contains(block(&case, "bye")));
}
