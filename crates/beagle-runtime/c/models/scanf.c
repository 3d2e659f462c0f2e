/* Models of the scanf family, as in glibc 2.36: what of the input each conversion takes is decided character
   by character; the text of a number is then converted as a whole, by strtol and the like, which gives one
   expression. */
#include "scan_field.h"
#include "scan_number.h"

/* A number in the format, which is not symbolic. */
static int read_int(const unsigned char **f) {
    long value = 0;
    while (bg_digit(**f)) {
        value = value * 10 + (*(*f)++ - '0');
        if (value > INT_MAX)
            value = INT_MAX;
    }
    return (int)value;
}

static void modifiers(struct scan *s, int variant) {
    const unsigned char *f = s->format;
    switch (*f) {
    case 'h':
        s->flags |= f[1] == 'h' ? CHAR : SHORT;
        f += f[1] == 'h' ? 2 : 1;
        break;
    case 'l':
        s->flags |= f[1] == 'l' ? LONG | LONG_LONG : LONG;
        f += f[1] == 'l' ? 2 : 1;
        break;
    case 'q':
    case 'L':
        s->flags |= LONG | LONG_LONG;
        f++;
        break;
    case 'a':
        if ((variant & OLD_A) != 0 && (f[1] == 's' || f[1] == 'S' || f[1] == '[')) {
            s->flags |= ALLOCATE_A;
            f++;
        }
        break;
    case 'm':
        s->flags |= ALLOCATE;
        f++;
        if (*f == 'l') {
            s->flags |= LONG;
            f++;
        }
        break;
    case 'z':
    case 'j':
    case 't':
        s->flags |= LONG;
        f++;
        break;
    }
    s->format = f;
}

/* What stands between % and the letter. */
static void specification(struct scan *s, int variant) {
    s->flags = 0;
    s->position = 0;
    s->width = 0;
    int got_width = 0;
    if (bg_digit(*s->format)) {
        int number = read_int(&s->format);
        if (*s->format == '$') {
            s->position = (unsigned)number;
            s->format++;
        } else {
            s->width = number;
            got_width = 1;
        }
    }
    if (!got_width) {
        for (; *s->format == '*' || *s->format == '\'' || *s->format == 'I'; s->format++) {
            if (*s->format == '*')
                s->flags |= SUPPRESS;
            else
                bg_model_gap("scanf"); /* grouped and national digits */
        }
        if (bg_digit(*s->format))
            s->width = read_int(&s->format);
    }
    if (s->width == 0)
        s->width = -1;
    modifiers(s, variant);
}

/* Skips white space. */
static enum outcome skip(struct scan *s) {
    int saved = errno;
    errno = 0;
    do {
        if ((s->c == EOF || next(s) == EOF) && errno == EINTR)
            return NO_INPUT;
    } while (bg_space(s->c));
    errno = saved;
    back(s);
    return DONE;
}

static enum outcome literal(struct scan *s, int wanted, int *skip_space) {
    if (next(s) == EOF)
        return NO_INPUT;
    if (*skip_space) {
        while (bg_space(s->c))
            if (next(s) == EOF)
                return NO_INPUT;
        *skip_space = 0;
    }
    if (s->c != wanted) {
        back(s);
        return NO_MATCH;
    }
    return DONE;
}

static enum outcome conversion(struct scan *s, int variant, int *skip_space) {
    specification(s, variant);
    if (*s->format == '\0')
        return NO_MATCH;
    int letter = *s->format++;
    if (*skip_space || (letter != '[' && letter != 'c' && letter != 'C' && letter != 'n')) {
        enum outcome outcome = skip(s);
        if (outcome != DONE)
            return outcome;
        *skip_space = 0;
    }
    size_t unit = (s->flags & LONG) != 0 ? sizeof(wchar_t) : 1;
    int none = 0;
    switch (letter) {
    case '%':
        return literal(s, '%', &none);
    case 'n':
        if ((s->flags & SUPPRESS) == 0)
            store_integer(s, s->count);
        return DONE;
    case 'c':
        return characters(s, unit);
    case 'C':
        return characters(s, sizeof(wchar_t));
    case 's':
        return word(s, unit);
    case 'S':
        return word(s, sizeof(wchar_t));
    case '[':
        return set_string(s, unit);
    case 'd':
        s->flags |= SIGNED;
        return integer(s, 10, variant);
    case 'i':
        s->flags |= SIGNED;
        return integer(s, 0, variant);
    case 'u':
        return integer(s, 10, variant);
    case 'x':
    case 'X':
        return integer(s, 16, variant);
    case 'o':
        return integer(s, 8, variant);
    case 'b':
        return (variant & BINARY) != 0 ? integer(s, 2, variant) : NO_MATCH;
    case 'p':
        s->flags = (s->flags & ~(SHORT | LONG_LONG)) | LONG | POINTER;
        return integer(s, 16, variant);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        return floating(s);
    default:
        return NO_MATCH;
    }
}

