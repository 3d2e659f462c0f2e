//! Which marked statements can follow a way on from a branch, and which can precede it.

mod support;

use beagle_program::{CallGraph, Marks, Op, Order, StmtId};
use support::{Case, lift};

/// A program with marks on the lines that hold `/*+name*/`; lines with `/*?name*/` hold branches.
struct Marked {
    case: Case,
    names: Vec<String>,
    order: Order,
}

impl Marked {
    fn new(text: &str) -> Self {
        let headers = ["setjmp", "signal", "stdio", "stdlib", "unistd"];
        let headers = headers
            .map(|name| format!("#include <{name}.h>\n"))
            .concat();
        let case = lift(&(headers + text));
        let name = |line: &str| Some(line.split_once("/*+")?.1.split_once("*/")?.0.to_owned());
        let names: Vec<String> = case.text.lines().filter_map(name).collect();
        let calls = CallGraph::of(&case.program);
        let marks = names.iter().enumerate().flat_map(|(mark, name)| {
            let stmts = case.marked(&format!("+{name}"));
            stmts.into_iter().map(move |stmt| (stmt, mark))
        });
        let order = Order::of(&case.program, &calls, marks, names.len());
        Self { case, names, order }
    }

    fn names(&self, marks: &Marks) -> String {
        let mut names: Vec<&str> = marks.iter().map(|mark| &*self.names[mark]).collect();
        names.sort_unstable();
        names.join(" ")
    }

    /// Checks what can follow if the condition of a branch holds, what if it does not, and what can
    /// precede it.
    #[track_caller]
    fn check(&self, branch: &str, holds: &str, fails: &str, before: &str) {
        let program = &self.case.program;
        let stmts = self.case.marked(&format!("?{branch}"));
        let is_branch = |&stmt: &StmtId| program.stmt(stmt).op == Op::Branch;
        let stmt = stmts.into_iter().find(is_branch).expect("a branch");
        let edge = |side| self.order.after_edge(program, stmt, side).expect("a side");
        assert_eq!(self.names(edge(0)), holds, "if {branch} holds");
        assert_eq!(self.names(edge(1)), fails, "if {branch} does not hold");
        let earlier = self.order.before(program, stmt);
        assert_eq!(self.names(earlier), before, "before {branch}");
    }
}

