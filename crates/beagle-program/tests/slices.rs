//! Slices inside a function and through memory: exactly these lines, no others.

mod support;

use support::slices::{check_backward, check_forward, check_forward_holds};

#[test]
fn data_flows_through_local_variables_in_order() {
    check_forward(
        "int main(int argc, char **argv) {
            int a = argc; /*from*/
            int b = a + 1; // in
            int c = 2;
            a = 7;
            int d = a;
            return b // in
                + c + d; // in
        }",
    );
}

#[test]
fn a_backward_slice_leaves_out_what_is_overwritten() {
    check_backward(
        "int main(int argc, char **argv) {
            int a = argc;
            int b = 3; // in
            a = b; // in
            int c = a + argc;
            return a; /*from*/
        }",
    );
}

#[test]
fn data_flows_through_memory_but_not_between_objects() {
    check_forward(
        "void put(char *);
        int x, y;
        int main(int argc, char **argv) {
            int *p = &x, *q = &y;
            *p = argc; /*from*/
            int a = *q;
            int b = x; // in
            int c = y;
            return b; // in
        }",
    );
}

#[test]
fn fields_of_a_structure_are_told_apart() {
    check_forward(
        "struct s { int a, b; char *name; };
        int main(int argc, char **argv) {
            struct s s = {0}, *p = &s;
            p->a = argc; /*from*/
            int a = s.b;
            int b = s.a; // in
            char *n = p->name;
            return b; // in
        }",
    );
}

#[test]
fn a_branch_decides_about_what_it_guards_and_nothing_else() {
    check_forward(
        "int main(int argc, char **argv) {
            int x = 0, y = 0;
            if (argc > 1) /*from*/
                x = 1; // in
            else
                x = 2; // in
            y = 3;
            return y;
        }",
    );
}

#[test]
fn a_loop_decides_about_its_body() {
    check_forward(
        "int main(int argc, char **argv) {
            int sum = 0;
            int n = argc; /*from*/
            for (int i = 0; i < n; // in
                 i++) // in
                sum += 2; // in
            return sum; // in
        }",
    );
}

#[test]
fn an_early_return_decides_about_the_rest() {
    check_forward(
        "int puts(const char *);
        int main(int argc, char **argv) {
            puts(\"before\");
            if (argc > 1) /*from*/
                return 1; // in
            puts(\"after\"); // in
            return 0; // in
        } // in",
    );
}

#[test]
fn ternaries_and_short_circuits_depend_on_their_conditions() {
    check_forward(
        "int main(int argc, char **argv) {
            int a = 1, b = 2;
            int c = argc > 2; /*from*/
            int d = c ? a : b; // in
            int e = c && a; // in
            int f = a || b;
            return d // in
               + e; // in
        }",
    );
}

#[test]
fn a_switch_decides_about_its_cases() {
    check_forward(
        "int main(int argc, char **argv) {
            int r = 0;
            switch (argc) { /*from*/
            case 1: r = 1; // in
                break;
            case 2: r = 2; // in
                break;
            }
            return r; // in
        }",
    );
}

