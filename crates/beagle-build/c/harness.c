/* Written by Beagle: calls one function with values from standard input and shows what comes of
   it. The source of the program is in front of this. */

#undef main
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *beagle_input;

/* The next bytes of the input. */
static void beagle_take(void *to, size_t size) {
    memcpy(to, beagle_input, size);
    beagle_input += size;
}

/* Reads all of the input, which has a fixed size: one decision about that is enough. */
static int beagle_read(size_t size) {
    beagle_input = malloc(size + 1);
    if (beagle_input && fread(beagle_input, 1, size, stdin) == size) return 1;
    printf("the input is shorter than %lu bytes\n", (unsigned long)size);
    return 0;
}

/* A text of at most 31 bytes, which takes 32 of the input, with some room behind it. Its memory is
   as large for shorter texts, so that nothing here depends on where it ends. */
static char *beagle_text(size_t room) {
    char *text = calloc(1, 32 + room);
    if (!text) exit(2);
    beagle_take(text, 32);
    text[31] = 0;
    return text;
}

/* How many elements a buffer has: one byte of the input, at most 32. */
static size_t beagle_count(void) {
    unsigned char count;
    beagle_take(&count, 1);
    return count % 33;
}

/* A buffer of just that many elements; it takes 32 of the input. */
static void *beagle_buffer(size_t count, size_t size) {
    unsigned char *all = malloc(32 * size), *buffer = malloc(count * size);
    if (!all || (!buffer && count)) exit(2);
    beagle_take(all, 32 * size);
    if (count) memcpy(buffer, all, count * size);
    free(all);
    return buffer;
}

#define BEAGLE_INTEGER(name, type, value)                                   \
    ((type)-1 < (type)1 ? printf("%s = %lld\n", name, (long long)(value))    \
                        : printf("%s = %llu\n", name, (unsigned long long)(value)))
#define BEAGLE_REAL(name, value) printf("%s = %.17g\n", name, (double)(value))
#define BEAGLE_TEXT(name, value)                                            \
    do {                                                                    \
        const char *beagle_it = (const char *)(value);                      \
        beagle_it ? printf("%s = \"%s\"\n", name, beagle_it) : printf("%s = null\n", name); \
    } while (0)
#define BEAGLE_RECORD(name, value)                                          \
    do {                                                                    \
        printf("%s = ", name);                                              \
        __builtin_dump_struct(value, printf);                               \
    } while (0)

