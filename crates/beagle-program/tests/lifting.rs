//! What C becomes: names, places, types and statements of the model.

mod support;

use beagle_program::{BinaryOp, Const, Op, Operand, Type};
use support::{Case, lift};

/// The fields of a structure as `name@offset`.
fn fields(case: &Case, name: &str) -> Vec<String> {
    let fields = case.structure(name).fields.iter();
    let named =
        fields.filter_map(|field| Some(format!("{}@{}", field.name.as_ref()?, field.offset)));
    named.collect()
}

fn has(case: &Case, marker: &str, wanted: impl Fn(Op) -> bool) -> bool {
    let stmts = case.marked(marker);
    stmts.iter().any(|&stmt| wanted(case.program.stmt(stmt).op))
}

#[test]
fn functions_have_the_name_and_line_of_the_source() {
    let case = lift(
        "static int helper(int a) { return a; } /*helper*/
        int outer(void);
        int (*keep)(int) = helper;
        int main(void) { return helper(1) + outer(); } /*main*/",
    );
    let main = case.program.function(case.function("main"));
    assert_eq!(main.line, case.line("main"));
    assert!(!main.is_static && main.is_defined() && !main.address_taken);
    let helper = case.program.function(case.function("helper"));
    assert_eq!(helper.line, case.line("helper"));
    assert!(helper.is_static && helper.address_taken);
    let outer = case.program.function(case.function("outer"));
    assert!(!outer.is_defined() && outer.entry().is_none() && !outer.address_taken);
    let file = case.program.file(main.file.expect("a file"));
    assert!(file.ends_with("main.c"), "{file}");
}

#[test]
fn locals_and_parameters_have_names_types_and_lines() {
    let case = lift(
        "struct point { int x; };
        int f(char **names, struct point p) { /*params*/
            unsigned long total[4]; /*total*/
            { int names = 2; total[0] = names; } /*inner*/
            return p.x;
        }",
    );
    let function = case.program.function(case.function("f"));
    let named: Vec<_> = function
        .locals
        .iter()
        .filter_map(|local| Some((local.name.as_deref()?, &local.type_name[..], local.line)))
        .collect();
    let (params, total, inner) = (case.line("params"), case.line("total"), case.line("inner"));
    assert!(named.contains(&("names", "char * *", params)), "{named:?}");
    assert!(named.contains(&("p", "struct point", params)), "{named:?}");
    assert!(
        named.contains(&("total", "unsigned long[]", total)),
        "{named:?}"
    );
    assert!(named.contains(&("names", "int", inner)), "{named:?}");
}

#[test]
fn fields_have_names_and_offsets() {
    let case = lift(
        "struct inner { char c; double d; };
        struct outer { int a; struct inner in; char tail[3]; } o;
        typedef struct { short s; long l; } anonymous;
        anonymous t;
        struct __attribute__((packed)) tight { char c; int i; } p;
        int main(void) { return o.a + t.s + p.i; }",
    );
    assert_eq!(fields(&case, "struct outer"), ["a@0", "in@8", "tail@24"]);
    assert_eq!(case.structure("struct outer").size, 32);
    assert_eq!(fields(&case, "struct inner"), ["c@0", "d@8"]);
    assert_eq!(fields(&case, "struct anonymous"), ["s@0", "l@8"]);
    assert_eq!(fields(&case, "struct tight"), ["c@0", "i@1"]);
    assert_eq!(case.structure("struct tight").size, 5);
}

#[test]
fn unions_and_bit_fields_keep_what_can_be_named() {
    let case = lift(
        "union u { int i; char bytes[8]; double d; } u;
        struct bits { unsigned a : 3, b : 5; int whole; } b;
        int main(void) { return u.i + b.b + b.whole; }",
    );
    assert_eq!(case.structure("union u").size, 8);
    let bits = fields(&case, "struct bits");
    assert!(bits.contains(&"whole@4".to_owned()), "{bits:?}");
}

#[test]
fn structures_of_two_shapes_and_one_name_are_kept_apart() {
    let case = lift(
        "int f(void) { struct s { int first, second; } v = {1, 2}; return v.second; }
        int g(void) { struct s { char *name; long size; } v = {0, 2}; return v.size; }",
    );
    let shapes = case.program.structs.iter().filter(|s| s.name == "struct s");
    let sizes: Vec<_> = shapes.map(|s| s.size).collect();
    assert_eq!(sizes, [8, 16]);
}

