//! What counts as a change, and where it is. Each test is a rule, with two small programs that
//! show it and the changes between them: `modified f: -3 +3` is a change of function `f` in line 3.

mod support;

use support::{build, comparison, files, shown};

/// Compares two programs and expects these changes, one per line; nothing if they are the same.
/// A line `//- name.c` starts another file.
#[track_caller]
fn check(old: &str, new: &str, expected: &str) {
    let version = |text: &str| {
        let text = text.strip_prefix('\n').unwrap_or(text);
        build(&files(text)).unwrap_or_else(|why| panic!("does not compile: {why}"))
    };
    let (old, new) = (version(old), version(new));
    let found = shown(&old, &new, &comparison(&old, &new));
    let expected: Vec<_> = expected.trim().lines().map(str::trim).collect();
    let found_lines: Vec<_> = found.lines().collect();
    assert!(
        found_lines == expected,
        "expected:\n{}\nfound:\n{found}",
        expected.join("\n")
    );
    // The other way round there is something to report as well.
    let back = comparison(&new, &old);
    assert_eq!(back.changes.is_empty(), expected.is_empty(), "backwards");
}

#[track_caller]
fn same(old: &str, new: &str) {
    check(old, new, "");
}

/// Checks the bodies of a function `f`, which starts in line 4 of the program.
#[track_caller]
fn check_body(old: &str, new: &str, expected: &str) {
    let program = |body: &str| {
        format!(
            "int g(int), h(int, int), v(const char *, ...);
             extern int a, b, c, d, t[10], *p, *q; extern unsigned u; extern long l; extern double e;
             int f(int x, int y, int z, char *s) {{
             {}
             return x; }}",
            body.trim()
        )
    };
    check(&program(old), &program(new), expected);
}

// ---- What is no change ----

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
//- a.c
static int step(int x) { return x + 1; }
int f(int x) { return step(x); }
//- b.c
static int step(int x) { return x + 3; }
int g(int x) { return step(x); }",
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
        "modified f: -3 +4",
    );
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

// ---- Structures that grow ----

/// Both versions of a program over `struct s`, which has another field in new.
#[track_caller]
fn grows(rest: &str, expected: &str) {
    let program = |fields: &str| {
        format!(
            "#include <stdlib.h>
             #include <string.h>
             struct s {{ {fields} }}; int first(struct s *s) {{ return s->a; }}
             {}",
            rest.trim()
        )
    };
    let old = program("int a; char *name; int b;");
    let new = program("long added; int a; char *name; int b; short more;");
    check(&old, &new, expected);
}

#[test]
fn fields_move() {
    grows(
        "int f(struct s *s) { s->b = 3; return s->a + s->b + s->name[0]; }",
        "",
    );
}

#[test]
fn fields_of_a_local_move() {
    grows(
        "int g(struct s *); int f(void) { struct s s; s.a = 1; s.b = 2; return g(&s); }",
        "",
    );
}

#[test]
fn fields_of_a_global_move() {
    grows(
        "struct s s; int f(void) { s.a = 1; s.b = s.a; return s.name[1]; }",
        "",
    );
}

#[test]
fn fields_of_a_global_array_move() {
    grows(
        "struct s s[4]; int f(int i) { s[0].a = 1; s[i].b = s[0].a + s[2].b; return s[1].a; }",
        "",
    );
}

#[test]
fn fields_of_an_inner_structure_move() {
    grows(
        "struct o { int x; struct s in; } o; struct s *g(void);
         int f(struct o *p) { o.in.a = p->in.a; g()->b = o.in.b; return o.x + p->x; }",
        "",
    );
}

#[test]
fn size_of_a_grown_structure() {
    grows(
        "struct s *f(int n) { struct s *s = malloc(sizeof *s); memset(s, 0, sizeof(struct s));
         s = realloc(s, n * sizeof(struct s)); return s; }",
        "",
    );
}

#[test]
fn size_of_a_grown_structure_on_a_line_of_its_own() {
    grows(
        "struct s *f(int n) { return malloc(n *
         sizeof(struct s)); }",
        "",
    );
}

#[test]
fn size_of_an_array_of_grown_structures() {
    grows(
        "struct s all[5]; void f(void) { memset(all, 0, sizeof all); }",
        "",
    );
}

#[test]
fn copies_of_a_grown_structure() {
    grows(
        "struct s f(struct s *p, struct s *q) { struct s t = *p; *q = t; return t; }",
        "",
    );
}

