//! Each construct of C, with values that depend on the input all the way to the output.

use crate::support::{Traced, args};

/// Every program prints what it computes; the self-check compares each printed value with its
/// expression, and native runs compare the text.
fn check(text: &str, inputs: &[&[&str]]) -> usize {
    let mut traced = Traced::source(text);
    let mut pieces = 0;
    for input in inputs {
        let (_, report) = traced.agree(&args(input));
        pieces += report.pieces;
    }
    pieces
}

#[test]
fn integers_of_all_widths() {
    let pieces = check(
        r#"
        #include <stdint.h>
        #include <stdio.h>
        #include <stdlib.h>
        int main(int argc, char **argv) {
            if (argc < 3) return 1;
            long a = atol(argv[1]), b = atol(argv[2]);
            int8_t s8 = (int8_t)(a * b); uint16_t u16 = (uint16_t)(a - b); int i = (int)(a ^ b);
            unsigned u = (unsigned)a; unsigned long ul = (unsigned long)b; __int128 w = (__int128)a * b * 1000000007;
            _Bool z = a > b; struct { unsigned x : 5, y : 11; int t : 7; } f = { (unsigned)a, (unsigned)b, (int)(a + b) };
            printf("%d %u %d %u %lu\n", s8, u16, i, u >> 3, ul << 2);
            printf("%d %d %d %ld %ld\n", z, (int)(a >> 2), -i, b ? a / b : 0, b ? a % b : 0);
            printf("%llx %llx\n", (unsigned long long)(w >> 64), (unsigned long long)w);
            printf("%u %u %d\n", f.x, f.y, f.t);
            printf("%d %d %d\n", __builtin_popcountl(ul), u ? __builtin_clz(u) : 0, u ? __builtin_ctz(u) : 0);
            printf("%x %d\n", __builtin_bswap32(u), ({ long r; __builtin_mul_overflow(a, b, &r); }));
            return i & 7;
        }"#,
        &[
            &["12", "7"],
            &["-5", "3"],
            &["123456789012", "-98765"],
            &["0", "0"],
        ],
    );
    assert!(pieces > 60, "{pieces} printed values depend on the input");
}

#[test]
fn floats_and_doubles() {
    let pieces = check(
        r#"
        #include <math.h>
        #include <stdio.h>
        #include <stdlib.h>
        int main(int argc, char **argv) {
            if (argc < 3) return 1;
            double a = atof(argv[1]); float b = (float)atof(argv[2]); int n = atoi(argv[2]);
            double c = a * a + b, d = n / 3.0 - a;
            printf("%f %g %e %.3f\n", c, d, -a, (double)(b * b));
            printf("%d %u %ld\n", (int)d, (unsigned)fabs(c), (long)(b * 100));
            if (c > 2.5 && a < 1.1) puts("in"); else puts("out");
            printf("%d %d\n", a == d, !(a < b));
            return 0;
        }"#,
        &[&["1.05", "2"], &["-3.25", "40"], &["0", "0"]],
    );
    assert!(pieces > 20, "{pieces} printed values depend on the input");
}