#[test]
fn literals_are_globals_known_by_their_bytes() {
    let case = lift("const char *greet(void) { return \"hello\"; } /*here*/");
    let literals = case.program.globals.iter().filter(|g| g.is_literal);
    let contents: Vec<_> = literals
        .map(|global| match global.initial {
            Some(Operand::Const(id)) => case.program.constant(id).clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(contents, [Const::Bytes(b"hello\0".to_vec())]);
}

#[test]
fn static_locals_are_globals_with_their_own_name() {
    let case = lift(
        "int a(void) { static int count = 3; return count++; } /*a*/
        int b(void) { static int count = 4; return count++; } /*b*/
        extern int elsewhere; int c(void) { return elsewhere; }",
    );
    let counts = case.program.globals.iter().filter(|g| g.name == "count");
    let lines: Vec<_> = counts.map(|g| (g.line, g.is_static)).collect();
    assert_eq!(lines, [(case.line("a"), true), (case.line("b"), true)]);
    let mut globals = case.program.globals.iter();
    let elsewhere = globals.find(|g| g.name == "elsewhere");
    assert!(elsewhere.is_some_and(|g| g.initial.is_none() && !g.is_static));
}

#[test]
fn statements_stand_where_the_source_has_them() {
    let case = lift(
        "int main(int argc, char **argv) {
            int a = argc * 2; /*mul*/
            return a - 1; /*sub*/
        }",
    );
    assert!(has(&case, "mul", |op| op == Op::Binary(BinaryOp::Mul)));
    assert!(has(&case, "sub", |op| op == Op::Binary(BinaryOp::Sub)));
    let stmt = case.marked("mul")[0];
    let place = case.program.stmt(stmt).place.expect("a place");
    assert!(place.column > 1);
}

#[test]
fn a_switch_lists_its_cases_beside_its_successors() {
    let case = lift(
        "int f(int x) {
            switch (x) { /*switch*/
            case 3: return 1;
            case 7: return 2;
            default: return 0;
            }
        }",
    );
    let stmts = case.marked("switch");
    let is_switch = |&&stmt: &&_| case.program.stmt(stmt).op == Op::Switch;
    let switch = *stmts.iter().find(is_switch).expect("a switch");
    let operands = case.program.operands(switch);
    let block = case.program.block(case.program.stmt(switch).block);
    assert_eq!(operands.len(), 3);
    assert_eq!(block.successors.len(), 3);
    let value = |operand: &Operand| match operand {
        Operand::Const(id) => case.program.constant(*id).clone(),
        other => panic!("{other:?}"),
    };
    let (width, bits) = (32, 7);
    assert_eq!(value(&operands[2]), Const::Int { width, bits });
}

#[test]
fn a_branch_has_one_operand_and_two_successors() {
    let case = lift("int f(int x) {\n if (x) /*if*/\n return 1;\n return 2; }");
    let stmts = case.marked("if");
    let last = *stmts.last().expect("a statement");
    assert_eq!(case.program.stmt(last).op, Op::Branch);
    assert_eq!(case.program.operands(last).len(), 1);
    let block = case.program.stmt(last).block;
    assert_eq!(case.program.block(block).successors.len(), 2);
}

#[test]
fn ternaries_have_a_value_for_each_way() {
    let case = lift("int f(int x, int y) {\n return x ? x + 1 : y; /*phi*/\n}");
    assert!(has(&case, "phi", |op| op == Op::Phi));
    let phi = case.marked("phi").into_iter();
    let phi: Vec<_> = phi
        .filter(|&s| case.program.stmt(s).op == Op::Phi)
        .collect();
    let operands = case.program.operands(phi[0]);
    assert_eq!(operands.len(), 4);
    assert!(matches!(operands[1], Operand::Block(_)));
    assert!(matches!(operands[3], Operand::Block(_)));
}

