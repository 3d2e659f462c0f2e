//! Slices across calls: into callees, back to the right caller, through callbacks.

mod support;

use support::slices::{check_backward, check_changed_holds, check_forward, check_forward_holds};

#[test]
fn an_argument_reaches_the_result_of_its_own_call_only() {
    check_forward(
        "int inc(int v) {
            return v + 1; // in
        }
        int main(int argc, char **argv) {
            int a = argc; /*from*/
            int b = inc(a); // in
            int c = inc(2);
            return b // in
                + 0; // in
        }",
    );
}

#[test]
fn the_result_of_one_caller_does_not_depend_on_the_argument_of_another() {
    check_backward(
        "int inc(int v) {
            return v + 1; // in
        }
        int main(int argc, char **argv) {
            int a = 5;
            int b = inc(a);
            int d = 2; // in
            int c = inc(d); // in
            return c; /*from*/
        }",
    );
}

#[test]
fn a_change_in_one_caller_does_not_reach_the_other_caller() {
    check_forward_holds(
        "int puts(const char *); int putchar(int);
        int id(int v) { return v; }
        void one(int x) {
            int y = x * 2; /*from*/
            putchar(id(y)); // in
        }
        void two(int x) {
            putchar(id(x)); // not in
        }
        int main(int argc, char **argv) { one(argc); two(argc); return 0; } // not in",
    );
}

#[test]
fn a_parameter_that_the_result_does_not_depend_on_stops_there() {
    check_forward_holds(
        "int puts(const char *);
        int first(int a, int b) { return a; } // not in
        int main(int argc, char **argv) {
            int x = argc; /*from*/
            int y = first(1, x);
            return 5; // not in
        }",
    );
}

#[test]
fn recursion_carries_arguments_down_and_results_up() {
    check_forward_holds(
        "int fact(int n) {
            if (n < 2) // in
                return 1; // in
            return n * fact(n - 1); // in
        }
        int main(int argc, char **argv) {
            int x = argc; /*from*/
            int y = fact(x); // in
            int z = fact(3); // not in
            return y; // in
        }",
    );
}

#[test]
fn globals_carry_values_between_functions() {
    check_forward_holds(
        "static int level, other;
        void set(int v) { level = v; } // in
        int get(void) { return level; } // in
        int get_other(void) { return other; } // not in
        int main(int argc, char **argv) {
            set(argc); /*from*/
            int b = get_other(); // not in
            return get(); // in
        }",
    );
}

#[test]
fn the_result_of_an_indirect_call_depends_on_the_pointer() {
    check_forward_holds(
        "int one(void) { return 1; }
        int two(void) { return 2; }
        int main(int argc, char **argv) {
            int (*f)(void) = argc > 1 ? one : two; /*from*/
            int r = f(); // in
            return r; // in
        }",
    );
}

