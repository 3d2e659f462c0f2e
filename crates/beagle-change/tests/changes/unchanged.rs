//! What is no change.

use super::{check, check_body, same};

#[test]
fn comments_and_formatting() {
    same(
        "int g(int);\nint f(int x) { if (x > 3) return g(x) + 1; return x; }",
        "
int g(int);
/* f is the function
   that everybody knows */
int f(int x)
{
    // more than three
    if (x > 3)
        return g(x)
               + 1;

    return x;
}",
    );
}

#[test]
fn braces_and_parentheses() {
    check_body(
        "if (x > 3) g(x); while (y) y = y - 1 * z;",
        "if ((x) > (3)) { g(x); } while (y) { y = (y - (1 * z)); }",
        "",
    );
}

#[test]
fn locals_and_parameters_get_other_names() {
    same(
        "int f(int a, int b) { int sum = a; for (int i = 0; i < b; i++) sum += i; return sum; }",
        "int f(int x, int n) { int s = x; for (int k = 0; k < n; k++) s += k; return s; }",
    );
}

#[test]
fn locals_exchange_their_names() {
    same(
        "int f(int a, int b) { int c = a - b; int d = c * a; return d - c; }",
        "int f(int b, int a) { int d = b - a; int c = d * b; return c - d; }",
    );
}

