//! C that few programs use, and C++: everything is lifted and analysed, and the model stays sound.

mod support;

use beagle_program::{CallGraph, Dependence, Fact, Flow, Op, Operand, Program, StmtId};
use support::{Case, csmith, lift, lift_with};

/// What holds for every program.
#[track_caller]
fn check(case: &Case) {
    let program = &case.program;
    for (id, function) in program.functions() {
        for block in function.blocks() {
            check_block(program, block);
        }
        for stmt in program.function_stmts(id) {
            assert_eq!(program.function_of(stmt), id);
            for &operand in program.operands(stmt) {
                check_operand(program, stmt, operand);
            }
        }
        for local in &function.locals {
            assert_eq!(program.function_of(local.alloca), id);
            assert!(matches!(program.stmt(local.alloca).op, Op::Alloca(_)));
        }
    }
    analyse(program);
}

#[track_caller]
fn check_block(program: &Program, block: beagle_program::BlockId) {
    let data = program.block(block);
    assert!(!data.stmts.is_empty(), "an empty block");
    for stmt in data.stmts() {
        let is_last = stmt == data.terminator();
        let ends = matches!(
            program.stmt(stmt).op,
            Op::Jump
                | Op::Branch
                | Op::Switch
                | Op::ComputedJump
                | Op::Return
                | Op::Unreachable
                | Op::Invoke(_)
        );
        // Exceptions have terminators that the model has no name for.
        let unnamed = matches!(program.stmt(stmt).op, Op::Other(_));
        assert!(is_last == ends || (is_last && unnamed), "{stmt:?}");
        assert_eq!(program.stmt(stmt).block, block);
    }
    for &next in &data.successors {
        assert!(program.block(next).predecessors.contains(&block));
        assert_eq!(program.block(next).function, data.function);
    }
    for &previous in &data.predecessors {
        assert!(program.block(previous).successors.contains(&block));
    }
}

#[track_caller]
fn check_operand(program: &Program, stmt: StmtId, operand: Operand) {
    let id = program.function_of(stmt);
    match operand {
        Operand::Stmt(other) => assert_eq!(program.function_of(other), id),
        Operand::Block(block) => assert_eq!(program.block(block).function, id),
        Operand::Param(i) => match program.ty(program.function(id).ty) {
            beagle_program::Type::Function { params, .. } => assert!((i as usize) < params.len()),
            other => panic!("{other:?}"),
        },
        Operand::Function(function) => assert!(function.index() < program.functions.len()),
        Operand::Global(global) => assert!(global.index() < program.globals.len()),
        Operand::Const(constant) => assert!(constant.index() < program.constants.len()),
    }
}

/// Runs every analysis. A slice holds its own start.
#[track_caller]
fn analyse(program: &Program) {
    let calls = CallGraph::of(program);
    for (id, function) in program.functions() {
        if function.is_defined() {
            Flow::of(program, &calls, id).control(program, &calls);
        }
    }
    let dependence = Dependence::of(program);
    for stmt in (0..program.stmts.len() as u32).step_by(97).map(StmtId) {
        let start = [Fact::Stmt(stmt)];
        assert!(dependence.forward(&start).contains(stmt));
        assert!(dependence.backward(&start).contains(stmt));
    }
}

fn check_c(text: &str) {
    check(&lift(text));
}

#[test]
fn an_empty_file_is_a_program() {
    check_c("");
}

#[test]
fn wide_and_odd_numbers() {
    check_c(
        "__int128 m(__int128 a, unsigned __int128 b) { return a * 3 + (b >> 70); }
        long double l(long double x) { return x * 2.5L - 1; }
        _Complex double c(_Complex double x) { return x * x; }
        _Bool b(double d) { return d; }
        _Float16 h(_Float16 x) { return x; }
        typedef _BitInt(37) odd; odd o(odd x) { return x + 1; }",
    );
}

#[test]
fn vectors() {
    check_c(
        "typedef float v4 __attribute__((vector_size(16)));
        typedef int i4 __attribute__((vector_size(16)));
        v4 add(v4 a, v4 b) { return a + b; }
        float pick(v4 a, int i) { a[i] = 2; return a[i ^ 1]; }
        i4 mix(i4 a, i4 b) { return __builtin_shufflevector(a, b, 0, 5, 2, 7) & (a < b); }
        int main(void) { v4 v = {1, 2, 3, 4}; return pick(add(v, v), 1); }",
    );
}

#[test]
fn atomics_and_fences() {
    check_c(
        "#include <stdatomic.h>
        _Atomic(int *) shared; atomic_int n;
        int main(void) {
            int x = 0, *old = 0;
            atomic_fetch_add(&n, 2);
            atomic_compare_exchange_strong(&shared, &old, &x);
            atomic_thread_fence(memory_order_seq_cst);
            __sync_lock_test_and_set(&x, 1);
            return *atomic_load(&shared) + atomic_exchange(&n, 3);
        }",
    );
}