#[test]
fn calls_name_their_callee_and_arguments() {
    let case = lift(
        "int puts(const char *);
        int f(int (*p)(const char *)) {
            puts(\"a\"); /*direct*/
            return p(\"b\"); /*indirect*/
        }",
    );
    let call = |marker| {
        let stmts = case.marked(marker).into_iter();
        let mut calls = stmts.filter(|&s| case.program.callee(s).is_some());
        calls.next().expect("a call")
    };
    let puts = case.function("puts");
    assert_eq!(case.program.called_function(call("direct")), Some(puts));
    assert_eq!(case.program.arguments(call("direct")).len(), 1);
    assert_eq!(case.program.called_function(call("indirect")), None);
    assert_eq!(case.program.arguments(call("indirect")).len(), 1);
}

#[test]
fn differences_of_pointers_are_no_divisions() {
    let case = lift(
        "long f(int *a, int *b) {
            return a - b; /*pointers*/
        }
        long g(long a, long b) {
            return a / b; /*numbers*/
        }",
    );
    assert!(has(&case, "pointers", |op| op == Op::PointerDifference));
    assert!(has(&case, "numbers", |op| op == Op::Binary(BinaryOp::SDiv)));
}

#[test]
fn constants_are_exact() {
    let case = lift(
        "__int128 big(void) { return (__int128)1 << 100; } /*wide*/
        double third(void) {
            return 0.1; /*float*/
        }
        long negative(void) {
            return -2; /*negative*/
        }",
    );
    let constants = |marker: &str| -> Vec<Const> {
        let stmts = case.marked(marker).into_iter();
        let operands = stmts.flat_map(|s| case.program.operands(s).to_vec());
        let constants = operands.filter_map(|operand| match operand {
            Operand::Const(id) => Some(case.program.constant(id).clone()),
            _ => None,
        });
        constants.collect()
    };
    let (width, bits) = (64, u128::from(u64::MAX - 1));
    assert!(constants("negative").contains(&Const::Int { width, bits }));
    let (width, bits) = (128, 1 << 100);
    assert!(constants("wide").contains(&Const::Int { width, bits }));
    assert!(matches!(&constants("float")[..], [Const::Float(text)] if !text.is_empty()));
}

#[test]
fn volatile_accesses_are_marked() {
    let case = lift(
        "volatile int v; int w; _Atomic int a;
        int f(void) {
            v = 1; /*volatile*/
            w = 1; /*plain*/
            a = 1; /*atomic*/
            return 0;
        }",
    );
    let store = |volatile| move |op| op == Op::Store { volatile };
    assert!(has(&case, "volatile", store(true)));
    assert!(has(&case, "plain", store(false)));
    assert!(has(&case, "atomic", store(true)));
}

#[test]
fn functions_that_return_twice_or_never_are_marked() {
    let case = lift(
        "#include <setjmp.h>
        _Noreturn void die(void); jmp_buf b;
        int main(void) { if (_setjmp(b)) die(); return 0; }",
    );
    assert!(case.program.function(case.function("die")).no_return);
    assert!(
        case.program
            .function(case.function("_setjmp"))
            .returns_twice
    );
}

#[test]
fn variadic_functions_have_a_variadic_type() {
    let case = lift("int f(int n, ...) { return n; } int g(int n) { return n; }");
    let variadic = |name| match case
        .program
        .ty(case.program.function(case.function(name)).ty)
    {
        Type::Function { variadic, .. } => *variadic,
        other => panic!("{other:?}"),
    };
    assert!(variadic("f") && !variadic("g"));
}

#[test]
fn labels_whose_address_is_taken_are_successors_of_computed_jumps() {
    let case = lift(
        "int f(int i) {
            void *to[] = { &&a, &&b };
            goto *to[i]; /*goto*/
        a: return 1;
        b: return 2;
        }",
    );
    let mut blocks = case.program.blocks.iter();
    let is_jump = |s| case.program.stmt(s).op == Op::ComputedJump;
    let block = blocks.find(|block| is_jump(block.terminator()));
    assert_eq!(block.expect("a computed jump").successors.len(), 2);
}

#[test]
fn assembler_at_the_top_level_is_kept() {
    let case = lift("__asm__(\".globl marker_symbol\"); int main(void) { return 0; }");
    assert!(case.program.assembler.contains("marker_symbol"));
}
