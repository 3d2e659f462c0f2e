/* The numbers of scanf. Only for scanf.c. */
#include "scan.h"

static int is_hex(int c) {
    return bg_digit(c) | ((c >= 'a') & (c <= 'f')) | ((c >= 'A') & (c <= 'F'));
}

static int is_in_base(int c, int base) {
    if (base == 16)
        return is_hex(c);
    return (c >= '0') & (c < '0' + base);
}

static void narrow(struct scan *s) {
    if (s->width > 0)
        s->width--;
}

static enum outcome collect_integer(struct scan *s, struct number *n, int *base, int variant) {
    int c = s->c;
    if ((c == '-') | (c == '+')) {
        add(n, c);
        narrow(s);
        c = next(s);
    }
    if (s->width != 0 && c == '0') {
        narrow(s);
        add(n, c);
        c = next(s);
        if (s->width != 0 && bg_is_letter(c, 'x')) {
            if (*base == 0)
                *base = 16;
            if (*base == 16) {
                narrow(s);
                c = next(s);
            }
        } else if (s->width != 0 && (*base == 2 || (*base == 0 && (variant & BINARY) != 0)) &&
                   bg_is_letter(c, 'b')) {
            *base = 2;
            narrow(s);
            c = next(s);
        } else if (*base == 0) {
            *base = 8;
        }
    }
    if (*base == 0)
        *base = 10;
    while (c != EOF && s->width != 0) {
        if (!is_in_base(c, *base))
            break;
        if (add(n, c) != 0) {
            errno = ENOMEM;
            return FATAL;
        }
        narrow(s);
        c = next(s);
    }
    if (n->len == 0 || (n->len == 1 && (n->text[0] == '+' || n->text[0] == '-'))) {
        if (n->len == 0 && (s->flags & POINTER) != 0 && (s->width < 0 || s->width >= 5) && s->c == '(' &&
            bg_is_letter(next(s), 'n') && bg_is_letter(next(s), 'i') && bg_is_letter(next(s), 'l') &&
            next(s) == ')') {
            add(n, '0');
            return DONE;
        }
        back(s);
        return NO_MATCH;
    }
    back(s);
    return DONE;
}

static enum outcome integer(struct scan *s, int base, int variant) {
    struct number n;
    if (next(s) == EOF)
        return NO_INPUT;
    start_number(&n);
    enum outcome outcome = collect_integer(s, &n, &base, variant);
    if (outcome == DONE && add(&n, '\0') != 0) {
        errno = ENOMEM;
        outcome = FATAL;
    }
    if (outcome == DONE) {
        unsigned long value;
        if ((s->flags & SIGNED) != 0)
            value = (unsigned long)strtol(n.text, NULL, base);
        else
            value = strtoul(n.text, NULL, base);
        if ((s->flags & SUPPRESS) == 0) {
            store_integer(s, value);
            s->done++;
        }
    }
    end_number(&n);
    return outcome;
}

/* The rest of a word such as "nan", after its first letter. */
static enum outcome spell(struct scan *s, struct number *n, const char *rest) {
    for (; *rest != '\0'; rest++) {
        if (s->width == 0 || next(s) == EOF || !bg_is_letter(s->c, *rest))
            return NO_MATCH;
        narrow(s);
        add(n, s->c);
    }
    return DONE;
}

static enum outcome collect_infinity(struct scan *s, struct number *n) {
    enum outcome outcome = spell(s, n, "nf");
    if (outcome != DONE || s->width == 0 || next(s) == EOF)
        return outcome;
    if (!bg_is_letter(s->c, 'i')) {
        back(s);
        return DONE;
    }
    narrow(s);
    add(n, s->c);
    return spell(s, n, "nity");
}

static enum outcome collect_float(struct scan *s, struct number *n) {
    size_t sign = 0;
    int got_digit = 0, got_dot = 0, got_e = 0;
    int exponent = 'e';
    int point = (unsigned char)localeconv()->decimal_point[0];
    if ((s->c == '-') | (s->c == '+')) {
        sign = 1;
        add(n, s->c);
        if (s->width == 0 || next(s) == EOF)
            return NO_MATCH;
        narrow(s);
    }
    if (bg_is_letter(s->c, 'n')) {
        add(n, s->c);
        return spell(s, n, "an");
    }
    if (bg_is_letter(s->c, 'i')) {
        add(n, s->c);
        return collect_infinity(s, n);
    }
    if (s->width != 0 && s->c == '0') {
        add(n, s->c);
        next(s);
        narrow(s);
        if (s->width != 0 && bg_is_letter(s->c, 'x')) {
            add(n, s->c);
            s->flags |= HEX;
            exponent = 'p';
            next(s);
            narrow(s);
        } else {
            got_digit = 1;
        }
    }
    for (;;) {
        int failed = 0;
        if (bg_digit(s->c)) {
            failed = add(n, s->c);
            got_digit = 1;
        } else if (!got_e && (s->flags & HEX) != 0 && is_hex(s->c)) {
            failed = add(n, s->c);
            got_digit = 1;
        } else if (got_e && n->text[n->len - 1] == exponent && (s->c == '-') | (s->c == '+')) {
            failed = add(n, s->c);
        } else if (got_digit && !got_e && bg_is_letter(s->c, exponent)) {
            failed = add(n, exponent);
            got_e = got_dot = 1;
        } else if (!got_dot && s->c == point) {
            failed = add(n, s->c);
            got_dot = 1;
        } else {
            back(s);
            break;
        }
        if (failed) {
            errno = ENOMEM;
            return FATAL;
        }
        if (s->width == 0 || next(s) == EOF)
            break;
        narrow(s);
    }
    if (n->len == sign || ((s->flags & HEX) != 0 && n->len == 2 + sign))
        return NO_MATCH;
    return DONE;
}

static enum outcome convert_float(struct scan *s, char *text) {
    char *end;
    int assign = (s->flags & SUPPRESS) == 0;
    if ((s->flags & LONG_LONG) != 0) {
        long double value = strtold(text, &end);
        if (assign && end != text)
            *(long double *)argument(s) = value;
    } else if ((s->flags & LONG) != 0) {
        double value = strtod(text, &end);
        if (assign && end != text)
            *(double *)argument(s) = value;
    } else {
        float value = strtof(text, &end);
        if (assign && end != text)
            *(float *)argument(s) = value;
    }
    if (end == text)
        return NO_MATCH;
    s->done += assign;
    return DONE;
}

static enum outcome floating(struct scan *s) {
    struct number n;
    next(s);
    narrow(s);
    if (s->c == EOF)
        return NO_INPUT;
    start_number(&n);
    enum outcome outcome = collect_float(s, &n);
    if (outcome == DONE && add(&n, '\0') != 0) {
        errno = ENOMEM;
        outcome = FATAL;
    }
    if (outcome == DONE)
        outcome = convert_float(s, n.text);
    end_number(&n);
    return outcome;
}
