/*
 * parse.c - reading of configuration files.
 *
 *   ; comment                     # comment
 *   [section]
 *   [section : other]             with the keys that the other one has so far
 *   key = plain value             ; blanks around it do not count
 *   key = "quoted\tvalue\x21"     with the escapes \n \t \\ \" and \xHH
 *   key = 'raw value'             taken literally
 *   key += value                  one more item of a list
 *   @include file                 keys without a section go into the current one
 *
 * A backslash at the end of a line joins it with the next one.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ini.h"

struct parser {
    struct config *cfg;
    struct section *section;
    FILE *in;
    const char *file;
    char *line, *value;
    size_t length, room;
    int number;    /* of the first line if several were joined */
    int continued; /* number of lines joined to it */
    int depth;
};

static char scratch[MAX_NAME + 1];

static void error(struct parser *p, const char *at, const char *fmt, ...)
{
    FILE *f = p->cfg->diagnostics;
    va_list ap;

    fprintf(f, "%s:%d:%d: ", p->file, p->number, (int)(at - p->line) + 1);
    va_start(ap, fmt);
    vfprintf(f, fmt, ap);
    va_end(ap);
    fputc('\n', f);
    p->cfg->errors++;
}

static void append(struct parser *p, int c)
{
    if (p->length == p->room) {
        p->room = p->room == 0 ? 80 : 2 * p->room;
        p->line = allocate(p->line, p->room);
        p->value = allocate(p->value, p->room);
    }
    p->line[p->length++] = (char)c;
}

/* Reads a line and those joined to it; returns 0 at the end of the file. */
static int read_line(struct parser *p)
{
    int c;

    p->length = 0;
    p->number += 1 + p->continued;
    p->continued = 0;
    while ((c = getc(p->in)) != EOF) {
        if (c != '\n') {
            append(p, c);
            continue;
        }
        if (p->length > 0 && p->line[p->length - 1] == '\r')
            p->length--;
        if (p->length == 0 || p->line[p->length - 1] != '\\')
            break;
        p->length--;
        p->continued++;
    }
    if (c == EOF && p->length == 0)
        return 0;
    append(p, '\0');
    p->length--;
    return 1;
}

static const char *skip_blanks(const char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    return s;
}

static int is_end(const char *s)
{
    return *s == '\0' || *s == ';' || *s == '#';
}

/* Reads the name of a section or key into scratch; NULL if there is none. */
static const char *take_name(struct parser *p, const char *s)
{
    size_t n = 0;

    while (isalnum((unsigned char)s[n]) || (s[n] != '\0' && strchr("_-./", s[n]) != NULL))
        n++;
    if (n == 0 || n > MAX_NAME) {
        error(p, s, n == 0 ? "name expected" : "name is too long");
        return NULL;
    }
    memcpy(scratch, s, n);
    scratch[n] = '\0';
    return s + n;
}

static int hex_digit(int c)
{
    if (isdigit(c))
        return c - '0';
    if (isxdigit(c))
        return tolower(c) - 'a' + 10;
    return -1;
}

/* Reads a value, which takes the rest of the line, into p->value. */
static int take_value(struct parser *p, const char *s)
{
    const char *start = s;
    char *out = p->value;

    if (*s == '"') {
        for (s++; *s != '"'; s++) {
            int high, low;

            if (*s == '\0') {
                error(p, start, "missing \"");
                return -1;
            }
            if (*s != '\\') {
                *out++ = *s;
                continue;
            }
            switch (*++s) {
            case 'n': *out++ = '\n'; break;
            case 't': *out++ = '\t'; break;
            case '\\':
            case '"': *out++ = *s; break;
            case 'x':
                high = hex_digit((unsigned char)s[1]);
                low = high < 0 ? -1 : hex_digit((unsigned char)s[2]);
                if (low < 0 || high + low == 0) {
                    error(p, s, "bad character code");
                    return -1;
                }
                *out++ = (char)(high << 4 | low);
                s += 2;
                break;
            default:
                error(p, s, "unknown escape");
                return -1;
            }
        }
        s++;
    } else if (*s == '\'') {
        for (s++; *s != '\''; s++) {
            if (*s == '\0') {
                error(p, start, "missing '");
                return -1;
            }
            *out++ = *s;
        }
        s++;
    } else {
        char *end = out;

        /* A comment needs a blank before it. */
        while (*s != '\0' && !(is_end(s) && (s == start || s[-1] == ' ' || s[-1] == '\t'))) {
            *out++ = *s;
            if (*s != ' ' && *s != '\t')
                end = out;
            s++;
        }
        out = end;
    }
    *out = '\0';
    s = skip_blanks(s);
    if (!is_end(s)) {
        error(p, s, "junk after the value");
        return -1;
    }
    return 0;
}

