/* What all models share.

   A model does what the libc function does, in plain C. It is compiled without optimisation and instrumented
   like the program, so its decisions are logged and its values followed. Hence the style:
   - tests of characters are comparisons, not look-ups in tables, and where several of them make one decision
     they are joined by | and &, so that it is one condition;
   - pointers come from loops, not from functions that would give an address that depends on the input;
   - other libc functions are called by their names, and replaced in turn.
   Nothing may be printed or taken from the heap that libc's own function would not. */
#ifndef BEAGLE_MODEL_H
#define BEAGLE_MODEL_H

#include <stddef.h>

/* The model met a case that it does not cover; counted in the trace. */
void bg_model_gap(const char *name);

/* How many bytes of the stream (a FILE) lie in its buffer, up to and with the first delimiter. */
size_t bg_model_buffered(const void *stream, int delimiter);

/* Whether the character is one of those in the set: one condition, however many there are. */
static inline int bg_one_of(int c, const char *set) {
    int found = 0;
    for (; *set != '\0'; set++)
        found |= (char)c == *set;
    return found;
}

/* White space in every locale of one-byte or UTF-8 characters. */
static inline int bg_space(int c) {
    return (c == ' ') | ((c >= '\t') & (c <= '\r'));
}

static inline int bg_digit(int c) {
    return (c >= '0') & (c <= '9');
}

/* As tolower does in the C locale, for a comparison with a letter. */
static inline int bg_is_letter(int c, int lower) {
    return (c == lower) | (c == lower - 'a' + 'A');
}

#endif
