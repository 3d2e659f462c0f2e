/* Compares the models with libc's own functions on random cases: models FAMILY CASES SEED. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static uint64_t state = 88172645463325252u;
static const char *family = "";
long gaps;

unsigned below(unsigned bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return bound == 0 ? 0 : (unsigned)((state >> 20) % bound);
}

char one_of(const char *set) {
    return set[below((unsigned)strlen(set))];
}

void differ(const char *format, ...) {
    va_list list;
    va_start(list, format);
    printf("%s: ", family);
    vprintf(format, list);
    printf("\n");
    va_end(list);
    fflush(stdout);
    _Exit(1);
}

const char *shown(const char *text, size_t len) {
    static char rooms[4][20000];
    static int turn;
    char *room = rooms[turn++ % 4];
    size_t at = 0;
    if (text == NULL)
        return "(null)";
    for (size_t i = 0; i < len && at < 19990; i++)
        at += (size_t)sprintf(room + at, text[i] >= ' ' && text[i] < 127 ? "%c" : "\\x%02x", (unsigned char)text[i]);
    room[at] = '\0';
    return room;
}

/* What the runtime gives the models, without a runtime. */
void bg_model_gap(const char *name) {
    (void)name;
    gaps++;
}

size_t bg_model_buffered(const void *stream, int delimiter) {
    const FILE *f = stream;
    size_t len = f->_IO_read_end > f->_IO_read_ptr ? (size_t)(f->_IO_read_end - f->_IO_read_ptr) : 0;
    const char *found = memchr(f->_IO_read_ptr, delimiter, len);
    return found == NULL ? len : (size_t)(found - f->_IO_read_ptr) + 1;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(long);
    } tests[] = {
        {"getopt", test_getopt}, {"strings", test_strings}, {"sorting", test_sorting},
        {"lines", test_lines},   {"scanf", test_scanf},
    };
    if (argc != 4)
        return 2;
    state += strtoull(argv[3], NULL, 10) * 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (strcmp(argv[1], tests[i].name) == 0) {
            family = tests[i].name;
            tests[i].run(atol(argv[2]));
            printf("%s: ok\n", family);
            return 0;
        }
    return 2;
}
