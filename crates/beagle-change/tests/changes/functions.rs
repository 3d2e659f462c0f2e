//! Functions that are added, deleted, renamed or moved as a whole.

use super::{check, check_body, same};

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

#[test]
fn negated_condition_before_a_break() {
    check_body(
        "switch (x) {\ncase 1:\nif (g(y))\ng(1);\nbreak;\ncase 2: g(2);\n}",
        "switch (x) {\ncase 1:\nif (!g(y))\ng(1);\nbreak;\ncase 2: g(2);\n}",
        "modified f: -6 +6",
    );
}

#[test]
fn room_at_the_end_is_written_otherwise() {
    same(
        "struct s { int n; int a[1]; };\nint f(struct s *s, int i) { return s->a[i] + s->n; }",
        "struct s { int n; int a[]; };\nint f(struct s *s, int i) { return s->a[i] + s->n; }",
    );
}

#[test]
fn table_with_a_macro() {
    check(
        "#define A 1\nint t[] = {\nA,\n2,\n};",
        "#define A 3\nint t[] = {\nA,\n2,\n};",
        "modified t: -2-5 +2-5",
    );
}

#[test]
fn jump_at_the_entry() {
    check(
        "int n, g(int);\nvoid f(void) {\ngoto mid;\ntop: g(1);\nmid: g(2);\nif (n) goto top;\n}",
        "int n, g(int);\nvoid f(void) {\n\ntop: g(1);\nmid: g(2);\nif (n) goto top;\n}",
        "deleted f: -3",
    );
}

#[test]
fn static_function_that_is_no_longer_called() {
    check(
        "static int g(int x) { return x; }\nint f(int x) {\nx = g(x);\nreturn x;\n}",
        "static int g(int x) { return x; }\nint f(int x) {\nreturn x;\n}",
        "deleted f: -3",
    );
}

#[test]
fn function_that_only_one_version_defines() {
    check(
        "#if 1\nint g(int x) { return x; }\n#else\nint g(int);\n#endif\nint f(int x) { return g(x); }",
        "#if 0\nint g(int x) { return x; }\n#else\nint g(int);\n#endif\nint f(int x) { return g(x); }",
        "deleted g: -2",
    );
}