#[test]
fn a_function_pointer_in_a_table_is_called() {
    check_forward_holds(
        "int puts(const char *);
        int show(int v) { puts(\"x\"); return v; } // in
        int hide(int v) { return 0; }
        struct op { const char *name; int (*run)(int); } ops[] = {{\"s\", show}, {\"h\", hide}};
        int main(int argc, char **argv) {
            int x = argc; /*from*/
            return ops[0].run(x); // in
        }",
    );
}

#[test]
fn a_pointer_of_a_type_that_no_function_has_may_call_any() {
    check_forward_holds(
        "int puts(const char *);
        int show(int a, int b) { puts(\"x\"); return a; } // in
        typedef void (*any)(char *, double, long, char);
        any hook = (any)show;
        int main(int argc, char **argv) {
            if (argc > 1) /*from*/
                hook(\"\", 1.0, 2, 'c'); // in
            return 0;
        }",
    );
}

#[test]
fn the_order_of_qsort_depends_on_the_comparison() {
    check_forward_holds(
        "#include <stdlib.h>
        #include <stdio.h>
        int up(const void *a, const void *b) {
            int x = *(const int *)a, y = *(const int *)b;
            return x - y; /*from*/
        }
        int main(int argc, char **argv) {
            int v[3] = {3, 1, 2};
            int n = 3;
            qsort(v, n, sizeof *v, up);
            printf(\"%d\\n\", n); // not in
            printf(\"%d\\n\", v[0]); // in
            return 0;
        }",
    );
}

#[test]
fn the_comparison_sees_what_is_sorted() {
    check_forward_holds(
        "#include <stdlib.h>
        int up(const void *a, const void *b) {
            return *(const int *)a // in
                - *(const int *)b; // in
        }
        int main(int argc, char **argv) {
            int v[3] = {3, 1, 2};
            v[1] = argc; /*from*/
            qsort(v, 3, sizeof *v, up); // in
            return v[0]; // in
        }",
    );
}

#[test]
fn a_callback_kept_by_unknown_code_runs_whenever_unknown_code_runs() {
    check_forward_holds(
        "void keep(void (*)(int)); void run_all(void); int putchar(int);
        void hook(int v) { putchar('x'); } // in
        int main(int argc, char **argv) {
            keep(hook);
            if (argc > 1) /*from*/
                run_all(); // in
            return 0;
        }",
    );
}

#[test]
fn a_callback_in_a_structure_is_found_by_unknown_code() {
    check_forward_holds(
        "struct ops { void (*hook)(int); }; void use(struct ops *); int putchar(int);
        void hook(int v) { putchar('x'); } // in
        static struct ops ops = { hook };
        int main(int argc, char **argv) {
            if (argc > 1) /*from*/
                use(&ops); // in
            return 0;
        }",
    );
}

#[test]
fn a_handler_of_a_signal_runs() {
    check_forward_holds(
        "#include <signal.h>
        #include <stdio.h>
        volatile int level;
        void handler(int number) { printf(\"%d\\n\", level); } // in
        int main(int argc, char **argv) {
            struct sigaction act = {0};
            act.sa_handler = handler;
            sigaction(SIGINT, &act, 0);
            level = argc; /*from*/
            raise(SIGINT);
            return 0;
        }",
    );
}

#[test]
fn constructors_run_before_main() {
    check_forward_holds(
        "static int level; static int *where;
        __attribute__((constructor)) static void start(void) { where = &level; }
        int main(int argc, char **argv) {
            *where = argc; /*from*/
            return level; // in
        }",
    );
}

#[test]
fn variadic_functions_get_their_arguments() {
    check_forward_holds(
        "#include <stdarg.h>
        int sum(int n, ...) {
            va_list list;
            va_start(list, n);
            int total = 0;
            while (n--)
                total += va_arg(list, int); // in
            va_end(list);
            return total; // in
        }
        int main(int argc, char **argv) {
            int x = argc; /*from*/
            return sum(2, 1, x); // in
        }",
    );
}

#[test]
fn wrappers_of_printf_show_their_arguments() {
    check_forward_holds(
        "#include <stdarg.h>
        #include <stdio.h>
        void say(const char *text, ...) {
            va_list list;
            va_start(list, text);
            vfprintf(stderr, text, list); // in
            va_end(list);
        }
        int main(int argc, char **argv) {
            char name[8] = \"abc\";
            name[0] = argc; /*from*/
            say(\"%s\", name);
            return 0; // not in
        }",
    );
}

#[test]
fn a_wrapper_that_takes_a_list_of_arguments_shows_them() {
    check_forward_holds(
        "#include <stdarg.h>
        #include <stdio.h>
        void inner(const char *text, va_list list) {
            vprintf(text, list); // in
        }
        void say(const char *text, ...) {
            va_list list;
            va_start(list, text);
            inner(text, list);
            va_end(list);
        }
        int main(int argc, char **argv) {
            int x = argc; /*from*/
            say(\"%d\", x); // in
            return 0; // not in
        }",
    );
}

#[test]
fn a_long_jump_arrives_where_it_was_set() {
    check_forward_holds(
        "#include <setjmp.h>
        #include <stdio.h>
        static jmp_buf back;
        void fail(int code) {
            longjmp(back, code); // in
        }
        int main(int argc, char **argv) {
            int code = setjmp(back);
            if (code) {
                printf(\"%d\\n\", code); // in
                return 1;
            }
            fail(argc); /*from*/
            puts(\"not reached\");
            return 0;
        }",
    );
}

#[test]
fn old_style_calls_pass_their_arguments() {
    check_forward_holds(
        "int twice();
        int main(argc, argv) int argc; char **argv; {
            int x = argc; /*from*/
            return twice(x); // in
        }
        int twice(v) int v; { return 2 * v; } // in",
    );
}

#[test]
fn a_changed_call_changes_all_that_the_callee_does() {
    check_changed_holds(
        "int puts(const char *);
        void show(void) { puts(\"shown\"); } // in
        int main(int argc, char **argv) {
            show(); /*from*/
            puts(\"after\"); // not in
            return 0; // not in
        }",
    );
}

#[test]
fn a_changed_exit_changes_what_runs_instead() {
    check_changed_holds(
        "int puts(const char *); void exit(int);
        void die(void) { puts(\"dead\"); exit(1); } // in
        int main(int argc, char **argv) {
            puts(\"before\"); // not in
            if (argc > 1)
                die(); /*from*/
            puts(\"after\"); // in
            return 0; // in
        }",
    );
}

#[test]
fn a_changed_jump_changes_what_runs_after_it() {
    check_changed_holds(
        "int puts(const char *);
        int main(int argc, char **argv) {
            puts(\"before\"); // not in
            switch (argc) {
            case 1:
                puts(\"one\"); // not in
                break; /*from*/
            case 2:
                puts(\"two\");
            }
            puts(\"after\"); // in
            return 0; // in
        }",
    );
}
