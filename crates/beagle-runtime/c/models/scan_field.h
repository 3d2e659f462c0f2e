/* The characters, words and sets of scanf. Only for scanf.c. */
#include "scan.h"

/* Where the characters of a field go: memory of the program's or, with %m, of our own that grows. */
struct field {
    char *at;
    ssize_t size;
    size_t unit;
};

static int allocates(const struct scan *s) {
    return (s->flags & (ALLOCATE | ALLOCATE_A)) != 0;
}

static enum outcome start_field(struct scan *s, struct field *field, ssize_t size, size_t unit) {
    field->at = NULL;
    field->size = size;
    field->unit = unit;
    if ((s->flags & SUPPRESS) != 0)
        return DONE;
    if (allocates(s)) {
        char **to = argument(s);
        if (to == NULL)
            return NO_MATCH;
        s->allocated = to;
        field->at = *to = malloc((size_t)size * unit);
        if (field->at == NULL)
            return (s->flags & ALLOCATE) != 0 ? FATAL : NO_MATCH;
        if (s->owned_count < MAX_OWNED)
            s->owned[s->owned_count++] = to;
    } else {
        field->at = argument(s);
    }
    return field->at == NULL ? NO_MATCH : DONE;
}

static int is_full(const struct scan *s, const struct field *field) {
    return allocates(s) && field->at == *s->allocated + (size_t)field->size * field->unit;
}

static enum outcome grow(struct scan *s, struct field *field, ssize_t size) {
    char *grown = realloc(*s->allocated, (size_t)size * field->unit);
    if (grown == NULL) {
        size = field->size + 1;
        grown = realloc(*s->allocated, (size_t)size * field->unit);
    }
    if (grown == NULL) {
        if ((s->flags & ALLOCATE) != 0)
            return FATAL;
        memset(*s->allocated + ((size_t)field->size - 1) * field->unit, 0, field->unit);
        s->allocated = NULL;
        s->done++;
        return NO_MATCH;
    }
    *s->allocated = grown;
    field->at = grown + (size_t)field->size * field->unit;
    field->size = size;
    return DONE;
}

/* Characters that are no white space or, with a set, those in it. */
struct set {
    const unsigned char *from;
    const unsigned char *to;
    int inverted;
};

/* Stores the last character; if that is the start of a longer one, reads on. */
static enum outcome store(struct scan *s, struct field *field, const struct set *set) {
    int assign = (s->flags & SUPPRESS) == 0;
    if (field->unit == 1) {
        if (assign)
            *field->at++ = (char)s->c;
        return DONE;
    }
    wchar_t wide = s->c;
    if (set != NULL && !assign)
        return DONE;
    if (s->c >= 0x80) {
        mbstate_t state;
        memset(&state, 0, sizeof state);
        bg_model_gap("scanf");
        for (;;) {
            char byte = (char)s->c;
            size_t n = mbrtowc(&wide, &byte, 1, &state);
            if (n == 1)
                break;
            if (n == (size_t)-1 && set != NULL) {
                /* A set only leaves a gap for what is no character. */
                if (assign)
                    field->at += sizeof wide;
                return DONE;
            }
            if (n != (size_t)-2 || next(s) == EOF) {
                errno = EILSEQ;
                return NO_MATCH;
            }
        }
    }
    if (assign) {
        *(wchar_t *)field->at = wide;
        field->at += sizeof wide;
    }
    return DONE;
}

/* Gives back what the field did not need. */
static void end_field(struct scan *s, struct field *field) {
    if ((s->flags & SUPPRESS) != 0)
        return;
    if (allocates(s) && field->at != *s->allocated + (size_t)field->size * field->unit) {
        char *cut = realloc(*s->allocated, (size_t)(field->at - *s->allocated));
        if (cut != NULL)
            *s->allocated = cut;
    }
    s->allocated = NULL;
    s->done++;
}

static enum outcome characters(struct scan *s, size_t unit) {
    struct field field;
    if (s->width == -1)
        s->width = 1;
    enum outcome outcome = start_field(s, &field, s->width > 1024 ? 1024 : s->width, unit);
    if (outcome != DONE)
        return outcome;
    if (next(s) == EOF)
        return NO_INPUT;
    do {
        if ((s->flags & SUPPRESS) == 0 && is_full(s, &field))
            outcome = grow(s, &field, field.size + (field.size >= s->width ? s->width - 1 : field.size));
        if (outcome == DONE)
            outcome = store(s, &field, NULL);
        if (outcome != DONE)
            return outcome;
    } while (--s->width > 0 && next(s) != EOF);
    end_field(s, &field);
    return DONE;
}

static int belongs(const struct set *set, int c) {
    if (set == NULL)
        return !bg_space(c);
    const unsigned char *f = set->from;
    int in = 0;
    if (f < set->to && (*f == ']' || *f == '-'))
        in |= c == *f++;
    while (f < set->to) {
        int item = *f++;
        if (item == '-' && f < set->to && f[-2] <= *f)
            in |= (c >= f[-2]) & (c < *f);
        else
            in |= c == item;
    }
    return in ^ set->inverted;
}

static enum outcome string(struct scan *s, struct field *field, const struct set *set) {
    size_t before = s->count;
    if (next(s) == EOF)
        return NO_INPUT;
    do {
        if (!belongs(set, s->c)) {
            back(s);
            break;
        }
        enum outcome outcome = store(s, field, set);
        if (outcome == DONE && (s->flags & SUPPRESS) == 0 && is_full(s, field))
            outcome = grow(s, field, 2 * field->size);
        if (outcome != DONE)
            return outcome;
    } while ((s->width <= 0 || --s->width > 0) && next(s) != EOF);
    if (set != NULL && s->count == before)
        return NO_MATCH;
    if ((s->flags & SUPPRESS) == 0) {
        for (size_t i = 0; i < field->unit; i++)
            *field->at++ = '\0';
    }
    end_field(s, field);
    return DONE;
}

/* A set in the format, which is left behind its end. */
static enum outcome set_string(struct scan *s, size_t unit) {
    struct field field;
    struct set set = {NULL, NULL, 0};
    enum outcome outcome = start_field(s, &field, 100, unit);
    if (outcome != DONE)
        return outcome;
    const unsigned char *f = s->format;
    if (*f == '^') {
        set.inverted = 1;
        f++;
    }
    set.from = f;
    if (*f == ']' || *f == '-')
        f++;
    while (*f != '\0' && *f != ']')
        f++;
    if (*f == '\0')
        return NO_MATCH;
    set.to = f;
    s->format = f + 1;
    return string(s, &field, &set);
}

static enum outcome word(struct scan *s, size_t unit) {
    struct field field;
    enum outcome outcome = start_field(s, &field, 100, unit);
    if (outcome != DONE)
        return outcome;
    return string(s, &field, NULL);
}
