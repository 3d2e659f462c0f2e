//! Slices through the C library: what its functions do to memory, to files and to hidden state.

mod support;

use support::slices::check_forward_holds;

/// `before` the marked assignment `x = argc` and `after` it, in a `main`.
#[track_caller]
fn check(before: &str, after: &str) {
    check_forward_holds(&format!(
        "#define _GNU_SOURCE
        #include <ctype.h>
        #include <errno.h>
        #include <math.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        #include <fcntl.h>
        int main(int argc, char **argv) {{
            {before}
            int x = argc; /*from*/
            {after}
        }}"
    ));
}

#[test]
fn strings_are_copied_joined_and_compared() {
    check(
        "char a[9] = \"\", b[9] = \"\", c[9] = \"\", d[9] = \"\";",
        "a[0] = x; // in
        strcpy(b, a); // in
        strcat(c, b); // in
        int same = strcmp(c, \"x\"); // in
        int other = strcmp(d, \"x\"); // not in
        return same; // in",
    );
}

#[test]
fn formatted_text_holds_what_was_formatted() {
    check(
        "char a[9], b[9]; char *made = 0;",
        "snprintf(a, 9, \"%d\", x); // in
        sprintf(b, \"%s\", \"y\"); // not in
        puts(b); // not in
        puts(a); // in
        asprintf(&made, \"%d\", x); // in
        puts(made); // in
        return 0; // not in",
    );
}

#[test]
fn numbers_are_read_from_text() {
    check(
        "char a[9] = \"\"; int n, m = 0;",
        "a[0] = x; // in
        sscanf(a, \"%d\", &n); // in
        putchar(n); // in
        putchar(m); // not in
        putchar(atoi(a)); // in
        return 0; // not in",
    );
}

#[test]
fn the_end_of_a_number_points_into_the_text() {
    check(
        "char a[9] = \"\"; char *end;",
        "a[0] = x; // in
        long v = strtol(a, &end, 10); // in
        putchar(*end); // in
        return 0; // not in",
    );
}

#[test]
fn errno_tells_about_earlier_calls() {
    check(
        "char a[9] = \"\";",
        "a[0] = x; // in
        errno = 0;
        strtol(a, 0, 10); // in
        if (errno) // in
            puts(\"bad\"); // in
        return 0; // not in",
    );
}

#[test]
fn strtok_goes_on_in_the_text_it_was_given() {
    check(
        "char a[9] = \"\"; char *t;",
        "a[0] = x; // in
        strtok(a, \",\"); // in
        t = strtok(0, \",\"); // in
        puts(t); // in
        return 0; // not in",
    );
}

#[test]
fn strsep_goes_on_in_the_text_it_was_given() {
    check(
        "char a[9] = \"\"; char *p = a, *t;",
        "a[0] = x; // in
        t = strsep(&p, \",\"); // in
        if (t) puts(t); // in
        return 0; // not in",
    );
}

#[test]
fn what_is_read_depends_on_what_was_read_before() {
    check(
        "int c;",
        "if (x > 1) // in
            getchar(); // in
        c = getchar(); // in
        putchar(c); // in
        return 0; // not in",
    );
}

#[test]
fn all_ways_of_reading_standard_input_share_its_position() {
    check(
        "char line[80]; int n;",
        "if (x > 1) // in
            scanf(\"%d\", &n); // in
        fgets(line, 80, stdin); // in
        puts(line); // in
        return 0; // not in",
    );
}

#[test]
fn what_is_printed_does_not_change_what_is_read() {
    check(
        "int c;",
        "printf(\"%d\\n\", x); // in
        fprintf(stderr, \"%d\\n\", x); // in
        c = getchar(); // not in
        putchar(c); // not in
        return 0; // not in",
    );
}

#[test]
fn a_file_gives_back_what_was_written_to_it() {
    check(
        "FILE *f = fopen(\"a\", \"w+\"); int c;",
        "fputc(x, f); // in
        rewind(f); // in
        c = fgetc(f); // in
        return c; // in",
    );
}

#[test]
fn a_file_opened_again_gives_back_what_was_written_to_it() {
    check(
        "FILE *f = fopen(\"a\", \"w\"), *g; int c;",
        "fprintf(f, \"%d\", x); // in
        fclose(f); // in
        g = fopen(\"a\", \"r\"); // in
        c = getc(g); // in
        return c; // in",
    );
}

#[test]
fn descriptors_give_back_what_was_written_to_them() {
    check(
        "int ends[2]; char c; pipe(ends);",
        "write(ends[1], &x, 1); // in
        read(ends[0], &c, 1); // in
        return c; // in",
    );
}

#[test]
fn random_numbers_depend_on_the_seed() {
    check(
        "",
        "srand(x); // in
        return rand(); // in",
    );
}

#[test]
fn the_environment_gives_back_what_was_set() {
    check(
        "char a[9] = \"\";",
        "a[0] = x; // in
        setenv(\"A\", a, 1); // in
        puts(getenv(\"A\")); // in
        return 0; // not in",
    );
}

#[test]
fn memory_is_moved_by_realloc_with_what_it_holds() {
    check(
        "int *p = malloc(8), *q;",
        "p[1] = x; // in
        q = realloc(p, 80); // in
        return q[1]; // in",
    );
}

#[test]
fn a_copy_of_a_string_holds_the_same() {
    check(
        "char a[9] = \"\", *b;",
        "a[0] = x; // in
        b = strdup(a); // in
        return b[0]; // in",
    );
}

#[test]
fn lines_read_by_getline_are_where_it_says() {
    check(
        "char *line = 0, *first; size_t room = 0;",
        "if (x) // in
            getline(&line, &room, stdin); // in
        first = line; // in
        puts(first); // in
        return 0; // not in",
    );
}

#[test]
fn unknown_functions_may_write_what_they_are_given() {
    check(
        "extern void fill(int *, int); int a = 0, b = 0;",
        "fill(&a, x); // in
        return a; // in",
    );
}

#[test]
fn unknown_functions_may_write_what_they_were_given_before() {
    check(
        "extern void keep(int *), change(int); int a = 0, b = 0; keep(&a);",
        "change(x); // in
        putchar(b); // not in
        return a; // in",
    );
}

#[test]
fn options_depend_on_the_arguments() {
    check(
        "int c;",
        "argv[1][0] = x; // in
        c = getopt(argc, argv, \"a:\"); // in
        puts(optarg); // in
        return c; // in",
    );
}

#[test]
fn a_date_depends_on_the_time_it_was_made_from() {
    check_forward_holds(
        "#include <time.h>
        int main(int argc, char **argv) {
            struct tm t = {0}, *u;
            t.tm_mday = argc; /*from*/
            time_t at = mktime(&t); // in
            u = localtime(&at); // in
            return u->tm_mon; // in
        }",
    );
}

#[test]
fn assembler_may_do_anything_to_its_operands() {
    check(
        "int a = 0;",
        "asm volatile(\"mov %1, %0\" : \"=m\"(a) : \"r\"(x)); // in
        return a; // in",
    );
}
