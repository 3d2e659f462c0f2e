//! Corners of C that must not be misread.

use super::{check, check_body, same};

#[test]
fn old_style_definition() {
    check(
        "int f(x, y) int x; char y; {\nreturn x + y;\n}",
        "int f(x, y) int x; char y; {\nreturn x - y;\n}",
        "modified f: -2 +2",
    );
}

#[test]
fn old_style_definition_becomes_a_new_one() {
    same(
        "int f(x, y) int x, y; { return x + y; }\nint g(void) { return f(1, 2); }",
        "int f(int x, int y) { return x + y; }\nint g(void) { return f(1, 2); }",
    );
}

#[test]
fn array_of_variable_length() {
    check_body(
        "int w[x];\nw[y] = 1;\ng(w[z]);",
        "int w[x + 1];\nw[y] = 1;\ng(w[z]);",
        "modified f: -4 +4",
    );
}

#[test]
fn array_of_variable_length_and_renamed_locals() {
    same(
        "int g(int *); int f(int n) { int w[n]; w[0] = n; return g(w); }",
        "int g(int *); int f(int m) { int t[m]; t[0] = m; return g(t); }",
    );
}

#[test]
fn assembler_in_a_function() {
    check_body("asm(\"nop\");", "asm(\"pause\");", "modified f: -4 +4");
}

#[test]
fn operands_of_assembler() {
    check_body(
        "asm(\"mov %1, %0\" : \"=r\"(x) : \"r\"(y));",
        "asm(\"mov %1, %0\" : \"=r\"(x) : \"r\"(z));",
        "modified f: -4 +4",
    );
}

#[test]
fn assembler_outside_of_functions() {
    check("asm(\".globl x\");", "asm(\".globl y\");", "modified asm:");
}

#[test]
fn compound_literal() {
    check(
        "struct p { int x, y; };\nint g(struct p *);\nint f(int n) {\nreturn g(&(struct p){ n, 2 });\n}",
        "struct p { int x, y; };\nint g(struct p *);\nint f(int n) {\nreturn g(&(struct p){ n, 3 });\n}",
        "modified f: -4 +4",
    );
}

#[test]
fn constant_compound_literal() {
    check(
        "int g(const int *);\nint f(void) {\nreturn g((const int[]){ 1, 2, 3, 4, 5 });\n}",
        "int g(const int *);\nint f(void) {\nreturn g((const int[]){ 1, 2, 3, 4, 6 });\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn structure_by_value() {
    check(
        "struct p { int x, y; } k, m;\nint g(struct p);\nint f(void) {\nreturn g(k);\n}",
        "struct p { int x, y; } k, m;\nint g(struct p);\nint f(void) {\nreturn g(m);\n}",
        "modified f: -4 +4",
    );
}

#[test]
fn member_of_a_structure_parameter() {
    check(
        "struct p { int x, y; };\nint f(struct p p) {\nreturn p.x;\n}",
        "struct p { int x, y; };\nint f(struct p p) {\nreturn p.y;\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn structure_as_result() {
    check(
        "struct p { long x, y, z; };\nstruct p f(long n) {\nreturn (struct p){ n, 0, 1 };\n}",
        "struct p { long x, y, z; };\nstruct p f(long n) {\nreturn (struct p){ n, 0, 2 };\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn statement_expression() {
    check_body(
        "a = ({ int i = x; i + 1; });",
        "a = ({ int i = x; i + 2; });",
        "modified f: -4 +4",
    );
}

#[test]
fn variadic_definition() {
    check(
        "#include <stdarg.h>\nint f(int n, ...) { va_list l; va_start(l, n);\nint s = va_arg(l, int);\nva_end(l); return s; }",
        "#include <stdarg.h>\nint f(int n, ...) { va_list l; va_start(l, n);\nint s = va_arg(l, long);\nva_end(l); return s; }",
        "modified f: -3 +3",
    );
}

#[test]
fn atomic_update() {
    check_body(
        "__sync_fetch_and_add(&a, 1);",
        "__sync_fetch_and_sub(&a, 1);",
        "modified f: -4 +4",
    );
}

#[test]
fn complex_numbers() {
    check(
        "double f(_Complex double z) {\nreturn __real__(z * z);\n}",
        "double f(_Complex double z) {\nreturn __imag__(z * z);\n}",
        "modified f: -2 +2",
    );
}
