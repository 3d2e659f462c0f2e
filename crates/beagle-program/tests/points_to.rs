//! What pointers may point to: nothing may be missing, and what is easily told apart is.

mod support;

use std::collections::BTreeSet;

use support::lift;

const HEADERS: &str = "#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n\
    #include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";

fn names(text: &str) -> BTreeSet<String> {
    text.split(", ").map(str::to_owned).collect()
}

/// Checks that the access at `/*here*/` may touch these objects, and perhaps more.
#[track_caller]
fn check_holds(text: &str, expected: &str) {
    let case = lift(&format!("{HEADERS}{text}"));
    let found = case.accessed("here");
    let missing = &names(expected) - &found;
    assert!(missing.is_empty(), "missing {missing:?} in {found:?}");
}

/// Checks that the access at `/*here*/` may touch exactly these objects.
#[track_caller]
fn check(text: &str, expected: &str) {
    let case = lift(&format!("{HEADERS}{text}"));
    assert_eq!(case.accessed("here"), names(expected));
}

/// The same for the statements of a `main` after declarations.
#[track_caller]
fn check_main(declarations: &str, body: &str, expected: &str) {
    let text = format!(
        "{declarations}
        int main(int argc, char **argv) {{ {body}
            return 0;
        }}"
    );
    check(&text, expected);
}

#[test]
fn the_address_of_a_variable() {
    check_main("", "int x, y, *p = &x, *q = &y;\n*p = 1; /*here*/", "x");
}

#[test]
fn either_of_two() {
    check_main(
        "int x, y, z;",
        "int *p = argc ? &x : &y, *q = &z;\n*p = 1; /*here*/",
        "x, y",
    );
}

#[test]
fn pointers_to_pointers() {
    check_main(
        "int x, y;",
        "int *p = &y, **q = &p;\n*q = &x;\n*p = 1; /*here*/",
        "x, y",
    );
}

#[test]
fn fields_are_told_apart() {
    check_main(
        "struct s { int *a, *b; }; int x, y;",
        "struct s s; s.a = &x; s.b = &y;\n*s.b = 1; /*here*/",
        "y",
    );
}

#[test]
fn fields_behind_a_pointer_are_told_apart() {
    check_main(
        "struct s { int n; int *a, *b; }; int x, y;",
        "struct s *s = malloc(sizeof *s); s->a = &x; s->b = &y;\n*s->a = 1; /*here*/",
        "x",
    );
}

#[test]
fn fields_of_nested_structures_are_told_apart() {
    check_main(
        "struct in { int *a, *b; }; struct out { struct in one, two; } o; int x, y, z;",
        "struct in *in = &o.two; in->b = &x; o.one.b = &y; o.two.a = &z;\n*o.two.b = 1; /*here*/",
        "x",
    );
}

#[test]
fn elements_of_an_array_share_their_targets() {
    check_main(
        "int x, y, z;",
        "int *a[4]; a[0] = &x; a[argc] = &y; int **p = a + 1; int *b[2] = {&z};\n**p = 1; /*here*/",
        "x, y",
    );
}

#[test]
fn fields_of_the_elements_of_an_array_are_told_apart() {
    check_main(
        "struct s { int *a, *b; } t[4]; int x, y;",
        "t[1].a = &x; t[argc].b = &y; struct s *p = t; p++;\n*p->a = 1; /*here*/",
        "x",
    );
}

#[test]
fn a_list_of_allocated_nodes() {
    check_main(
        "struct node { struct node *next; int *value; }; int x, y;",
        "struct node *head = 0;
        for (int i = 0; i < argc; i++) {
            struct node *n = malloc(sizeof *n);
            n->next = head; n->value = i ? &x : &y; head = n;
        }
        while (head->next) head = head->next;
        *head->value = 1; /*here*/",
        "x, y",
    );
}

#[test]
fn allocations_are_told_apart_by_their_place() {
    check_main(
        "",
        "int *a = malloc(4);\nint *b = malloc(4);\n*b = 1; /*here*/",
        "heap@9",
    );
}

#[test]
fn pointers_are_returned_and_passed() {
    check(
        "int x, y; int *id(int *p) { return p; } void set(int **to, int *v) { *to = v; }
        int main(void) { int *p, *q = &y; set(&p, id(&x));
            *p = 1; /*here*/
            return 0; }",
        "x",
    );
}