/* A character of several bytes in the format is matched byte by byte. */
static enum outcome multibyte(struct scan *s, mbstate_t *state, int *len) {
    *len = (int)mbrlen((const char *)s->format, strlen((const char *)s->format), state);
    for (int i = 0; i < *len; i++) {
        if (next(s) == EOF)
            return NO_INPUT;
        if (s->c != *s->format++) {
            back(s);
            return NO_MATCH;
        }
    }
    return DONE;
}

static enum outcome run(struct scan *s, int variant) {
    mbstate_t state;
    memset(&state, 0, sizeof state);
    int skip_space = 0;
    enum outcome outcome = DONE;
    while (*s->format != '\0' && outcome == DONE) {
        if (*s->format >= 0x80) {
            int len;
            outcome = multibyte(s, &state, &len);
            if (len > 0)
                continue;
        }
        int c = *s->format++;
        if (c == '%')
            outcome = conversion(s, variant, &skip_space);
        else if (bg_space(c))
            skip_space = 1;
        else
            outcome = literal(s, c, &skip_space);
    }
    if (outcome == DONE && skip_space) {
        do
            next(s);
        while (bg_space(s->c));
        back(s);
    }
    return outcome;
}

static int scan(FILE *stream, const char *text, const char *format, va_list list, int variant) {
    struct scan s;
    if (stream != NULL && !__freadable(stream)) {
        errno = EBADF;
        return EOF;
    }
    if (format == NULL) {
        errno = EINVAL;
        return EOF;
    }
    s.stream = stream;
    s.text = (const unsigned char *)text;
    s.c = 0;
    s.eof_errno = 0;
    s.count = 0;
    s.format = (const unsigned char *)format;
    s.done = 0;
    s.allocated = NULL;
    s.owned_count = 0;
    va_copy(s.first, list);
    va_copy(s.list, list);
    if (stream != NULL)
        flockfile(stream);
    enum outcome outcome = run(&s, variant);
    if (stream != NULL)
        funlockfile(stream);
    va_end(s.list);
    va_end(s.first);
    if (outcome == FATAL || (outcome == NO_INPUT && s.done == 0))
        s.done = EOF;
    if (s.done == EOF) {
        for (int i = 0; i < s.owned_count; i++) {
            free(*s.owned[i]);
            *s.owned[i] = NULL;
        }
    } else if (s.allocated != NULL) {
        free(*s.allocated);
        *s.allocated = NULL;
    }
    return s.done;
}

/* The six functions of one variant. */
#define FAMILY(prefix, variant)                                                                                        \
    int bg_m_##prefix##vfscanf(FILE *restrict stream, const char *restrict format, va_list list) {                     \
        return scan(stream, NULL, format, list, variant);                                                              \
    }                                                                                                                  \
    int bg_m_##prefix##vscanf(const char *restrict format, va_list list) {                                             \
        return scan(stdin, NULL, format, list, variant);                                                               \
    }                                                                                                                  \
    int bg_m_##prefix##vsscanf(const char *restrict text, const char *restrict format, va_list list) {                 \
        return scan(NULL, text, format, list, variant);                                                                \
    }                                                                                                                  \
    int bg_m_##prefix##fscanf(FILE *restrict stream, const char *restrict format, ...) {                               \
        va_list list;                                                                                                  \
        va_start(list, format);                                                                                        \
        int done = scan(stream, NULL, format, list, variant);                                                          \
        va_end(list);                                                                                                  \
        return done;                                                                                                   \
    }                                                                                                                  \
    int bg_m_##prefix##scanf(const char *restrict format, ...) {                                                       \
        va_list list;                                                                                                  \
        va_start(list, format);                                                                                        \
        int done = scan(stdin, NULL, format, list, variant);                                                           \
        va_end(list);                                                                                                  \
        return done;                                                                                                   \
    }                                                                                                                  \
    int bg_m_##prefix##sscanf(const char *restrict text, const char *restrict format, ...) {                           \
        va_list list;                                                                                                  \
        va_start(list, format);                                                                                        \
        int done = scan(NULL, text, format, list, variant);                                                            \
        va_end(list);                                                                                                  \
        return done;                                                                                                   \
    }

FAMILY(, OLD_A)
FAMILY(__isoc99_, 0)
FAMILY(__isoc23_, BINARY)
