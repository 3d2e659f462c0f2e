/* sscanf and the other functions of the family: random formats and texts. */
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

int bg_m_sscanf(const char *, const char *, ...);
int bg_m_vsscanf(const char *, const char *, va_list);
int bg_m_fscanf(FILE *, const char *, ...);
int bg_m_scanf(const char *, ...);
int bg_m_vscanf(const char *, va_list);
int bg_m_vfscanf(FILE *, const char *, va_list);
int bg_m___isoc99_sscanf(const char *, const char *, ...);
int __isoc99_sscanf(const char *, const char *, ...);

#define ARGS 7
#define ROOM 256

static char format[200], text[200];
static int allocated[ARGS];
static char memory[2][ARGS][ROOM];

static void make(void) {
    static const char *const texts[] = {"0x1f", "-12",  "+7",   "0",     "007",  "0x",   "99999999999999999999",
                                        "1.5",  "-.5e", "1e+5", "inf",   "nan",  "infinity", "(nil)", "0x1p3",
                                        "abc",  "a-b",  "]x",   "nax",   "inx",  "infinix",  "1e",    ".",
                                        "-",    "%",    "0b11", "\xc3\xa9", "1,000", "nan(12)", "08", "0xg", "1.e3"};
    char *f = format, *t = text;
    int count = 0;
    memset(allocated, 0, sizeof allocated);
    for (unsigned n = 1 + below(5); n > 0; n--) {
        unsigned kind = below(12);
        if (kind == 0) {
            *f++ = one_of("ax,-%\xc3");
            if (f[-1] == '%')
                *f++ = '%';
            if (below(3))
                *t++ = f[-1];
            continue;
        }
        if (kind == 1) {
            *f++ = one_of(" \t\n");
            continue;
        }
        *f++ = '%';
        int suppress = below(6) == 0;
        if (suppress)
            *f++ = '*';
        int width = below(3) == 0 ? (int)(below(4) ? below(8) : below(150)) : -1;
        if (width >= 0)
            f += sprintf(f, "%d", width);
        int allocate = 0;
        if (below(8) == 0) {
            *f++ = 'm';
            allocate = 1;
        } else if (below(3) == 0) {
            static const char *const lengths[] = {"h", "hh", "l", "ll", "L", "z", "j", "t", "q"};
            f = stpcpy(f, lengths[below(9)]);
        }
        char letter = one_of(allocate ? "scs[" : "ddiuxXoncs[pfeEgGaAF%");
        if (below(60) == 0)
            letter = one_of("SCykb");
        *f++ = letter;
        if (letter == '[') {
            static const char *const sets[] = {"a-z]", "^,]", "]x]", "^]]", "0-9-]", "-a]", "z-a]", "a-]", "^a-c-e ]",
                                               "abc", "--z]", "\x80-\xff]"};
            f = stpcpy(f, sets[below(12)]);
            if (f[-1] != ']') /* It has no end, so it is the last. */
                n = 1;
        }
        if (!suppress && letter != '%') {
            if (allocate && strchr("scSC[", letter) != NULL)
                allocated[count] = letter == 'c' || letter == 'C' ? 2 : 1;
            count++;
        }
    }
    *f = '\0';
    for (unsigned n = below(7); n > 0; n--) {
        if (below(2))
            *t++ = one_of("  \t\n,");
        if (below(3))
            t = stpcpy(t, texts[below(sizeof texts / sizeof *texts)]);
        else
            for (unsigned k = below(below(20) ? 6 : 16); k > 0; k--)
                *t++ = one_of("0123456789abcxXeEpP.-+ \n");
    }
    *t = '\0';
}

/* Both ways to pass the arguments. */
static int pass(int (*function)(const char *, const char *, va_list), const char *a, const char *b, ...) {
    va_list list;
    va_start(list, b);
    int result = function(a, b, list);
    va_end(list);
    return result;
}