#[test]
fn pointers_in_globals_and_initial_values() {
    check(
        "int x, y; struct s { int n; int *p[2]; } s = { 1, { 0, &x } }, *t = &s, o = { 2, { &y } };
        int main(int c, char **v) {
            *t->p[c] = 1; /*here*/
            return 0; }",
        "x",
    );
}

#[test]
fn a_pointer_into_a_global_names_its_field() {
    check(
        "struct s { int *a, *b; } s; int **where = &s.b; int x, y;
        int main(void) { s.a = &y; *where = &x;
            *s.b = 1; /*here*/
            return 0; }",
        "x",
    );
}

#[test]
fn function_pointers_pass_pointers_on() {
    check(
        "int x, y; int *one(int *p) { return p; } int *two(int *p) { return &y; }
        int *(*table[])(int *) = { one, two };
        int main(int c, char **v) { int *p = table[c](&x);
            *p = 1; /*here*/
            return 0; }",
        "x, y",
    );
}

#[test]
fn assigned_structures_keep_their_pointers_apart() {
    check_main(
        "struct s { int *a, *b; int many[20]; }; int x, y;",
        "struct s s = {&x, &y}, t, u; t = s; memcpy(&u, &t, sizeof u);\n*u.b = 1; /*here*/",
        "y",
    );
}

#[test]
fn structures_by_value_keep_their_pointers() {
    // The registers that return a structure are not told apart.
    check_holds(
        "struct s { int *a, *b; }; struct l { int *v[9]; }; int x, y, z;
        struct s turn(struct s s) { struct s t = { s.b, s.a }; return t; }
        struct l same(struct l l) { return l; }
        int main(void) { struct s s = { &x, &y }; struct l l = {{0, &z}};
            *(s.a ? turn(s).a : same(l).v[1]) = 1; /*here*/
            return 0; }",
        "y, z",
    );
}

#[test]
fn reallocated_memory_keeps_its_pointers() {
    check_main(
        "int x;",
        "int **a = malloc(8); a[0] = &x; a = realloc(a, 80);\n*a[0] = 1; /*here*/",
        "x",
    );
}

#[test]
fn variadic_arguments() {
    check(
        "int x, y, z; void f(int n, ...) { va_list l, m; va_start(l, n); va_copy(m, l);
            for (; n; n--) { int *p = va_arg(m, int *);
                *p = 1; /*here*/
            } va_end(l); }
        int main(void) { int *other = &z; f(2, &x, &y); return 0; }",
        "x, y",
    );
}

#[test]
fn the_structure_around_a_member() {
    check_main(
        "struct link { struct link *next; }; struct item { int *value; struct link link; }; int x, y;",
        "struct item i = { &x }, other = { &y }; struct link *l = &i.link;
        struct item *p = (struct item *)((char *)l - offsetof(struct item, link));
        *p->value = 1; /*here*/",
        "x",
    );
}

#[test]
fn unions_hold_pointers_under_another_name() {
    check_main(
        "union u { long n; int *p; struct { int *q; } s; }; int x, y;",
        "union u u, other; u.p = &x; other.p = &y;\n*u.s.q = 1; /*here*/",
        "x",
    );
}

#[test]
fn pointers_survive_as_numbers() {
    check_main(
        "int x, y;",
        "uintptr_t n = (uintptr_t)&x, m = (uintptr_t)&y; n |= 1; n &= ~1ul;
        *(int *)n = 1; /*here*/",
        "x",
    );
}

#[test]
fn the_end_of_a_number_points_into_its_text() {
    check_main(
        "",
        "char a[9] = \"1\", b[9], *e; strtol(a, &e, 10);\n*e = 1; /*here*/",
        "a",
    );
}

#[test]
fn found_characters_are_in_the_text() {
    check_main(
        "",
        "char a[9] = \"1\", b[9]; char *e = strrchr(strchr(a, '1'), '2');\n*e = 1; /*here*/",
        "a",
    );
    check_main(
        "",
        "char a[9] = \"1\", b[9], *t = strtok(a, \"x\"); t = strtok(0, \"x\");\n*t = 1; /*here*/",
        "a",
    );
    check_main(
        "",
        "char a[9] = \"1\", *p = a, *t = strsep(&p, \"x\");\n*t = 1; /*here*/",
        "a",
    );
}

#[test]
fn elements_found_by_bsearch_and_compared_by_qsort_are_in_the_array() {
    check(
        "struct s { int *p; } t[3]; int x;
        int cmp(const void *a, const void *b) { const struct s *s = b;
            return *s->p; /*here*/
        }
        int main(void) { t[0].p = &x; qsort(t, 3, 8, cmp); bsearch(t, t, 3, 8, cmp); return 0; }",
        "x, outside",
    );
}

