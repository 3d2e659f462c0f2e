//! Forward and backward slices tell the same story: one thing is in the forward slice of another
//! if and only if the other is in the backward slice of the first.

mod support;

use beagle_program::{Dependence, Fact, Program, Slice, StmtId};
use support::mutants::{Tree, subjects, texts};
use support::{csmith, lift};

/// Compares the slices of some statements, all pairs.
#[track_caller]
fn check(program: &Program, count: usize) {
    let dependence = Dependence::of(program);
    let step = (program.stmts.len() / count).max(1);
    let sample: Vec<_> = (0..program.stmts.len() as u32)
        .step_by(step)
        .map(StmtId)
        .collect();
    let slices = |slice: &dyn Fn(&[Fact]) -> Slice| -> Vec<Slice> {
        let all = sample.iter().map(|&stmt| slice(&[Fact::Stmt(stmt)]));
        all.collect()
    };
    let forward = slices(&|from| dependence.forward(from));
    let backward = slices(&|from| dependence.backward(from));
    for (i, &from) in sample.iter().enumerate() {
        for (j, &to) in sample.iter().enumerate() {
            let (ahead, back) = (forward[i].contains(to), backward[j].contains(from));
            assert_eq!(ahead, back, "{from:?} to {to:?}");
        }
    }
}

#[test]
fn in_a_program_with_all_kinds_of_dependence() {
    let case = lift(
        "#include <stdio.h>
        #include <stdlib.h>
        #include <stdarg.h>
        struct s { int a, b; struct s *next; }; static struct s *list; static int depth;
        static int cmp(const void *a, const void *b) { return *(int *)a - *(int *)b; }
        static void check(int v) { if (v > depth) exit(v); }
        static int sum(int n, ...) { va_list l; va_start(l, n); int t = 0;
            while (n--) t += va_arg(l, int); va_end(l); return t; }
        static int rec(struct s *s, int k) { depth++; check(k);
            return s ? s->a + rec(s->next, k + 1) : k; }
        static int other(int k) { return rec(0, k) + sum(2, k, depth); }
        int main(int argc, char **argv) {
            int v[4] = {argc, 2, 3, 1}; int (*f)(int) = argc > 3 ? other : putchar;
            for (int c; (c = getchar()) != EOF;) { struct s *n = malloc(sizeof *n);
                n->a = c; n->b = v[c & 3]; n->next = list; list = n; check(c); }
            qsort(v, 4, sizeof *v, cmp);
            printf(\"%d %d %d\\n\", rec(list, 0), f(v[0]), other(3));
            return list ? list->b : v[2];
        }",
    );
    check(&case.program, case.program.stmts.len());
}

#[test]
fn in_programs_that_csmith_makes_up() {
    for seed in [2, 5, 9] {
        check(&csmith::program(seed).program, 150);
    }
}

#[test]
fn in_the_subjects() {
    for subject in subjects().iter().step_by(3) {
        check(&Tree::new(&texts(&subject.base)).program(), 100);
    }
}