static void parse_header(struct parser *p, const char *s)
{
    const char *name, *other;
    struct section *parent = NULL;

    s = take_name(p, skip_blanks(s + 1));
    if (s == NULL)
        return;
    name = intern(p->cfg, scratch);
    s = skip_blanks(s);
    if (*s == ':') {
        other = skip_blanks(s + 1);
        s = take_name(p, other);
        if (s == NULL)
            return;
        parent = find_section(p->cfg, scratch);
        if (parent == NULL) {
            error(p, other, "no section '%s'", scratch);
            return;
        }
        s = skip_blanks(s);
    }
    if (*s != ']') {
        error(p, s, "] expected");
        return;
    }
    if (!is_end(skip_blanks(s + 1))) {
        error(p, s + 1, "junk after the section");
        return;
    }
    p->section = store_section(p->cfg, name);
    if (parent != NULL && parent != p->section)
        inherit_entries(p->cfg, p->section, parent);
}

static void parse_pair(struct parser *p, const char *key)
{
    const char *s = take_name(p, key);
    struct entry *e;
    int append;

    if (s == NULL)
        return;
    s = skip_blanks(s);
    append = *s == '+';
    if (append)
        s++;
    if (*s != '=') {
        error(p, s, "= expected");
        return;
    }
    s = skip_blanks(s + 1);
    if (take_value(p, s) < 0)
        return;
    if (p->section == NULL)
        p->section = store_section(p->cfg, "");
    e = find_entry(p->cfg, p->section, scratch);
    if (e != NULL && p->cfg->unique && !append) {
        error(p, key, "%s was set in %s:%d before", e->key, e->file, e->line);
        return;
    }
    if (e != NULL && append) {
        append_value(p->cfg, e, p->value);
    } else {
        if (e == NULL)
            e = store_entry(p->cfg, p->section, scratch);
        set_value(p->cfg, e, p->value);
    }
    e->file = p->file;
    e->line = p->number;
}

static int parse_stream(struct config *cfg, FILE *in, const char *name, struct section *section, int depth);

static void parse_include(struct parser *p, const char *s)
{
    const char *at;
    FILE *in;

    if (strncmp(s, "@include", 8) != 0 || (s[8] != ' ' && s[8] != '\t')) {
        error(p, s, "unknown directive");
        return;
    }
    at = skip_blanks(s + 8);
    if (take_value(p, at) < 0)
        return;
    if (p->depth == MAX_INCLUDES) {
        error(p, at, "includes are nested too deeply");
        return;
    }
    in = fopen(p->value, "r");
    if (in == NULL) {
        error(p, at, "cannot open '%s'", p->value);
        return;
    }
    if (parse_stream(p->cfg, in, p->value, p->section, p->depth + 1) < 0)
        error(p, at, "cannot read '%s'", p->value);
    fclose(in);
}

static void parse_line(struct parser *p)
{
    const char *s = skip_blanks(p->line);

    if (memchr(p->line, '\0', p->length) != NULL)
        error(p, p->line + strlen(p->line), "zero byte");
    else if (*s == '[')
        parse_header(p, s);
    else if (*s == '@')
        parse_include(p, s);
    else if (!is_end(s))
        parse_pair(p, s);
}

static int parse_stream(struct config *cfg, FILE *in, const char *name, struct section *section, int depth)
{
    struct parser p;

    memset(&p, 0, sizeof p);
    p.cfg = cfg;
    p.section = section;
    p.in = in;
    p.file = intern(cfg, name);
    p.depth = depth;
    while (read_line(&p))
        parse_line(&p);
    free(p.line);
    free(p.value);
    return ferror(in) ? -1 : 0;
}

/* Reads a file, or standard input if it is "-"; -1 if that is not possible. */
int parse_file(struct config *cfg, const char *name)
{
    int result;
    FILE *in;

    if (strcmp(name, "-") == 0)
        return parse_stream(cfg, stdin, "stdin", NULL, 0);
    in = fopen(name, "r");
    if (in == NULL)
        return -1;
    result = parse_stream(cfg, in, name, NULL, 0);
    fclose(in);
    return result;
}
