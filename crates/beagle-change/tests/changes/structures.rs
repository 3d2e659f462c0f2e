//! Structures that grow: what a new field changes, and what it only moves.

use super::{check, same};

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
    let program = |fields: &str, asked: &str| {
        format!(
            "void *malloc(unsigned long);
             struct s {{ int a; {fields} }}; int g(struct s *s) {{ return s->a; }}
             void *f(int n) {{ return malloc(n * sizeof({asked})); }}"
        )
    };
    check(
        &program("", "int"),
        &program("int b;", "long"),
        "modified f: -3 +3",
    );
    check(&program("", "struct s"), &program("int b;", "struct s"), "");
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