static int pass_stream(int (*function)(FILE *, const char *, va_list), FILE *a, const char *b, ...) {
    va_list list;
    va_start(list, b);
    int result = function(a, b, list);
    va_end(list);
    return result;
}

static int pass_stdin(int (*function)(const char *, va_list), const char *b, ...) {
    va_list list;
    va_start(list, b);
    int result = function(b, list);
    va_end(list);
    return result;
}

static int run(int who, int kind, FILE *f, long *position) {
    char(*m)[ROOM] = memory[who];
    FILE *kept = stdin;
    int result = 0;
    stdin = f;
    if (f != NULL)
        rewind(f);
    errno = 0;
#define ALL m[0], m[1], m[2], m[3], m[4], m[5], m[6]
    switch (kind) {
    case 0:
        result = (who ? bg_m_sscanf : sscanf)(text, format, ALL);
        break;
    case 1:
        result = (who ? bg_m___isoc99_sscanf : __isoc99_sscanf)(text, format, ALL);
        break;
    case 2:
        result = pass(who ? bg_m_vsscanf : vsscanf, text, format, ALL);
        break;
    case 3:
        result = (who ? bg_m_fscanf : fscanf)(f, format, ALL);
        break;
    case 4:
        result = pass_stream(who ? bg_m_vfscanf : vfscanf, f, format, ALL);
        break;
    case 5:
        result = (who ? bg_m_scanf : scanf)(format, ALL);
        break;
    default:
        result = pass_stdin(who ? bg_m_vscanf : vscanf, format, ALL);
        break;
    }
    stdin = kept;
    *position = f != NULL ? ftell(f) : 0;
    return result;
}

/* The memory of an argument: what it holds or, if it was allocated, what that holds. */
static int same_argument(int i) {
    char *a = memory[0][i], *b = memory[1][i];
    if (!allocated[i])
        return memcmp(a, b, ROOM) == 0;
    char *pa = *(char **)a, *pb = *(char **)b;
    if (memcmp(a + 8, b + 8, ROOM - 8) != 0 || (pa == NULL) != (pb == NULL))
        return 0;
    if (pa == NULL)
        return 1;
    int untouched = memcmp(a, "########", 8) == 0 && memcmp(b, "########", 8) == 0;
    if (untouched)
        return 1;
    size_t size = malloc_usable_size(pa);
    /* Single characters have no end of their own. */
    return size == malloc_usable_size(pb) && (allocated[i] == 2 ? *pa == *pb : strcmp(pa, pb) == 0);
}

static void tidy(int i) {
    for (int who = 0; who < 2; who++)
        if (allocated[i] && memcmp(memory[who][i], "########", 8) != 0)
            free(*(char **)memory[who][i]);
}

void test_scanf(long cases) {
    static char content[sizeof text];
    for (long n = 0; n < cases; n++) {
        make();
        int kind = (int)below(7);
        FILE *stream = NULL;
        if (kind >= 3) {
            size_t len = strlen(text);
            memcpy(content, text, len);
            stream = len == 0 || below(3) == 0 ? fopen("/dev/null", "r") : fmemopen(content, len, "r");
        }
        memset(memory, '#', sizeof memory);
        long pa, pb;
        int a = run(0, kind, stream, &pa);
        int ea = errno;
        int b = run(1, kind, stream, &pb);
        int eb = errno;
        int same = a == b && ea == eb && pa == pb;
        for (int i = 0; i < ARGS && same; i++)
            same = same_argument(i);
        if (!same)
            differ("case %ld, kind %d: text \"%s\", format \"%s\": result %d %d, errno %d %d, position %ld %ld, "
                   "first %s | %s",
                   n, kind, shown(text, strlen(text)), shown(format, strlen(format)), a, b, ea, eb, pa, pb,
                   shown(memory[0][0], 24), shown(memory[1][0], 24));
        for (int i = 0; i < ARGS; i++)
            tidy(i);
        if (stream != NULL)
            fclose(stream);
    }
}
