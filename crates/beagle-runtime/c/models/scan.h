/* What the parts of the model of scanf share: input, arguments, the text of a number. Only for scanf.c. */
#ifndef BEAGLE_SCAN_H
#define BEAGLE_SCAN_H

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "model.h"

/* Variants of the family. */
enum { OLD_A = 1, /* %as allocates, as %ms does */ BINARY = 2 /* %i knows 0b */ };

/* How a directive ended. */
enum outcome {
    DONE,
    NO_INPUT, /* the input ended: EOF if nothing was assigned yet */
    NO_MATCH,
    FATAL, /* no memory: EOF */
};

/* Modifiers. */
enum {
    LONG = 1,
    LONG_LONG = 2, /* or long double */
    SHORT = 4,
    CHAR = 8,
    SUPPRESS = 16,
    ALLOCATE = 32, /* m */
    ALLOCATE_A = 64, /* the old a */
    POINTER = 128,
    SIGNED = 256,
    HEX = 512,
};

#define MAX_OWNED 32

struct scan {
    /* Input: a stream or, if that is null, a string. */
    FILE *stream;
    const unsigned char *text;
    /* The last character; once it is EOF it stays. */
    int c;
    int eof_errno;
    size_t count;

    const unsigned char *format;
    va_list first;
    va_list list;
    unsigned position;
    int flags;
    int width;
    int done;

    /* The field under way, if it is allocated, and all that were. */
    char **allocated;
    char **owned[MAX_OWNED];
    int owned_count;
};

/* The text of a number, collected. */
struct number {
    char fixed[1024];
    char *text;
    size_t len;
    size_t size;
};

static int next(struct scan *s) {
    if (s->c == EOF) {
        errno = s->eof_errno;
        return EOF;
    }
    if (s->stream != NULL) {
        s->c = getc(s->stream);
    } else if (*s->text == '\0') {
        s->c = EOF;
    } else {
        s->c = *s->text++;
    }
    if (s->c == EOF)
        s->eof_errno = errno;
    else
        s->count++;
    return s->c;
}

static void back(struct scan *s) {
    if (s->c == EOF)
        return;
    s->count--;
    if (s->stream != NULL)
        ungetc(s->c, s->stream);
    else
        s->text--;
}

static void start_number(struct number *n) {
    n->text = n->fixed;
    n->len = 0;
    n->size = sizeof n->fixed;
}

static void end_number(struct number *n) {
    if (n->text != n->fixed)
        free(n->text);
}

static int add(struct number *n, int c) {
    if (n->len == n->size) {
        char *grown = malloc(2 * n->size);
        if (grown == NULL)
            return -1;
        memcpy(grown, n->text, n->len);
        end_number(n);
        n->text = grown;
        n->size *= 2;
    }
    n->text[n->len++] = (char)c;
    return 0;
}

static void *argument(struct scan *s) {
    if (s->position == 0)
        return va_arg(s->list, void *);
    va_list list;
    va_copy(list, s->first);
    for (unsigned i = 1; i < s->position; i++)
        (void)va_arg(list, void *);
    void *found = va_arg(list, void *);
    va_end(list);
    return found;
}

static void store_integer(struct scan *s, unsigned long value) {
    void *to = argument(s);
    if ((s->flags & (LONG | LONG_LONG)) != 0)
        *(unsigned long *)to = value;
    else if ((s->flags & SHORT) != 0)
        *(unsigned short *)to = (unsigned short)value;
    else if ((s->flags & CHAR) != 0)
        *(unsigned char *)to = (unsigned char)value;
    else
        *(unsigned *)to = (unsigned)value;
}

#endif