#[test]
fn functions_in_another_order() {
    same(
        "
static int one(void) { return 1; }
static int two(void) { return 2 + one(); }
const char *name(void) { return \"first\"; }
const char *other(void) { return \"second\"; }
int main(void) { return two(); }",
        "
static int two(void);
int main(void) { return two(); }
const char *other(void) { return \"second\"; }
static int one(void) { return 1; }
const char *name(void) { return \"first\"; }
static int two(void) { return 2 + one(); }",
    );
}

#[test]
fn function_moves_to_another_file() {
    same(
        "
//- a.c
int limit = 3;
static int twice(int x) { return 2 * x; }
int f(int x) { return twice(x); }
//- b.c
int f(int);
int main(void) { return f(1); }",
        "
//- a.c
int f(int);
int main(void) { return f(1); }
//- b.c
int limit = 3;
static int twice(int x) { return 2 * x; }
int f(int x) { return twice(x); }",
    );
}

#[test]
fn static_functions_of_one_name_in_two_files() {
    check(
        "
//- a.c
static int step(int x) { return x + 1; }
int f(int x) { return step(x); }
//- b.c
static int step(int x) { return x + 2; }
int g(int x) { return step(x); }",
        "
//- b.c
static int step(int x) { return x + 3; }
int g(int x) { return step(x); }
//- a.c
static int step(int x) { return x + 1; }
int f(int x) { return step(x); }",
        "modified step: -b.c:1 +b.c:1",
    );
}

#[test]
fn string_literals_are_known_by_what_they_say() {
    check(
        "
int v(const char *);
void f(void) { v(\"one\"); }
void g(void) { v(\"two\"); v(\"three\"); }",
        "
int v(const char *);
void e(void) { v(\"zero\"); }
void f(void) { v(\"one\"); }
void g(void) { v(\"two\"); v(\"three\"); }",
        "added e: +2",
    );
}

#[test]
fn assertion_moves() {
    same(
        "
#include <assert.h>
void f(int x) {
    assert(x > 0);
}",
        "
#include <assert.h>

/* More room. */
void f(int x) {

    assert(x > 0);
}",
    );
}

#[test]
fn assertion_over_several_lines_moves() {
    same(
        "
#include <assert.h>
void f(int x, int y) {
    assert(x > 0 &&
           y > 0);
}",
        "
#include <assert.h>


void f(int x, int y) {
    assert(x > 0 &&
           y > 0);
}",
    );
}

#[test]
fn assertion_changes_at_the_same_line() {
    check(
        "
#include <assert.h>
void f(int x) {
    assert(x > 3);
}",
        "
#include <assert.h>
void f(int x) {
    assert(x > 4);
}",
        "modified f: -3 +3",
    );
}

#[test]
fn number_that_happens_to_be_that_of_its_line() {
    let program = |space: &str, number: u32| {
        format!(
            "void die(int);
             #define CHECK(x) do {{ if (!(x)) die(__LINE__); }} while (0)
             void f(int x) {{{space}
             CHECK(x > {number}); }}"
        )
    };
    check(&program("", 4), &program("\n", 5), "modified f: -4 +5");
}

#[test]
fn own_macro_with_the_line_moves() {
    same(
        "
void die(const char *, int, const char *);
#define HERE __FILE__, __LINE__
#define CHECK(x) do { if (!(x)) die(HERE, #x); } while (0)
void f(int x) { CHECK(x); int line = __LINE__; die(\"\", line, \"\"); }",
        "
void die(const char *, int, const char *);

#define HERE __FILE__, __LINE__

#define CHECK(x) do { if (!(x)) die(HERE, #x); } while (0)
void f(int x) { CHECK(x); int line = __LINE__; die(\"\", line, \"\"); }",
    );
}

#[test]
fn number_that_looks_like_a_line_without_a_macro() {
    check(
        "
void g(int);
void f(void) { g(2); }",
        "
void g(int);

void f(void) { g(3); }",
        "modified f: -2 +3",
    );
}

#[test]
fn static_function_gets_another_name() {
    same(
        "
static int weigh(int x) { if (x < 0) return -x; return 3 * x; }
int f(int x) { return weigh(x) + weigh(-x); }",
        "
static int weight_of(int x) { if (x < 0) return -x; return 3 * x; }
int f(int x) { return weight_of(x) + weight_of(-x); }",
    );
}

#[test]
fn recursive_function_gets_another_name() {
    same(
        "
static int fac(int n) { return n < 2 ? 1 : n * fac(n - 1); }
int f(int x) { return fac(x); }",
        "
static int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
int f(int x) { return factorial(x); }",
    );
}

#[test]
fn functions_that_call_each_other_get_other_names() {
    same(
        "
static int odd(int);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int f(int x) { return even(x); }",
        "
static int is_odd(int);
static int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
static int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }
int f(int x) { return is_even(x); }",
    );
}

#[test]
fn renamed_function_in_a_local_table() {
    same(
        "
static int inc(int x) { return x + 1; }
static int dec(int x) { return x - 1; }
int f(int i, int x) { int (*const table[])(int) = { inc, dec }; return table[i](x); }",
        "
static int increment(int x) { return x + 1; }
static int dec(int x) { return x - 1; }
int f(int i, int x) { int (*const table[])(int) = { increment, dec }; return table[i](x); }",
    );
}

#[test]
fn renamed_function_in_a_global_table() {
    same(
        "
static int inc(int x) { return x + 1; }
static int dec(int x) { return x - 1; }
static int (*const table[])(int) = { inc, dec };
int f(int i, int x) { return table[i](x); }",
        "
static int increment(int x) { return x + 1; }
static int dec(int x) { return x - 1; }
static int (*const table[])(int) = { increment, dec };
int f(int i, int x) { return table[i](x); }",
    );
}

#[test]
fn global_gets_another_name() {
    same(
        "static int count = 7; int f(void) { return count++; }",
        "static int seen = 7; int f(void) { return seen++; }",
    );
}

#[test]
fn static_local_gets_another_name() {
    same(
        "int f(void) { static int count = 7; return count++; }",
        "int f(void) { static int seen = 7; return seen++; }",
    );
}

#[test]
fn early_return_does_not_touch_the_old_one() {
    check(
        "
int g(int);
int f(int x) {
    return g(x);
}",
        "
int g(int);
int f(int x) {
    if (x < 0)
        return 0;
    return g(x);
}",
        "added f: +3-4",
    );
}

#[test]
fn early_return_from_nothing() {
    check(
        "
void g(int);
void f(int x) {
    g(x);
}",
        "
void g(int);
void f(int x) {
    if (x < 0)
        return;
    g(x);
}",
        "added f: +3",
    );
}

#[test]
fn else_after_return() {
    check_body(
        "if (x) return 1; else return 2;",
        "if (x) return 1; return 2;",
        "",
    );
}

#[test]
fn cases_in_another_order() {
    check_body(
        "switch (x) { case 1: case 2: g(1); break; default: g(3); }",
        "switch (x) { case 2: case 1: g(1); break; default: g(3); }",
        "",
    );
}

#[test]
fn unused_variable() {
    check_body("g(x);", "int unused; g(x);", "");
}

#[test]
fn unused_address() {
    check_body("g(x);", "(void)&t[x]; g(x);", "");
}

#[test]
fn variable_moves_to_an_inner_block() {
    check_body(
        "int i; for (i = 0; i < x; i++) g(i);",
        "for (int i = 0; i < x; i++) g(i);",
        "",
    );
}

#[test]
fn type_with_another_name() {
    same(
        "unsigned f(unsigned x) { unsigned y = x / 2; return y; }",
        "typedef unsigned word; word f(word x) { word y = x / 2; return y; }",
    );
}

#[test]
fn constant_with_a_name() {
    same(
        "int f(int x) { return x * 60 + 'A'; }",
        "#define SECONDS (30 * 2)\nenum { LETTER = 65 };\nint f(int x) { return x * SECONDS + LETTER; }",
    );
}

#[test]
fn for_loop_instead_of_while() {
    check_body(
        "y = 0; while (y < x) { g(y); y++; }",
        "for (y = 0; y < x; y++) { g(y); }",
        "",
    );
}

#[test]
fn static_inline_does_not_matter() {
    same(
        "static int h(int x) { return x + 1; } int f(int x) { return h(x); }",
        "static inline int h(int x) { return x + 1; } int f(int x) { return h(x); }",
    );
}
