//! What is a change: types.

use super::{check, check_body};

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
fn width_behind_a_pointer() {
    check(
        "void f(float *p) {\n*p = 1;\n}",
        "void f(double *p) {\n*p = 1;\n}",
        "modified f: -2 +2",
    );
}

#[test]
fn size_of_a_grown_structure_that_is_written_to_a_file() {
    check(
        "#include <stdio.h>\nstruct s { int a; };\nvoid f(struct s *s, FILE *out) {\nfwrite(s, sizeof *s, 1, out);\n}\nvoid g(struct s *s) { s->a = 1; }",
        "#include <stdio.h>\nstruct s { int a; int b; };\nvoid f(struct s *s, FILE *out) {\nfwrite(s, sizeof *s, 1, out);\n}\nvoid g(struct s *s) { s->a = 1; }",
        "modified f: -4 +4",
    );
}

#[test]
fn size_of_a_grown_structure_that_is_kept_in_a_variable() {
    check(
        "struct s { int a; };\nunsigned long n;\nvoid f(void) {\nn = sizeof(struct s);\n}\nvoid g(struct s *s) { s->a = 1; }",
        "struct s { int a; int b; };\nunsigned long n;\nvoid f(void) {\nn = sizeof(struct s);\n}\nvoid g(struct s *s) { s->a = 1; }",
        "modified f: -4 +4",
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