#[test]
fn grown_structure_as_argument() {
    grows("int g(struct s); int f(struct s s) { return g(s); }", "");
}

#[test]
fn distance_in_grown_structures() {
    grows("long f(struct s *p, struct s *q) { return p - q; }", "");
}

#[test]
fn steps_over_grown_structures() {
    grows(
        "int f(struct s *p, int n) { p += n; p++; return p[2].a + (p - 1)->b; }",
        "",
    );
}

#[test]
fn global_of_a_grown_structure() {
    grows(
        "struct s s = { .a = 1, .name = \"x\" }; struct s t[2] = { [1] = { .b = 3 } };
         struct o { struct s in; int n; } o = { { .b = 7 }, 8 };",
        "",
    );
}

#[test]
fn pointer_into_a_global_of_a_grown_structure() {
    grows(
        "struct s s, t[3]; int *p = &s.b; int *q = &t[2].b; char **r = &t[1].name;",
        "",
    );
}

#[test]
fn local_table_of_a_grown_structure() {
    grows(
        "int g(const struct s *); int f(void) { const struct s t[] = { { .a = 1 }, { .b = 2 } };
         return g(t); }",
        "",
    );
}

#[test]
fn use_of_the_new_field() {
    check(
        "struct s { int a; };\nint f(struct s *s) {\nreturn s->a;\n}",
        "struct s { int a; int b; };\nint f(struct s *s) {\ns->b = 1;\nreturn s->a;\n}",
        "added f: +3",
    );
}

#[test]
fn another_size_is_asked_for_while_a_structure_grows() {
    check(
        "
#include <stdlib.h>
struct s { int a; };
void *f(int n) { return malloc(n * sizeof(int)); }",
        "
#include <stdlib.h>
struct s { int a; int b; };
void *f(int n) { return malloc(n * sizeof(long)); }",
        "modified f: -3 +3",
    );
}

