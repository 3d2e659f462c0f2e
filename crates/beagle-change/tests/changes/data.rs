//! What is a change: constants and data.

use super::{check, check_body};

#[test]
fn macro_constant_at_every_use() {
    check(
        "
#define LIMIT 10
int f(int x) { return x < LIMIT; }
int g(int x) { return x + 1; }
int h(int x) {
    x += 1;
    return x * LIMIT;
}
int table[LIMIT];",
        "
#define LIMIT 11
int f(int x) { return x < LIMIT; }
int g(int x) { return x + 1; }
int h(int x) {
    x += 1;
    return x * LIMIT;
}
int table[LIMIT];",
        "modified f: -2 +2
         modified h: -6 +6
         modified table: -8 +8",
    );
}

#[test]
fn macro_with_code() {
    check(
        "#define NEXT(x) ((x) + 1)\nint f(int x) {\nreturn NEXT(x);\n}",
        "#define NEXT(x) ((x) + 2)\nint f(int x) {\nreturn NEXT(x);\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn header_constant_in_every_file() {
    check(
        "
//- limits.h
#define MAX 5
//- a.c
#include \"limits.h\"
int f(int x) { return x < MAX; }
//- b.c
#include \"limits.h\"
int g(int x) { return x == MAX; }
int h(int x) { return x; }",
        "
//- limits.h
#define MAX 6
//- a.c
#include \"limits.h\"
int f(int x) { return x < MAX; }
//- b.c
#include \"limits.h\"
int g(int x) { return x == MAX; }
int h(int x) { return x; }",
        "modified f: -a.c:2 +a.c:2
         modified g: -b.c:2 +b.c:2",
    );
}

#[test]
fn enum_constant() {
    check(
        "enum e { A, B, C };\nint f(enum e e) {\nif (e == A) return 1;\nreturn e == C;\n}",
        "enum e { A, B, X, C };\nint f(enum e e) {\nif (e == A) return 1;\nreturn e == C;\n}",
        "modified f: -4 +4",
    );
}

#[test]
fn constant_of_a_condition() {
    check_body(
        "if (x < 10) g(x);",
        "if (x < 11) g(x);",
        "modified f: -4 +4",
    );
}

#[test]
fn float_constant() {
    check_body("e = e * 0.1;", "e = e * 0.2;", "modified f: -4 +4");
}

#[test]
fn float_constant_in_single_precision() {
    check_body("e = e * 0.1;", "e = e * 0.1f;", "modified f: -4 +4");
}

#[test]
fn wide_integer_constant() {
    check_body(
        "l = ((__int128)1 << 100) + x >> 90;",
        "l = ((__int128)1 << 101) + x >> 90;",
        "modified f: -4 +4",
    );
}

#[test]
fn format_string() {
    check_body("v(\"%d\\n\", x);", "v(\"%u\\n\", x);", "modified f: -4 +4");
}

#[test]
fn string_with_one_more_zero() {
    check_body("v(\"\");", "v(\"\\0\");", "modified f: -4 +4");
}

#[test]
fn initial_value() {
    check(
        "int a = 1, b = 2;\nint c;",
        "int a = 1, b = 3;\nint c;",
        "modified b: -1 +1",
    );
}

#[test]
fn initial_value_that_was_zero() {
    check("int a;", "int a = 1;", "modified a: -1 +1");
}

#[test]
fn one_entry_of_a_table() {
    check(
        "int t[] = {\n1,\n2,\n3,\n};",
        "int t[] = {\n1,\n2,\n4,\n};",
        "modified t: -4 +4",
    );
}

#[test]
fn entries_of_a_table_are_swapped() {
    check(
        "int t[] = { 1, 2, 3 };",
        "int t[] = { 1, 3, 2 };",
        "modified t: -1 +1",
    );
}

#[test]
fn table_of_strings() {
    check(
        "const char *t[] = { \"a\", \"b\" };",
        "const char *t[] = { \"a\", \"c\" };",
        "modified t: -1 +1",
    );
}

#[test]
fn table_of_functions() {
    check(
        "
static int f(int x) { return x; }
static int g(int x) { return -x; }
int (*t[])(int) = { f, g };",
        "
static int f(int x) { return x; }
static int g(int x) { return -x; }
int (*t[])(int) = { g, f };",
        "modified t: -3 +3",
    );
}

#[test]
fn field_in_an_initialiser() {
    check(
        "struct s { int a, b; } s = { .a = 1 };",
        "struct s { int a, b; } s = { .b = 1 };",
        "modified s: -1 +1",
    );
}

#[test]
fn initialiser_of_a_static_local() {
    check(
        "int f(void) {\nstatic int n = 1;\nreturn n++;\n}",
        "int f(void) {\nstatic int n = 2;\nreturn n++;\n}",
        "modified n: -2 +2",
    );
}

#[test]
fn initialiser_of_a_local_array() {
    check_body(
        "int w[] = { 1, 2, 3, 4 }; g(w[x]);",
        "int w[] = { 1, 2, 5, 4 }; g(w[x]);",
        "modified f: -4 +4",
    );
}

#[test]
fn size_of_a_global_array() {
    check(
        "int t[10];\nint *f(int i) { return &t[i]; }",
        "int t[11];\nint *f(int i) { return &t[i]; }",
        "modified t: -1 +1",
    );
}

#[test]
fn size_of_a_local_array() {
    check_body(
        "char w[10]; w[x] = 1; g(w[y]);",
        "char w[11]; w[x] = 1; g(w[y]);",
        "modified f: -4 +4",
    );
}

#[test]
fn inner_size_of_an_array_parameter() {
    check(
        "int f(int t[][4], int i, int j) {\nreturn t[i][j];\n}",
        "int f(int t[][5], int i, int j) {\nreturn t[i][j];\n}",
        "modified f: -2 +2",
    );
}

#[test]
fn variable_is_new_and_another_is_gone() {
    check("int a = 1;", "long b = 2;", "deleted a: -1\nadded b: +1");
}
