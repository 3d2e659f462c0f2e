//! Dominators, post-dominators and control dependence against their definitions, the slow way.

mod support;

use std::collections::BTreeSet;

use beagle_program::{BlockId, CallGraph, Flow, FunctionId, Program};
use support::graph::Graph;
use support::{Case, csmith, lift};

/// Compares with the definitions in all functions of a program.
#[track_caller]
fn check(case: &Case) {
    let calls = CallGraph::of(&case.program);
    for (id, function) in case.program.functions() {
        if function.is_defined() {
            check_function(&case.program, &calls, id);
        }
    }
}

#[track_caller]
fn check_function(program: &Program, calls: &CallGraph, id: FunctionId) {
    let name = &program.function(id).name;
    let graph = Graph::of(program, calls, id);
    let flow = Flow::of(program, calls, id);
    let nodes = 0..graph.end();
    let dominates = graph.dominates();
    for a in nodes.clone() {
        for b in nodes.clone() {
            let found = flow.dominates(graph.block(a), graph.block(b));
            assert_eq!(found, dominates[a][b], "{name}: {a} dominates {b}");
        }
    }
    // Where a loop never ends, what follows it is a matter of taste.
    if !graph.always_ends() {
        return;
    }
    let post_dominates = graph.post_dominates();
    for a in nodes.clone() {
        for b in nodes.clone() {
            let found = flow.post_dominates(graph.block(a), graph.block(b));
            assert_eq!(
                found, post_dominates[a][b],
                "{name}: {a} post-dominates {b}"
            );
        }
    }
    check_control(program, calls, &flow, &graph, &post_dominates);
}

/// A block depends on an edge if it always follows the edge, but not always the edge's start.
#[track_caller]
fn check_control(
    program: &Program,
    calls: &CallGraph,
    flow: &Flow,
    graph: &Graph,
    post_dominates: &[Vec<bool>],
) {
    let mut expected: BTreeSet<(BlockId, BlockId)> = BTreeSet::new();
    for from in 0..graph.end() {
        if graph.successors[from].len() < 2 {
            continue;
        }
        for &to in &graph.successors[from] {
            for (block, follows) in post_dominates.iter().enumerate().take(graph.end()) {
                let always = block != from && follows[from];
                if follows[to] && to != graph.end() && !always {
                    expected.insert((graph.block(block), graph.block(from)));
                }
            }
        }
    }
    let control = flow.control(program, calls);
    let block_of = |by| program.stmt(by).block;
    let found: BTreeSet<_> = control.iter().map(|c| (c.block, block_of(c.by))).collect();
    let missing: Vec<_> = expected.difference(&found).collect();
    let wrong: Vec<_> = found.difference(&expected).collect();
    assert!(
        missing.is_empty() && wrong.is_empty(),
        "missing {missing:?}, too many {wrong:?}"
    );
    for control in control {
        let by = program.stmt(control.by);
        let successors = &program.block(by.block).successors;
        match control.side {
            Some(side) => {
                let to = successors[side as usize];
                assert!(flow.post_dominates(control.block, to));
            }
            None => assert!(calls.call_may_exit(control.by)),
        }
    }
}

#[test]
fn loops_branches_and_early_returns_follow_the_definitions() {
    check(&lift(
        "int f(int a, int b) {
            for (int i = 0; i < a; i++) {
                if (i == b) continue;
                if (i > 7) break;
                while (b--) { if (b == 3) return 1; }
                do { a++; } while (a < 3 || b > 2);
            }
            switch (a) { case 1: b++; case 2: return b; case 3: break; default: goto end; }
            a = a ? b : 3;
        end:
            return a && b;
        }",
    ));
}

#[test]
fn calls_that_end_the_program_follow_the_definitions() {
    check(&lift(
        "void exit(int); _Noreturn void die(void); int puts(const char *);
        void maybe(int x) { if (x) exit(1); }
        void never(void) { puts(\"\"); die(); }
        int f(int a) {
            maybe(a);
            if (a > 2) never();
            while (a--) { maybe(a); if (a == 5) die(); puts(\"\"); }
            maybe(1); maybe(2);
            return a ? 1 : 2;
        }
        int main(int c, char **v) { if (c) f(c); maybe(c); return f(2); }",
    ));
}

#[test]
fn unstructured_jumps_follow_the_definitions() {
    check(&lift(
        "int f(int a, int b) {
            if (a) goto in;
            while (b) { b--; in: a++; if (a > b) goto out; }
        out:
            switch (b) { while (a--) { case 0: b++; case 1: if (b > 3) return 2; } }
            void *to[] = { &&x, &&y };
            goto *to[a & 1];
        x:  a++;
        y:  if (a < 4) goto x;
            return a;
        }",
    ));
}

#[test]
fn endless_loops_have_dominators_and_some_post_dominator() {
    let case = lift(
        "void work(void); int stop(void);
        void f(int a) { while (1) { if (stop()) a++; else work(); } }
        int g(int a) { if (a) for (;;) work(); return 1; }",
    );
    check(&case);
    let calls = CallGraph::of(&case.program);
    for name in ["f", "g"] {
        let id = case.function(name);
        let flow = Flow::of(&case.program, &calls, id);
        let control = flow.control(&case.program, &calls);
        assert!(!control.is_empty(), "{name} has branches that decide");
    }
}

#[test]
fn the_side_of_a_branch_is_the_way_to_the_block() {
    let case = lift(
        "int puts(const char *);
        void f(int a) {
            if (a) /*if*/
                puts(\"yes\"); /*yes*/
            else
                puts(\"no\"); /*no*/
        }",
    );
    let calls = CallGraph::of(&case.program);
    let flow = Flow::of(&case.program, &calls, case.function("f"));
    let block = |marker| case.program.stmt(case.marked(marker)[0]).block;
    let control = flow.control(&case.program, &calls);
    let side = |marker| {
        let mut found = control.iter().filter(|c| c.block == block(marker));
        found.next().and_then(|c| c.side)
    };
    assert_eq!((side("yes"), side("no")), (Some(0), Some(1)));
    assert_eq!(flow.immediate_dominator(block("yes")), Some(block("if")));
    assert_eq!(
        flow.immediate_post_dominator(block("yes")),
        flow.immediate_post_dominator(block("no"))
    );
}

#[test]
fn programs_that_csmith_makes_up_follow_the_definitions() {
    for seed in 1..=25 {
        check(&csmith::program(seed));
    }
}