#[test]
fn within_a_function_edges_decide() {
    let marked = Marked::new(
        "int main(int n, char **v) {
            puts(\"\"); /*+first*/
            if (n > 1) { /*?b*/
                puts(\"a\"); /*+a*/
            } else {
                if (n > 0) /*?c*/
                    puts(\"b\"); /*+b*/
                return 1;
            }
            while (n--) /*?loop*/
                puts(\"l\"); /*+l*/
            puts(\"end\"); /*+end*/
            return 0;
        }",
    );
    marked.check("b", "a end l", "b", "first");
    marked.check("c", "b", "", "first");
    marked.check("loop", "end l", "end", "a first l");
}

#[test]
fn what_was_entered_is_left_only_to_where_it_was_called() {
    let marked = Marked::new(
        "void leaf(int x) {
            if (x) /*?leaf*/
                puts(\"leaf\"); /*+leaf*/
        }
        void a(int x) {
            if (x) /*?a*/
                leaf(x);
            puts(\"a\"); /*+a*/
        }
        int main(int n, char **v) {
            if (n > 1) { /*?main*/
                a(n);
                return 0;
            }
            leaf(n);
            puts(\"end\"); /*+end*/
            return 1;
        }",
    );
    // `leaf` returns to `a` here, not to `main`.
    marked.check("main", "a leaf", "end leaf", "");
    marked.check("a", "a leaf", "a", "");
    // Who called is not known here.
    marked.check("leaf", "a end leaf", "a end", "");
}

#[test]
fn what_a_call_has_done_precedes_what_follows_it() {
    let marked = Marked::new(
        "void work(int x) {
            puts(\"w\"); /*+w*/
            if (x)
                exit(puts(\"exit\")); /*+exit*/
        }
        int main(int n, char **v) {
            if (n == 7) /*?b*/
                work(n);
            if (n == 8) /*?c*/
                puts(\"c\"); /*+c*/
            return 0;
        }",
    );
    marked.check("b", "c exit w", "c", "");
    // From `exit` there is no way here.
    marked.check("c", "c", "", "w");
}

#[test]
fn functions_that_never_come_back_end_the_way() {
    let marked = Marked::new(
        "void die(void) { puts(\"die\"); exit(1); } /*+die*/
        void fatal(int x) {
            if (x) /*?f*/
                puts(\"x\"); /*+x*/
            die();
        }
        int main(int n, char **v) {
            if (n > 1) /*?m*/
                fatal(n);
            puts(\"end\"); /*+end*/
            return 0;
        }",
    );
    marked.check("m", "die x", "end", "");
    marked.check("f", "die x", "die", "");
}

#[test]
fn recursion_comes_back_to_itself() {
    let marked = Marked::new(
        "void down(int x) {
            if (x == 3) /*?three*/
                puts(\"three\"); /*+three*/
            if (x > 0) /*?deeper*/
                down(x - 1);
            if (x == 9) /*?nine*/
                puts(\"nine\"); /*+nine*/
        }
        int main(int n, char **v) {
            down(n);
            return 0;
        }",
    );
    marked.check("three", "nine three", "nine three", "three");
    // After a return, control goes on in another call of the same function.
    marked.check("deeper", "nine three", "nine", "three");
    marked.check("nine", "nine", "nine", "nine three");
}

#[test]
fn pointers_lead_to_functions_of_their_type() {
    let marked = Marked::new(
        "typedef int (*one)(int);
        int f(int x) { return puts(\"f\"); } /*+f*/
        int g(int x) { return puts(\"g\"); } /*+g*/
        int other(char *a, char *b) { return puts(\"o\"); } /*+o*/
        int never(int x) { return puts(\"n\"); } /*+n*/
        one table[2] = {f, g};
        int (*unused)(char *, char *) = other;
        int main(int n, char **v) {
            if (n > 1) /*?b*/
                return table[n & 1](n);
            return 0;
        }",
    );
    marked.check("b", "f g", "", "");
}

#[test]
fn what_the_library_calls_back_is_called_again() {
    let marked = Marked::new(
        "int compare(const void *a, const void *b) {
            puts(\"c1\"); /*+c1*/
            if (a < b) /*?less*/
                return -1;
            puts(\"c2\"); /*+c2*/
            return 1;
        }
        int main(int n, char **v) {
            if (n > 1) /*?b*/
                qsort(v, n, sizeof *v, compare);
            if (bsearch(v, v, n, sizeof *v, compare)) /*?c*/
                puts(\"found\"); /*+found*/
            return 0;
        }",
    );
    marked.check("b", "c1 c2 found", "c1 c2 found", "");
    marked.check("c", "found", "", "c1 c2");
    marked.check("less", "c1 c2 found", "c1 c2 found", "c1 c2");
}

#[test]
fn what_runs_at_the_end_follows_everything() {
    let marked = Marked::new(
        "int state;
        void bye(void) {
            if (state) /*?bye*/
                puts(\"bye\"); /*+bye*/
        }
        __attribute__((destructor)) void last(void) { puts(\"last\"); } /*+last*/
        int main(int n, char **v) {
            atexit(bye);
            if (n > 1) /*?b*/
                exit(3);
            puts(\"m\"); /*+m*/
            return 0;
        }",
    );
    marked.check("b", "bye last", "bye last m", "bye last");
    // Where a handler was called from is not known.
    marked.check("bye", "bye last m", "bye last m", "bye last m");
}

#[test]
fn handlers_of_signals_run_at_any_time() {
    let text = |install: &str| {
        format!(
            "int seen;
            void on(int sig) {{ seen = 1; }} /*+on*/
            void helper(int sig) {{ seen = 2; }} /*+helper*/
            int main(int n, char **v) {{
                {install}
                if (n > 1) /*?b*/
                    return 1;
                return seen;
            }}"
        )
    };
    let signal = Marked::new(&text("signal(SIGINT, on);"));
    signal.check("b", "on", "on", "on");
    let action = "struct sigaction a = {.sa_handler = on}; sigaction(SIGINT, &a, NULL);";
    Marked::new(&text(action)).check("b", "on", "on", "on");
    Marked::new(&text("")).check("b", "", "", "");
}

#[test]
fn long_jumps_lead_to_where_they_were_set() {
    let marked = Marked::new(
        "jmp_buf b;
        void fail(int x) {
            if (x) /*?f*/
                longjmp(b, 1);
        }
        int main(int n, char **v) {
            puts(\"early\"); /*+early*/
            if (setjmp(b)) { /*?set*/
                puts(\"failed\"); /*+failed*/
                return 1;
            }
            if (n > 1) /*?m*/
                fail(n);
            puts(\"end\"); /*+end*/
            return 0;
        }",
    );
    // The jump may lead to either side once more.
    marked.check("f", "end failed", "end", "early");
    marked.check("m", "end failed", "end", "early");
    marked.check("set", "failed", "end failed", "early");
}

#[test]
fn unknown_code_may_jump_if_a_jump_was_set() {
    let marked = Marked::new(
        "void library(void); jmp_buf b;
        int main(int n, char **v) {
            if (setjmp(b)) {
                puts(\"failed\"); /*+failed*/
                return 1;
            }
            if (n > 1) /*?m*/
                library();
            return 0;
        }",
    );
    marked.check("m", "failed", "", "");
}

#[test]
fn dead_functions_lead_nowhere() {
    let marked = Marked::new(
        "void shared(int x) {
            if (x) /*?s*/
                puts(\"s\"); /*+s*/
        }
        void unused(int x) {
            shared(x);
            puts(\"u\"); /*+u*/
        }
        int main(int n, char **v) {
            shared(n);
            return 0;
        }",
    );
    marked.check("s", "s", "", "");
}

#[test]
fn threads_and_forks_run_beside() {
    let thread = Marked::new(
        "#include <pthread.h>
        void *work(void *x) { puts(\"w\"); return x; } /*+w*/
        int main(int n, char **v) {
            pthread_t t;
            pthread_create(&t, NULL, work, NULL);
            if (n > 1) /*?b*/
                return 1;
            return 0;
        }",
    );
    thread.check("b", "w", "w", "w");
    let fork = Marked::new(
        "int main(int n, char **v) {
            puts(\"early\"); /*+early*/
            if (fork() == 0)
                return puts(\"child\"); /*+child*/
            if (n > 1) /*?b*/
                return 1;
            return 0;
        }",
    );
    fork.check("b", "child", "child", "child early");
}

#[test]
fn a_program_may_start_itself_again() {
    let marked = Marked::new(
        "int main(int n, char **v) {
            if (n > 3) /*?a*/
                return puts(\"third\"); /*+third*/
            if (n > 1) /*?b*/
                return execv(v[0], v);
            return 0;
        }",
    );
    marked.check("b", "third", "", "");
}

#[test]
fn assembler_calls_what_it_names() {
    let marked = Marked::new(
        "void hidden(void) { puts(\"h\"); } /*+h*/
        int main(int n, char **v) {
            if (n > 1) /*?b*/
                __asm__ volatile(\"call hidden\" ::: \"memory\");
            if (n > 2) /*?c*/
                __asm__ volatile(\"\" ::: \"memory\");
            return 0;
        }",
    );
    marked.check("b", "h", "", "");
    marked.check("c", "", "", "h");
}

#[test]
fn libraries_without_main_can_be_entered_anywhere() {
    let marked = Marked::new(
        "void a(int x) {
            if (x) /*?a*/
                return;
            puts(\"a\"); /*+a*/
        }
        void b(void) { puts(\"b\"); } /*+b*/",
    );
    marked.check("a", "a b", "a b", "a b");
}