#[test]
fn an_exit_decides_about_what_follows() {
    check_forward(
        "int puts(const char *); void exit(int);
        void die(void) {
            exit(1); // in
        }
        int main(int argc, char **argv) {
            int x = argc; /*from*/
            puts(\"before\");
            if (x) // in
                die(); // in
            puts(\"after\"); // in
            return 0; // in
        }",
    );
}

#[test]
fn a_callee_that_may_exit_because_of_its_argument_decides_about_what_follows() {
    check_forward_holds(
        "int puts(const char *); void exit(int);
        void check(int v) {
            if (v < 0) // in
                exit(1); // in
        }
        int main(int argc, char **argv) {
            puts(\"before\"); // not in
            check(argc); /*from*/
            puts(\"after\"); // in
            return 0; // in
        }",
    );
}

#[test]
fn an_exit_two_calls_down_decides_about_what_follows() {
    check_forward_holds(
        "int puts(const char *); void exit(int);
        void deep(int v) { if (v < 0) exit(1); }
        void check(int v) { deep(v + 1); }
        void other(void) { deep(3); puts(\"other\"); } // not in
        int main(int argc, char **argv) {
            other(); // not in
            check(argc); /*from*/
            puts(\"after\"); // in
            return 0;
        }",
    );
}

#[test]
fn two_calls_that_may_exit_in_one_block_both_decide_about_what_follows() {
    check_forward_holds(
        "int puts(const char *); void exit(int);
        int g, h;
        void first(void) { if (g) exit(1); }
        void second(void) { if (h) exit(2); }
        int main(int argc, char **argv) {
            g = argc; /*from*/
            first();
            second();
            if (h) puts(\"one\"); // in
            puts(\"two\"); // in
            return 0;
        }",
    );
}

#[test]
fn all_of_a_callee_depends_on_whether_it_is_called() {
    check_forward_holds(
        "int puts(const char *);
        void show(int v) {
            if (v > 3) // in
                puts(\"big\"); // in
            puts(\"end\"); // in
        }
        int main(int argc, char **argv) {
            if (argc > 1) /*from*/
                show(5); // in
            puts(\"done\"); // not in
            return 0; // not in
        }",
    );
}

#[test]
fn statements_of_an_endless_loop_depend_on_their_branches() {
    check_forward_holds(
        "int getchar(void); int putchar(int); void exit(int);
        int main(void) {
            for (;;) {
                int c = getchar(); /*from*/
                if (c < 0) // in
                    exit(0);
                putchar(c); // in
            }
        }",
    );
}

#[test]
fn a_computed_goto_decides_about_its_targets() {
    check_forward_holds(
        "int puts(const char *);
        int main(int argc, char **argv) {
            void *to[] = { &&one, &&two };
            goto *to[argc > 1]; /*from*/
        one:
            puts(\"one\"); // in
        two:
            puts(\"two\");
            return 0;
        }",
    );
}

#[test]
fn a_value_is_followed_back_through_memory_and_control() {
    check_backward(
        "int g;
        int main(int argc, char **argv) {
            int unused = 4;
            int *p = &g; // in
            if (argc > 1) // in
                *p = argc; // in
            unused++;
            return g; /*from*/
        }",
    );
}

#[test]
fn a_store_of_a_wide_value_reaches_all_fields_that_it_covers() {
    check_forward_holds(
        "struct pair { int lo, hi; };
        union u { long all; struct pair parts; } u;
        int main(int argc, char **argv) {
            u.all = argc; /*from*/
            int lo = u.parts.lo; // in
            int hi = u.parts.hi; // in
            return 0;
        }",
    );
}

#[test]
fn a_buffer_looked_at_as_a_structure_holds_the_bytes_that_were_put_there() {
    check_forward_holds(
        "struct header { int kind; int size; };
        int getchar(void);
        int main(int argc, char **argv) {
            char bytes[16];
            for (int i = 0; i < 16; i++)
                bytes[i] = argc; /*from*/
            struct header *h = (struct header *)bytes;
            return h->size; // in
        }",
    );
}

#[test]
fn allocated_bytes_looked_at_as_a_structure_hold_what_was_put_there() {
    check_forward_holds(
        "#include <stdlib.h>
        struct header { int kind; int size; };
        int main(int argc, char **argv) {
            unsigned char *bytes = malloc(16);
            for (int i = 0; i < 16; i++)
                bytes[i] = argc; /*from*/
            struct header *h = (struct header *)bytes;
            return h->size; // in
        }",
    );
}

#[test]
fn a_structure_looked_at_as_bytes_holds_its_fields() {
    check_forward_holds(
        "struct header { int kind; int size; } h;
        int main(int argc, char **argv) {
            h.size = argc; /*from*/
            unsigned char *p = (unsigned char *)&h;
            int sum = 0;
            for (int i = 0; i < sizeof h; i++)
                sum += p[i]; // in
            return sum; // in
        }",
    );
}

#[test]
fn a_field_found_by_its_offset_is_that_field() {
    check_forward_holds(
        "#include <stddef.h>
        struct options { int verbose, depth; } o;
        struct entry { const char *name; size_t at; } table[] = {
            {\"verbose\", offsetof(struct options, verbose)},
            {\"depth\", offsetof(struct options, depth)},
        };
        int main(int argc, char **argv) {
            *(int *)((char *)&o + table[argc].at) = 3; /*from*/
            int fixed = *(int *)((char *)&o + offsetof(struct options, depth)); // in
            return o.depth; // in
        }",
    );
}

#[test]
fn the_members_of_a_union_share_their_memory() {
    check_forward_holds(
        "union u { struct { long p, q; } y; int a[4]; };
        int main(int argc, char **argv) {
            union u u;
            u.a[argc] = argc; /*from*/
            return u.y.q; // in
        }",
    );
}

#[test]
fn assigning_a_structure_copies_its_fields() {
    check_forward_holds(
        "struct s { int a, b; };
        int main(int argc, char **argv) {
            struct s x = {1, 2}, y;
            x.b = argc; /*from*/
            y = x; // in
            int b = y.b; // in
            return 0; // not in
        }",
    );
}

#[test]
fn structures_are_passed_and_returned_by_value() {
    check_forward_holds(
        "struct s { long a, b; };
        struct s twice(struct s s) { s.b *= 2; return s; }
        long second(struct s s) { return s.b; }
        int main(int argc, char **argv) {
            struct s x = {1, 2};
            x.b = argc; /*from*/
            long b = second(x); // in
            struct s y = twice(x);
            return y.b; // in
        }",
    );
}

#[test]
fn vectors_and_wide_integers_reach_all_that_they_cover() {
    check_forward_holds(
        "typedef long v2 __attribute__((vector_size(16)));
        struct two { long a, b; };
        void keep(v2 v, struct two *t) {
            *(v2 *)t = v;
        }
        int main(int argc, char **argv) {
            struct two t;
            v2 v = {argc, argc}; /*from*/
            keep(v, &t);
            return t.b; // in
        }",
    );
}