#[test]
fn field_gets_another_type() {
    check(
        "struct s { int a; int b; };\nint f(struct s *s) {\ns->a = 1;\nreturn s->b;\n}",
        "struct s { long a; int b; };\nint f(struct s *s) {\ns->a = 1;\nreturn s->b;\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn array_in_a_structure_gets_longer() {
    check(
        "struct s { char a[8]; int b; };\nint f(struct s *s) {\ns->a[7] = 1;\nreturn s->b;\n}",
        "struct s { char a[9]; int b; };\nint f(struct s *s) {\ns->a[7] = 1;\nreturn s->b;\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn another_field_is_used() {
    check(
        "struct s { int a, b; };\nint f(struct s *s) {\nreturn s->a;\n}",
        "struct s { int a, b; };\nint f(struct s *s) {\nreturn s->b;\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn another_field_of_a_global_is_used() {
    check(
        "struct s { int a, b; } s;\nint f(void) {\nreturn s.a;\n}",
        "struct s { int a, b; } s;\nint f(void) {\nreturn s.b;\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn pointer_to_another_field_of_a_global() {
    check(
        "struct s { int a, b, c; } s;\nint *p = &s.b;",
        "struct s { int a, b, c; } s;\nint *p = &s.c;",
        "modified p: -2 +2",
    );
}

#[test]
fn pointer_to_another_element_of_a_global() {
    check(
        "int t[9];\nint *p = &t[2];",
        "int t[9];\nint *p = &t[3];",
        "modified p: -2 +2",
    );
}

#[test]
fn bit_field_gets_wider() {
    check(
        "struct s { unsigned a : 3, b : 4; };\nunsigned f(struct s *s) {\nreturn s->a;\n}",
        "struct s { unsigned a : 4, b : 4; };\nunsigned f(struct s *s) {\nreturn s->a;\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn another_member_of_a_union() {
    check(
        "union n { int i; float f; };\nint f(union n *n) {\nreturn n->i;\n}",
        "union n { int i; float f; };\nint f(union n *n) {\nreturn n->f;\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn union_gets_a_member() {
    let program = |members: &str| {
        format!(
            "union n {{ int i; float f; {members} }};
             int g(union n *);
             int f(union n *n, union n *m) {{ union n k = *n; *m = *n; return n->i + g(&k); }}"
        )
    };
    same(&program(""), &program("char c[32];"));
}

// ---- What is a change: constants and data ----

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

// ---- What is a change: types ----

#[test]
fn signedness_of_a_local() {
    check_body(
        "int i = x; if (i < y) g(i);",
        "unsigned i = x; if (i < y) g(i);",
        "modified f: -4 +4",
    );
}

#[test]
fn signedness_of_a_parameter() {
    check(
        "int f(int x) {\nreturn x / 2;\n}",
        "int f(unsigned x) {\nreturn x / 2;\n}",
        "modified f: -2 +2",
    );
}

#[test]
fn signedness_of_characters() {
    check(
        "int f(char *s) {\nreturn s[0] > 100;\n}",
        "int f(unsigned char *s) {\nreturn s[0] > 100;\n}",
        "modified f: -2 +2",
    );
}

#[test]
fn width_of_a_local() {
    check_body(
        "g(1);\nint i = x;\ng(2);",
        "g(1);\nshort i = x;\ng(2);",
        "modified f: -5 +5
         modified f: -5 +5",
    );
}

#[test]
fn width_of_a_global() {
    check(
        "int n;\nvoid f(void) {\nn++;\n}",
        "long n;\nvoid f(void) {\nn++;\n}",
        "modified n: -1 +1
         modified f: -3 +3",
    );
}

#[test]
#[ignore = "a constant in a Program does not say its floating-point format"]
fn width_behind_a_pointer() {
    check(
        "void f(float *p) {\n*p = 1;\n}",
        "void f(double *p) {\n*p = 1;\n}",
        "modified f: -2 +2",
    );
}

#[test]
fn type_through_a_typedef() {
    check(
        "typedef int word;\nint f(word *p) {\nreturn p[1];\n}",
        "typedef short word;\nint f(word *p) {\nreturn p[1];\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn cast() {
    check_body("l = x * y;", "l = (long)x * y;", "modified f: -4 +4");
}

#[test]
fn cast_to_unsigned() {
    check_body("l = x;", "l = (unsigned)x;", "modified f: -4 +4");
}

#[test]
fn volatile_variable() {
    check(
        "int done;\nvoid f(void) {\nwhile (!done)\n;\n}",
        "volatile int done;\nvoid f(void) {\nwhile (!done)\n;\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn result_type() {
    check(
        "float f(void) {\nreturn 1;\n}",
        "double f(void) {\nreturn 1;\n}",
        "modified f: -2 +2",
    );
}

// ---- What is a change: expressions ----

#[test]
fn wrong_local() {
    check_body("g(x);", "g(y);", "modified f: -4 +4");
}

#[test]
fn wrong_global() {
    check_body("g(a);", "g(b);", "modified f: -4 +4");
}

#[test]
fn wrong_target() {
    check_body("x = z;", "y = z;", "modified f: -4 +4");
}

#[test]
fn swapped_operands() {
    check_body("a = x - y;", "a = y - x;", "modified f: -4 +4");
}

#[test]
fn swapped_arguments() {
    check_body("h(x, y);", "h(y, x);", "modified f: -4 +4");
}

#[test]
fn swapped_parameters() {
    check(
        "int f(int x,\n int y) {\nreturn x - y;\n}",
        "int f(int y,\n int x) {\nreturn x - y;\n}",
        "modified f: -1-2 +1-2",
    );
}

#[test]
fn operator() {
    check_body("a = x + y;", "a = x - y;", "modified f: -4 +4");
}

#[test]
fn comparison_operator() {
    check_body("if (x < y) g(1);", "if (x <= y) g(1);", "modified f: -4 +4");
}

#[test]
fn increment_before_instead_of_after() {
    check_body("a = x++;", "a = ++x;", "modified f: -4 +4");
}

#[test]
fn increment_in_an_expression_or_before_it() {
    check_body("a = x++;", "x++; a = x;", "modified f: -4 +4");
}

#[test]
fn increment_in_an_expression_or_after_it() {
    check_body("a = x++;", "a = x; x++;", "added f: +4\ndeleted f: -4");
}

#[test]
fn index() {
    check_body("a = t[x];", "a = t[x + 1];", "modified f: -4 +4");
}

#[test]
fn constant_index() {
    check_body("a = t[0];", "a = t[1];", "modified f: -4 +4");
}

#[test]
fn pointer_or_what_it_points_to() {
    check_body("p++;", "(*p)++;", "modified f: -4 +4");
}

#[test]
fn ternary_operands_swapped() {
    check_body("a = c ? x : y;", "a = c ? y : x;", "modified f: -4 +4");
}

#[test]
fn ternary_condition_negated() {
    check_body("a = c ? x : y;", "a = !c ? x : y;", "modified f: -4 +4");
}

#[test]
fn ternary_with_constants_negated() {
    check_body("a = c ? 1 : 2;", "a = !c ? 1 : 2;", "modified f: -4 +4");
}

#[test]
fn dropped_clause() {
    check_body("if (x && y) g(1);", "if (x) g(1);", "deleted f: -4");
}

#[test]
fn dropped_first_clause() {
    check_body("if (x && y) g(1);", "if (y) g(1);", "deleted f: -4");
}

#[test]
fn dropped_clause_of_a_value() {
    check_body("a = x || y || z;", "a = x || z;", "modified f: -4 +4");
}

#[test]
fn and_becomes_or() {
    check_body(
        "if (x && y) g(1);",
        "if (x || y) g(1);",
        "modified f: -4 +4",
    );
}

#[test]
fn and_becomes_or_in_a_value() {
    check_body("a = x && y;", "a = x || y;", "modified f: -4 +4");
}

#[test]
fn clauses_group_otherwise() {
    check_body(
        "if ((x && y) || z) g(1);",
        "if (x && (y || z)) g(1);",
        "modified f: -4 +4",
    );
}

#[test]
fn clauses_of_a_value_group_otherwise() {
    check_body(
        "a = (x && y) || z;",
        "a = x && (y || z);",
        "modified f: -4 +4\nmodified f: -4 +4",
    );
}

#[test]
fn negated_condition() {
    check_body("if (x) g(1);", "if (!x) g(1);", "modified f: -4 +4");
}

#[test]
fn clause_negated_inside() {
    check_body(
        "if (x && y) g(1);",
        "if (x && !y) g(1);",
        "modified f: -4 +4",
    );
}

#[test]
fn clause_of_a_value_negated() {
    check_body("a = x && y;", "a = !x && y;", "modified f: -4 +4");
}

#[test]
fn negation_of_a_whole_value() {
    check_body("a = x && y;", "a = !(x && y);", "modified f: -4 +4");
}

#[test]
fn bitwise_instead_of_logical() {
    check_body("if (x && y) g(1);", "if (x & y) g(1);", "modified f: -4 +4");
}

#[test]
fn assignment_instead_of_comparison() {
    check_body("if (x == y) g(1);", "if (x = y) g(1);", "modified f: -4 +4");
}

#[test]
fn other_function_called() {
    check(
        "int g(int); int h(int);\nint f(int x) {\nreturn g(x);\n}",
        "int g(int); int h(int);\nint f(int x) {\nreturn h(x);\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn callee_becomes_another_one_that_does_the_same() {
    check(
        "int one(int x) { return x + 1; }\nint two(int x) { return x + 1; }\nint f(int x) {\nreturn one(x);\n}",
        "int one(int x) { return x + 1; }\nint two(int x) { return x + 1; }\nint f(int x) {\nreturn two(x);\n}",
        "modified f: -4 +4",
    );
}

#[test]
fn argument() {
    check_body("h(x, 1);", "h(x, 2);", "modified f: -4 +4");
}

#[test]
fn one_more_argument_for_a_variadic_function() {
    check_body("v(s, x);", "v(s, x, y);", "modified f: -4 +4");
}

#[test]
fn type_of_a_variadic_argument() {
    check_body("v(s, x);", "v(s, (long)x);", "modified f: -4 +4");
}

#[test]
fn call_in_a_chain() {
    check_body("g(g(x) + 1);", "g(g(x + 1));", "modified f: -4 +4");
}

#[test]
fn result_of_the_other_call() {
    check_body(
        "int i = g(1), j = g(2); a = i;",
        "int i = g(1), j = g(2); a = j;",
        "modified f: -4 +4",
    );
}

#[test]
fn results_are_exchanged() {
    check_body(
        "a = g(x) - h(x, y);",
        "a = -h(x, y) + g(x);",
        "added f: +4\nmodified f: -4 +4",
    );
}

#[test]
fn result_is_thrown_away() {
    check_body("x = g(x);", "g(x);", "deleted f: -4");
}

#[test]
fn order_of_evaluation() {
    check_body(
        "a = b; b = g(b);",
        "b = g(b); a = b;",
        "deleted f: -4\nadded f: +4",
    );
}

#[test]
fn division_that_nobody_uses() {
    check_body("g(x);", "x / y;\ng(x);", "added f: +4");
}

#[test]
fn load_that_nobody_uses() {
    check_body("g(x);", "(void)*(volatile char *)s;\ng(x);", "added f: +4");
}

// ---- What is a change: control flow ----

#[test]
fn if_becomes_while() {
    check_body(
        "if (x < y)\nx = g(x);",
        "while (x < y)\nx = g(x);",
        "modified f: -5 +5",
    );
}

#[test]
fn while_becomes_do() {
    check_body(
        "while (x < y)\nx = g(x);",
        "do\nx = g(x);\nwhile (x < y);",
        "deleted f: -4\nadded f: +5",
    );
}

#[test]
fn while_becomes_do_at_the_entry() {
    check(
        "int n, g(void);\nvoid f(void) {\nwhile (n < 3)\nn = g();\n}",
        "int n, g(void);\nvoid f(void) {\ndo\nn = g();\nwhile (n < 3);\n}",
        "deleted f: -3\nadded f: +4",
    );
}

#[test]
fn deleted_break_in_a_switch() {
    check_body(
        "switch (x) {\ncase 1: g(1);\nbreak;\ncase 2: g(2);\n}",
        "switch (x) {\ncase 1: g(1);\n\ncase 2: g(2);\n}",
        "deleted f: -6",
    );
}

#[test]
fn deleted_break_in_a_loop() {
    check_body(
        "while (x) {\nif (g(x))\nbreak;\nx--;\n}",
        "while (x) {\nif (g(x))\n;\nx--;\n}",
        "deleted f: -6",
    );
}

#[test]
fn break_becomes_continue() {
    check_body(
        "while (x) {\nif (g(x))\nbreak;\nx--;\n}",
        "while (x) {\nif (g(x))\ncontinue;\nx--;\n}",
        "modified f: -6 +6",
    );
}

#[test]
fn goto_leads_elsewhere() {
    check_body(
        "if (x)\ngoto one;\ng(0);\none: g(1);\ntwo: g(2);",
        "if (x)\ngoto two;\ng(0);\none: g(1);\ntwo: g(2);",
        "modified f: -5 +5",
    );
}

#[test]
fn label_moves() {
    check_body(
        "if (x)\ngoto one;\ng(0);\none: g(1);\ng(2);",
        "if (x)\ngoto one;\ng(0);\ng(1);\none: g(2);",
        "modified f: -5 +5",
    );
}

#[test]
fn value_of_a_case() {
    check_body(
        "switch (x) {\ncase 1: g(1); break;\ncase 2: g(2);\n}",
        "switch (x) {\ncase 1: g(1); break;\ncase 3: g(2);\n}",
        "modified f: -4 +4",
    );
}

#[test]
fn cases_exchange_their_values() {
    check_body(
        "switch (x) {\ncase 1: g(1); break;\ncase 2: g(2);\n}",
        "switch (x) {\ncase 2: g(1); break;\ncase 1: g(2);\n}",
        "modified f: -4 +4",
    );
}

#[test]
fn default_moves_to_another_case() {
    check_body(
        "switch (x) {\ndefault:\ncase 1: g(1); break;\ncase 2: g(2);\n}",
        "switch (x) {\ncase 1: g(1); break;\ndefault:\ncase 2: g(2);\n}",
        "modified f: -4 +4",
    );
}

#[test]
fn case_range() {
    check_body(
        "switch (x) {\ncase 1 ... 3: g(1);\n}",
        "switch (x) {\ncase 1 ... 4: g(1);\n}",
        "modified f: -4 +4",
    );
}

#[test]
fn statement_moves_out_of_an_if() {
    check_body(
        "if (x) {\ng(1);\ng(2);\n}",
        "if (x) {\ng(1);\n}\ng(2);",
        "modified f: -4 +4",
    );
}

#[test]
fn statement_moves_into_a_loop() {
    check_body(
        "while (x) {\nx = g(x);\n}\ny++;",
        "while (x) {\nx = g(x);\ny++;\n}",
        "modified f: -4 +4\nmodified f: -5,7 +5-6",
    );
}

#[test]
fn else_belongs_to_the_other_if() {
    check_body(
        "if (x) {\nif (y) g(1);\n} else g(2);",
        "if (x) {\nif (y) g(1);\nelse g(2); }",
        "modified f: -4-5 +4-5",
    );
}

#[test]
fn two_statements_change_places() {
    check_body(
        "a = 1;\ng(2);",
        "g(2);\na = 1;",
        "added f: +4\ndeleted f: -5",
    );
}

#[test]
fn endless_loop_instead_of_the_end() {
    check(
        "int f(int c) {\nif (c == 1) return 1;\nif (c)\n;\n}",
        "int f(int c) {\nif (c == 1) return 1;\nif (c)\nfor (;;);\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn return_becomes_endless_loop() {
    check_body("if (x) g(1);", "if (x) g(1);\nfor (;;);", "deleted f: -5");
}

#[test]
fn return_instead_of_falling_through() {
    check_body(
        "if (x)\ng(1);\ng(2);",
        "if (x) {\ng(1); return 7; }\ng(2);",
        "added f: +5",
    );
}

#[test]
fn computed_goto_with_another_table() {
    check_body(
        "static void *w[] = { &&one, &&two };\ngoto *w[x];\none: g(1);\ntwo: g(2);",
        "static void *w[] = { &&two, &&one };\ngoto *w[x];\none: g(1);\ntwo: g(2);",
        "modified w: -4 +4",
    );
}

#[test]
fn computed_goto_with_another_label() {
    check_body(
        "void *i = &&one, *j = &&two; if (x) i = j;\nif (y)\ni = &&one;\ngoto *i;\none: g(1);\ntwo: g(2);",
        "void *i = &&one, *j = &&two; if (x) i = j;\nif (y)\ni = &&two;\ngoto *i;\none: g(1);\ntwo: g(2);",
        "modified f: -6 +6",
    );
}

#[test]
fn computed_goto_after_a_new_statement() {
    check_body(
        "static void *w[] = { &&one, &&two };\ngoto *w[x];\none: g(1);\ntwo: g(2);",
        "static void *w[] = { &&one, &&two };\nif (y) g(y);\ngoto *w[x];\none: g(1);\ntwo: g(2);",
        "added f: +5",
    );
}

// ---- Corners of C ----

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

// ---- Whole functions ----

#[test]
fn added_function() {
    check(
        "int f(void) { return 1; }",
        "int f(void) { return 1; }\nint g(int x) {\nx++;\nreturn x;\n}",
        "added g: +2-4",
    );
}

#[test]
fn deleted_function() {
    check(
        "int f(void) { return 1; }\nint g(int x) {\nx++;\nreturn x;\n}",
        "int f(void) { return 1; }",
        "deleted g: -2-4",
    );
}

#[test]
fn renamed_and_edited_function() {
    check(
        "int g(int, int);\nint f(int x) {\nif (x < 0) x = -x;\nint y = g(x, 1);\nx += 3 * y;\nreturn x;\n}",
        "int g(int, int);\nint better(int x) {\nif (x < 0) x = -x;\nint y = g(x, 2);\nx += 3 * y;\nreturn x;\n}",
        "modified f->better: -4 +4",
    );
}

#[test]
fn function_becomes_quite_another() {
    check(
        "int g(int);\nint f(int x) {\nreturn g(x);\n}",
        "int g(int);\nvoid h(char *s) {\nwhile (*s) s++;\n*s = 1;\n}",
        "deleted f: -2-3\nadded h: +2-5",
    );
}

#[test]
fn one_more_parameter() {
    check(
        "int f(int x) {\nreturn x;\n}\nint g(void) {\nreturn f(1);\n}",
        "int f(int x, int y) {\nreturn x;\n}\nint g(void) {\nreturn f(1, 2);\n}",
        "added f: +1\nmodified g: -5 +5",
    );
}

#[test]
fn definition_disappears() {
    check(
        "int g(int x) {\nreturn x;\n}\nint f(int x) { return g(x); }",
        "int g(int x);\n\n\nint f(int x) { return g(x); }",
        "deleted g: -1-2",
    );
}

#[test]
fn empty_function() {
    check(
        "void f(void) {\n}",
        "int g(void); void f(void) {\ng();\n}",
        "added f: +2",
    );
}

#[test]
fn recursion_with_another_step() {
    check(
        "int f(int n) {\nif (n < 2) return 1;\nreturn n * f(n - 1);\n}",
        "int f(int n) {\nif (n < 2) return 1;\nreturn n * f(n - 2);\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn two_changes_in_one_function() {
    check_body(
        "g(1);\ng(x);\ng(2);\ng(y);\ng(3);",
        "g(1);\ng(-x);\ng(2);\ng(-y);\ng(3);",
        "modified f: -5 +5\nmodified f: -7 +7",
    );
}

#[test]
fn the_same_line_twice_and_one_is_deleted() {
    check_body(
        "g(1);\ng(x);\ng(x);\ng(2);",
        "g(1);\ng(x);\ng(2);",
        "deleted f: -6",
    );
}