#[test]
fn structures_pointers_arrays_and_tables() {
    let pieces = check(
        r#"
        #include <ctype.h>
        #include <stdio.h>
        #include <string.h>
        struct small { char a; short b; }; struct pair { long x, y; }; struct large { int v[20]; struct pair p; };
        static struct small make(char c) { struct small s = { c, (short)(c * 3) }; return s; }
        static struct pair swap(struct pair p) { struct pair q = { p.y, p.x }; return q; }
        static int sum(struct large l) { int s = 0; for (int i = 0; i < 20; i++) s += l.v[i]; l.v[0] = 9; return s + (int)l.p.y; }
        static const char table[] = "zyxwvutsrqponmlkjihgfedcba";
        static int (*const ops[])(int) = { isalpha, isdigit, toupper };
        int main(int argc, char **argv) {
            if (argc < 2) return 1;
            const char *s = argv[1];
            struct small m = make(s[0]); struct pair p = swap((struct pair){ m.a, m.b }); struct large l = {0};
            for (int i = 0; s[i] && i < 20; i++) l.v[i] = s[i];
            l.p = p;
            printf("%d %d %ld %ld %d\n", m.a, m.b, p.x, p.y, sum(l));
            for (const char *c = s; *c; c++) if (islower((unsigned char)*c)) putchar(table[*c - 'a']); else putchar(*c);
            putchar('\n');
            printf("%d\n", ops[(unsigned)s[0] % 3](s[1]) != 0);
            char copy[32]; memset(copy, 0, sizeof copy); strncpy(copy, s, sizeof copy - 1); memmove(copy + 1, copy, 8);
            union { float f; unsigned u; unsigned char b[4]; } n = { .u = (unsigned)s[0] << 16 | 0x3f800000u };
            printf("%s %g %u\n", copy, (double)n.f, n.b[2]);
            int vla[s[0] % 7 + 3]; for (int i = 0; i < s[0] % 7 + 3; i++) vla[i] = s[0] + i;
            printf("%d\n", vla[2]);
            return 0;
        }"#,
        &[&["hello"], &["Zz9"], &["!"]],
    );
    assert!(pieces > 20, "{pieces} printed values depend on the input");
}

#[test]
fn control_and_calls() {
    let pieces = check(
        r#"
        #include <setjmp.h>
        #include <stdarg.h>
        #include <stdio.h>
        #include <stdlib.h>
        static int total(int n, ...) { va_list ap; int s = 0; va_start(ap, n); for (int i = 0; i < n; i++) s += i % 2 ? (int)va_arg(ap, double) : va_arg(ap, int); va_end(ap); return s; }
        static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
        static int by(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
        static jmp_buf jump;
        static void fail(int code) { longjmp(jump, code); }
        static int classify(int c) { switch (c) { case 'a': return 1; case 'b': case 'c': return 2; case '0' ... '9': return 3; default: return 4; } }
        static int run(const char *code) { static void *const to[] = { &&add, &&mul, &&end }; int v = 1; const char *p = code;
            goto *to[*p++ % 3]; add: v += *p; goto *to[*p++ % 3]; mul: v *= 3; goto *to[*p++ % 3]; end: return v; }
        int main(int argc, char **argv) {
            if (argc < 2) return 1;
            char *s = argv[1]; int n = s[0] % 10;
            printf("%d %d %d\n", total(10, n, 1.0, n, 2.0, 3, (double)n, 4, 5.0, n, 6.0), fib(n), classify(s[0]));
            qsort(s, __builtin_strlen(s), 1, by);
            puts(s);
            int code = setjmp(jump);
            if (code == 0) { if (s[0] > '5') fail(s[0]); puts("no jump"); } else printf("jumped %d\n", code);
            printf("%d\n", run("\x03\x04\x02\x05"));
            int x = n > 4 ? n * 2 : n - 1; do { x--; } while (x > 0 && x % 5); 
            printf("%d %d\n", x, (n && x) || !s[1]);
            return 0;
        }"#,
        &[&["aq3"], &["b"], &["9zyx"], &["1"]],
    );
    assert!(pieces > 8, "{pieces} printed values depend on the input");
}

#[test]
fn what_is_not_followed_runs_as_natively_and_is_counted() {
    let mut traced = Traced::source_with(
        r#"
        #include <math.h>
        #include <stdio.h>
        #include <stdlib.h>
        int main(int argc, char **argv) {
            if (argc < 2) return 1;
            long double l = argv[1][0]; l = l * 1.5L + sqrtl(l);
            int in = argv[1][0], out;
            __asm__("lea 1(%1), %0" : "=r"(out) : "r"(in));
            printf("%.3Lf %d %.6f\n", l, out, sin(in));
            return 0;
        }"#,
        &["-lm"],
    );
    let (recording, _) = traced.agree(&args(&["a"]));
    let trace = recording.trace().expect("well-formed");
    let losses: Vec<String> = trace.losses().iter().map(|l| l.to_string()).collect();
    let text = losses.join("\n");
    for part in ["long double", "assembly", "sin"] {
        assert!(text.contains(part), "{part} is in\n{text}");
    }
}