#[test]
fn unknown_functions_may_store_what_they_were_given() {
    check_holds(
        "void link(int ***, int **); int x, y;
        int main(void) { int *p = &x, **q = 0, *apart = &y; link(&q, &p);
            **q = 1; /*here*/
            return 0; }",
        "outside",
    );
    // What has escaped is outside, so an access of the variable itself is one of the outside.
    check_holds(
        "void keep(int *); int *get(void); int x;
        int main(void) { keep(&x); int *p = get(), *q = &x;
            *q = *p; /*here*/
            return 0; }",
        "outside",
    );
}

#[test]
fn memory_that_functions_store_is_fresh() {
    check_main(
        "",
        "char *l = 0; size_t n; getline(&l, &n, stdin);\nl[1] = 1; /*here*/",
        "heap@8",
    );
    check_main(
        "int x;",
        "void *m; posix_memalign(&m, 8, 8); int **p = m; *p = &x;\n**p = 1; /*here*/",
        "x",
    );
}

#[test]
fn arguments_of_main_come_from_outside() {
    check_main("", "int x; char *p = argv[1];\n*p = 1; /*here*/", "outside");
}

#[test]
fn variables_of_the_library_are_outside() {
    check(
        "extern char **environ; char *mine;
        int main(void) {
            **environ = 1; /*here*/
            return 0; }",
        "outside",
    );
}

#[test]
fn exported_functions_of_a_library_get_anything() {
    check_holds(
        "int x; void set(int *p) {
            *p = 1; /*here*/
        }
        void use(void) { set(&x); }",
        "x, outside",
    );
}

#[test]
fn atomics_hold_pointers() {
    check_main(
        "#include <stdatomic.h>\nint x, y;",
        "_Atomic(int *) a; int *old = 0; atomic_store(&a, &x);
        atomic_compare_exchange_strong(&a, &old, &y);
        *atomic_load(&a) = 1; /*here*/",
        "x, y",
    );
}

#[test]
fn variable_length_arrays_hold_pointers() {
    check_main(
        "int x, y;",
        "int *v[argc], *w[2] = {&y}; v[argc - 1] = &x;\n*v[0] = 1; /*here*/",
        "x",
    );
}

#[test]
fn pointers_in_bytes_of_a_buffer_are_found() {
    check_main(
        "int x, y;",
        "char buffer[64]; *(int **)(buffer + 8 * argc) = &x; int *apart = &y;
        struct { int *a, *b; } *s = (void *)buffer;
        *s->b = 1; /*here*/",
        "x",
    );
}

#[test]
fn an_arena_holds_what_was_put_there() {
    check(
        "static char arena[999]; static size_t used; int x;
        void *take(size_t n) { void *p = arena + used; used += n; return p; }
        struct node { struct node *next; int *value; };
        int main(void) { struct node *a = take(16), *b = take(16); a->next = b; b->value = &x;
            *a->next->value = 1; /*here*/
            return 0; }",
        "arena, x",
    );
}

/// Copies between places in many structures, all off by some bytes. Each from each to each made
/// more edges, and more ways to cut up the structures, than could be followed: this took minutes.
#[test]
fn copies_between_many_structures() {
    let fields: String = (0..12)
        .map(|i| format!("char *field{i}; char text{i}[{}];", 8 + i))
        .collect();
    let mut text = format!(
        "struct part {{ {fields} }};
        char x, y;
        void *from, *to;
        void copy(void *to, void *from, size_t n) {{ memcpy(to, from, n); }}
        int main(int argc, char **argv) {{\n"
    );
    for i in 0..60 {
        text += &format!(
            "static struct part part{i}; part{i}.field{} = &x;\n",
            i % 12
        );
        for j in 0..12 {
            let (a, b) = ((i + j) % 2, (i + 7 * j) % 12);
            let pointer = ["from", "to"][a];
            text += &format!("{pointer} = &part{i}.field{b}; {pointer} = part{i}.text{b};\n");
        }
    }
    text += "part7.field3 = &y;
        for (int i = 0; i < argc; i++) {
            memcpy(to, from, argc);
            memmove(from, (char **)to + 1, argc);
            copy((char **)to + argc, (char **)from + 2, argc);
        }
        *part50.field0 = 1; /*here*/
        return 0;
    }";
    check_holds(&text, "x, y");
}