#[test]
fn computed_jumps_and_inline_assembler() {
    check_c(
        "int run(const char *code) {
            static void *table[] = { &&add, &&stop };
            int n = 0;
            goto *table[*code++ & 1];
        add: n++; goto *table[*code++ & 1];
        stop: return n;
        }
        int ticks(int x) {
            int y;
            asm volatile(\"mov %1, %0; add $1, %0\" : \"=r\"(y) : \"r\"(x) : \"cc\", \"memory\");
            asm goto(\"jmp %l0\" : : : : out);
            y = 0;
        out: return y;
        }",
    );
}

#[test]
fn variable_length_arrays_and_alloca() {
    check_c(
        "#include <alloca.h>
        int f(int n, int m, int a[n][m]) {
            char v[n], *w = alloca(m);
            for (int i = 0; i < n; i++) { int inner[i + 1]; inner[i] = i; v[i] = inner[i]; }
            w[0] = 1;
            return a[n - 1][m - 1] + sizeof(v) + v[0];
        }",
    );
}

#[test]
fn old_style_definitions_and_calls_without_declaration() {
    let text = "int later();
        old(a, b) int a; char *b; { return a + later(a, b, 3); }
        int later(a, b) int a; char *b; { return undeclared(a) + *b; }
        main() { return old(1, \"x\"); }";
    check(&lift_with("clang-19", "main.c", &["-std=gnu89"], text));
}

#[test]
fn long_jumps_and_nested_returns() {
    check_c(
        "#include <setjmp.h>
        jmp_buf b;
        void f(int n) { if (n > 3) longjmp(b, n); f(n + 1); }
        int main(void) { volatile int v = 1; int r = setjmp(b); if (!r) { v = 2; f(0); } return v + r; }",
    );
}

#[test]
fn aggregates_by_value_in_all_sizes() {
    check_c(
        "struct a { char c; }; struct b { double d; float f; }; struct c { long v[5]; };
        union u { float f; int i; };
        struct a fa(struct a x) { return x; } struct b fb(struct b x) { return x; }
        struct c fc(struct c x, ...) { return x; } union u fu(union u x) { return x; }
        int main(void) {
            struct a a = {1}; struct b b = {1, 2}; struct c c = {{1}}; union u u = {.i = 3};
            return fa(a).c + fb(b).f + fc(c, a, b, c).v[0] + fu(u).i
                + ((struct c){.v = {[3] = 2}}).v[3];
        }",
    );
}

#[test]
fn flexible_arrays_weak_symbols_aliases_and_sections() {
    check_c(
        "struct flex { int n; char data[]; } f = { 3, \"abc\" };
        struct packed { char c; int *p; } __attribute__((packed)) p = { 1, &f.n };
        void real(void) {} void other(void) __attribute__((alias(\"real\")));
        extern int maybe(void) __attribute__((weak));
        __thread int local = 3; int placed __attribute__((section(\"there\"))) = 4;
        static int loop(int n) { return n ? loop(n - 1) : 0; }
        int main(void) { other(); return (maybe ? maybe() : 0) + f.data[1] + local + *p.p + loop(2); }",
    );
}

#[test]
fn nested_loops_that_never_end() {
    check_c(
        "void spin(void) { for (;;) for (;;) ; }
        int half(int x) { if (x) { for (;;) x++; } return 2; }
        int main(int c, char **v) { if (c > 2) spin(); L: if (c) goto L; return half(c); }",
    );
}

#[test]
fn statement_expressions_ranges_and_generic_selection() {
    check_c(
        "#define max(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
        int kind(int c) { switch (c) { case 'a' ... 'z': return 1; case '0' ... '9': return 2; } return 0; }
        int main(int c, char **v) { return max(c, 3) + kind(c) + _Generic(c, int: 1, default: 2); }",
    );
}

#[test]
fn cpp_with_classes_templates_and_exceptions() {
    let text = "#include <string>
        #include <stdexcept>
        #include <vector>
        struct shape { virtual ~shape() {} virtual int area() const = 0; };
        struct square : shape { int a; square(int a) : a(a) {} int area() const override { return a * a; } };
        template <class T> T twice(T v) { return v + v; }
        int risky(int n) { if (n > 2) throw std::runtime_error(\"big\"); return n; }
        int main(int argc, char **argv) {
            std::vector<int> v{1, 2, 3};
            square s(argc);
            shape &r = s;
            try { std::string t(argv[0]); v.push_back(risky(argc) + (int)t.size()); }
            catch (const std::exception &e) { return e.what()[0]; }
            catch (...) { throw; }
            auto f = [&](int x) { return x + twice(v[0]); };
            return r.area() + f(2);
        }";
    check(&lift_with("clang++-19", "main.cc", &["-std=c++17"], text));
}

#[test]
fn an_exception_decides_about_its_handler() {
    let text = "extern \"C\" int puts(const char *);
        void risky(int n) { if (n > 2) throw 1; }
        int main(int argc, char **argv) {
            try {
                risky(argc); /*from*/
                puts(\"fine\"); /*fine*/
            } catch (int) { puts(\"caught\"); } /*caught*/
            return 0;
        }";
    let case = lift_with("clang++-19", "main.cc", &[], text);
    let dependence = Dependence::of(&case.program);
    let from: Vec<_> = case.marked("from").into_iter().map(Fact::Stmt).collect();
    let found = support::slices::lines(&case, &dependence.forward(&from));
    assert!(found.contains(&case.line("fine")), "{found:?}");
    assert!(found.contains(&case.line("caught")), "{found:?}");
}

#[test]
fn programs_that_csmith_makes_up() {
    std::thread::scope(|scope| {
        for half in [1..13, 13..26] {
            scope.spawn(move || half.for_each(|seed| check(&csmith::program(seed))));
        }
    });
}
