//! Which assignments can make a branch go a way.

mod support;

use beagle_program::{Dependence, Op, StmtId};
use support::lift;

/// Checks what can make the branch or switch of the line `/*at*/` go on to its successor `to`: the blocks with
/// the lines that end in `// in`, and none with those that end in `// not in`.
#[track_caller]
fn check(text: &str, to: u32) {
    let case = lift(text);
    let program = &case.program;
    let dependence = Dependence::of(program);
    let decides = |stmt: &StmtId| matches!(program.stmt(*stmt).op, Op::Branch | Op::Switch);
    let branch = case.marked("at").into_iter().find(decides);
    let branch = branch.expect("the line has a branch");
    let turns = dependence.turning(branch, to);
    case.check_blocks(turns.iter().map(|turn| turn.block));
}

#[test]
fn constants_with_which_it_goes_another_way_are_left_out() {
    let text = "
        enum { PLAIN, WORD, QUOTED };
        struct machine { int state, kept; };
        static void step(struct machine *m, int c) {
            switch (m->state) { /*at*/
            case PLAIN:
                if (c == '\"')
                    m->state = QUOTED; // in
                else
                    m->state = WORD; // not in
                break;
            case WORD:
                m->kept++; // not in
                break;
            case QUOTED:
                m->state = PLAIN; // not in
            }
        }
        int main(int argc, char **argv) {
            struct machine m = {0, 0};
            for (int i = 0; i < argc; i++)
                step(&m, argv[i][0]);
            return m.kept;
        }";
    // The third of the cases, in the order in which they stand.
    check(text, 3);
}

#[test]
fn what_is_handed_on_counts_where_it_comes_from() {
    let text = "
        struct options { int strict, loud; };
        struct machine { int strict; };
        static int seen;
        static void set(struct machine *m, int strict) {
            m->strict = strict; // not in
        }
        static void look(struct machine *m) {
            if (m->strict) /*at*/
                seen++;
        }
        int main(int argc, char **argv) {
            struct options opt = {0, 0};
            struct machine m;
            if (argv[1][0] == 's')
                opt.strict = 1; // in
            if (argv[1][0] == 'l')
                opt.loud = 1; // not in
            if (argv[1][0] == 'n')
                opt.strict = 0; // not in
            set(&m, opt.strict);
            look(&m);
            if (argv[1][0] == 'S')
                set(&m, 1); // in
            if (argv[1][0] == 'N')
                set(&m, 0); // not in
            look(&m);
            return seen;
        }";
    check(text, 0);
}

#[test]
fn a_result_counts_where_it_is_chosen() {
    let text = "
        static int kind(int c) {
            if (c == '#')
                return 2; // in
            if (c == ';')
                return 1; // not in
            return 0;
        }
        int main(int argc, char **argv) {
            int k = kind(argv[1][0]);
            if (k > 1) /*at*/
                return 1;
            return 0;
        }";
    check(text, 0);
}

#[test]
fn a_flag_that_is_computed_counts_where_it_is_set() {
    let text = "
        static int flag, other;
        int main(int argc, char **argv) {
            for (int i = 1; i < argc; i++) {
                if (argv[i][0] == '-')
                    flag = argv[i][1] == 'x'; // in
                else
                    other = argv[i][1] == 'x'; // not in
            }
            if (flag) /*at*/
                return 1;
            return 0;
        }";
    check(text, 0);
}

#[test]
fn what_becomes_wider_keeps_its_sign() {
    let text = "
        static signed char small;
        static int wide;
        int main(int argc, char **argv) {
            if (argv[1][0] == 'n')
                small = -1; // in
            if (argv[1][0] == 'p')
                small = 1; // not in
            wide = small;
            if (wide < 0) /*at*/
                return 1;
            return 0;
        }";
    check(text, 0);
}

#[test]
fn what_is_outside_of_the_program_is_not_assigned_by_calls() {
    let text = "
        #include <ctype.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            int words = 0;
            int c;
            while ((c = getopt(argc, argv, \"w\")) != -1) // not in
                words++;
            for (const char *at = argv[0]; *at != 0; at++)
                if (isalpha(*at)) /*at*/
                    return 1;
            return words;
        }";
    check(text, 0);
}
