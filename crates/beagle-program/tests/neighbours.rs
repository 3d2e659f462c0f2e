//! Where what a statement reads is assigned, and where what it assigns is read.

mod support;

use beagle_program::{BlockId, Dependence, StmtId};
use support::lift;

/// Checks that the blocks found for the line `/*from*/` hold the lines that end in `// in`, and none of
/// those that end in `// not in`.
#[track_caller]
fn check(text: &str, blocks: impl Fn(&Dependence, &[StmtId]) -> Vec<BlockId>) {
    let case = lift(text);
    let dependence = Dependence::of(&case.program);
    let blocks = blocks(&dependence, &case.marked("from"));
    case.check_blocks(blocks);
}

/// A parser that keeps what it is in, as a field of a structure.
const STATE: &str = "
    struct state { int section, line; };
    static int last;
    static void enter(struct state *s, int name) {
        if (name > 0)
            s->section = name; // in
        else
            s->line++; // not in
    }
    static void leave(struct state *s) {
        last = s->section; /*from*/
    }
    int main(int argc, char **argv) {
        struct state s = {0, 0};
        for (int i = 0; i < argc; i++) {
            if (argv[i][0] == '[')
                enter(&s, i);
            if (argv[i][0] == '#') // not in
                s.line = i; // not in
        }
        leave(&s);
        return last;
    }";

#[test]
fn what_a_statement_reads_is_assigned_elsewhere() {
    check(STATE, |dependence, from| dependence.assigning(from));
}

#[test]
fn what_a_statement_assigns_is_read_elsewhere() {
    check(
        "static int limit, other;
        static int is_over(int n) {
            if (n > 100)
                return n > limit; // in
            return n > other; // not in
        }
        int main(int argc, char **argv) {
            if (argc > 2)
                limit = argc; /*from*/
            else
                other = argc; // not in
            return is_over(argc);
        }",
        |dependence, from| dependence.reading(from),
    );
}

#[test]
fn a_result_is_read_by_who_called() {
    check(
        "static int width(int n) {
            return n * 2; /*from*/
        }
        int main(int argc, char **argv) {
            int total = 0;
            for (int i = 0; i < argc; i++) {
                if (argv[i][0] == 'w')
                    if (width(i) > 7) // in
                        total++; // not in
            }
            return total; // not in
        }",
        |dependence, from| dependence.reading(from),
    );
}

#[test]
fn one_step_only() {
    check(
        "static int a, b, c;
        int main(int argc, char **argv) {
            if (argc > 3)
                a = argc; // not in
            if (argc > 2)
                b = a; // in
            if (argc > 1)
                c = b; /*from*/
            return c;
        }",
        |dependence, from| dependence.assigning(from),
    );
}
