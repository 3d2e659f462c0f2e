/* mailmerge - fill the placeholders of a template from records. */

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define NAME_SIZE 12   /* longer names are cut, in records and templates alike */
#define VALUE_SIZE 24  /* longer values are cut */
#define MAX_FIELDS 6
#define MAX_WIDTH 40
#define OUT_SIZE 80

enum { STATUS_USAGE = 2, STATUS_TEMPLATE = 3, STATUS_DATA = 4 };

/* One "name=value" of a record. */
struct field {
    char name[NAME_SIZE];
    char value[VALUE_SIZE];
    bool filled;
};

struct record {
    struct field fields[MAX_FIELDS];
    size_t count;
};

/* A value defined by an "@name=value" line, for all following records. */
struct global {
    struct global *next;
    size_t uses;
    size_t length;      /* of the value */
    char name[NAME_SIZE];
    char value[VALUE_SIZE];
};

/* "{name^:width?fallback}" in the template; the width "*" is that of the widest global. */
struct placeholder {
    char name[NAME_SIZE];
    char fallback[VALUE_SIZE];
    bool has_fallback;
    bool upper;
    bool fit;
    int width;
};

struct output {
    char *text;
    size_t length;
};

static struct global *globals;
static struct global *last_hit;
static size_t widest;   /* the length of the longest value of a global */
static struct record current;
static unsigned long line_number;
static bool strict;

static _Noreturn void die(int status, const char *format, ...)
{
    va_list ap;

    fflush(stdout);
    if (line_number > 0)
        fprintf(stderr, "mailmerge: line %lu: ", line_number);
    else
        fputs("mailmerge: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(status);
}

/* Copies at most size - 1 bytes and terminates the copy. */
static void copy_bounded(char *dst, size_t size, const char *src, size_t length)
{
    if (length >= size)
        length = size - 1;
    memcpy(dst, src, length);
    dst[length] = '\0';
}

/* Removes leading and trailing white space in place. */
static char *trim(char *s)
{
    size_t length;

    while (isspace((unsigned char)*s))
        s++;
    length = strlen(s);
    while (length > 0 && isspace((unsigned char)s[length - 1]))
        s[--length] = '\0';
    return s;
}

/* ---- globals ---- */

static struct global *find_global(const char *name)
{
    struct global *g;

    if (last_hit != NULL && strcmp(last_hit->name, name) == 0)
        return last_hit;
    for (g = globals; g != NULL; g = g->next) {
        if (strcmp(g->name, name) == 0) {
            last_hit = g;
            return g;
        }
    }
    return NULL;
}

/* Finds the lengths of all values, and returns the longest. */
static size_t measure_globals(void)
{
    struct global *g;

    widest = 0;
    for (g = globals; g != NULL; g = g->next) {
        g->length = strlen(g->value);
        if (g->length > widest)
            widest = g->length;
    }
    return widest;
}

static void define_global(const char *name, const char *value)
{
    struct global *g = find_global(name);

    if (g == NULL) {
        g = calloc(1, sizeof *g);
        if (g == NULL)
            die(STATUS_DATA, "out of memory");
        copy_bounded(g->name, sizeof g->name, name, strlen(name));
        g->next = globals;
        globals = g;
    }
    copy_bounded(g->value, sizeof g->value, value, strlen(value));
    measure_globals();
}

static void append_global(const char *name, const char *value)
{
    struct global *g = find_global(name);
    size_t used;

    if (g == NULL) {
        define_global(name, value);
        return;
    }
    used = strlen(g->value);
    copy_bounded(g->value + used, sizeof g->value - used, value, strlen(value));
    measure_globals();
}

static void undefine_global(const char *name)
{
    struct global **link;

    for (link = &globals; *link != NULL; link = &(*link)->next) {
        struct global *g = *link;

        if (strcmp(g->name, name) == 0) {
            *link = g->next;
            if (last_hit == g)
                last_hit = NULL;
            free(g);
            measure_globals();
            return;
        }
    }
    die(STATUS_DATA, "no global '%s'", name);
}

static void free_globals(bool report)
{
    while (globals != NULL) {
        struct global *next = globals->next;

        if (report && globals->uses == 0)
            printf("unused: %s\n", globals->name);
        free(globals);
        globals = next;
    }
    last_hit = NULL;
}

/* "@name=value" defines, "@name+=value" appends, "@name" forgets. */
static void handle_global(char *text)
{
    char name[NAME_SIZE];
    char *equals = strchr(text, '=');
    bool append = equals != NULL && equals > text && equals[-1] == '+';

    if (equals != NULL)
        equals[append ? -1 : 0] = '\0';
    text = trim(text);
    if (*text == '\0')
        die(STATUS_DATA, "global without a name");
    copy_bounded(name, sizeof name, text, strlen(text));
    if (append)
        append_global(name, trim(equals + 1));
    else if (equals != NULL)
        define_global(name, trim(equals + 1));
    else
        undefine_global(name);
}

/* ---- records ---- */

static void reset_record(struct record *r)
{
    memset(r, 0, sizeof *r);
}

static void add_field(struct record *r, const char *name, const char *value)
{
    struct field *f;
    size_t length = strlen(value);

    if (r->count == MAX_FIELDS)
        die(STATUS_DATA, "more than %d fields", MAX_FIELDS);
    f = &r->fields[r->count++];
    copy_bounded(f->name, sizeof f->name, name, strlen(name));
    f->filled = length > 0;
    copy_bounded(f->value, sizeof f->value, value, length);
}

static void parse_record(struct record *r, char *line)
{
    char *item = line;

    reset_record(r);
    while (item != NULL) {
        char *next = strchr(item, ';');
        char *equals;

        if (next != NULL)
            *next++ = '\0';
        equals = strchr(item, '=');
        if (equals == NULL)
            die(STATUS_DATA, "field without '='");
        *equals = '\0';
        add_field(r, trim(item), trim(equals + 1));
        item = next;
    }
}

/* ---- templates ---- */

/* Parses behind the opening brace; returns the position behind the closing one. */
static const char *parse_placeholder(const char *p, struct placeholder *ph)
{
    const char *start = p;
    size_t length = strcspn(p, "^:?}");

    memset(ph, 0, sizeof *ph);
    if (length == 0)
        die(STATUS_TEMPLATE, "placeholder without a name");
    copy_bounded(ph->name, sizeof ph->name, p, length);
    p += length;
    for (;;) {
        switch (*p++) {
        case '}':
            return p;
        case '^':
            ph->upper = true;
            break;
        case ':':
            if (*p == '*') {
                ph->fit = true;
                p++;
                break;
            }
            if (!isdigit((unsigned char)*p))
                die(STATUS_TEMPLATE, "bad width in '{%s'", start);
            ph->fit = false;
            ph->width = 0;
            while (isdigit((unsigned char)*p)) {
                ph->width = ph->width * 10 + (*p++ - '0');
                if (ph->width > MAX_WIDTH)
                    die(STATUS_TEMPLATE, "width is more than %d", MAX_WIDTH);
            }
            break;
        case '?':
            length = strcspn(p, "}");
            copy_bounded(ph->fallback, sizeof ph->fallback, p, length);
            ph->has_fallback = true;
            p += length;
            break;
        case '\0':
            die(STATUS_TEMPLATE, "unterminated '{%s'", start);
        default:
            die(STATUS_TEMPLATE, "unknown modifier in '{%s'", start);
        }
    }
}

/* Record fields go before globals, and globals before the fallback. */
static const char *lookup(const struct record *r, const struct placeholder *ph)
{
    struct global *g;
    size_t i;

    for (i = 0; i < r->count; i++) {
        if (r->fields[i].filled && strcmp(r->fields[i].name, ph->name) == 0)
            return r->fields[i].value;
    }
    g = find_global(ph->name);
    if (g != NULL) {
        g->uses++;
        return g->value;
    }
    if (ph->has_fallback)
        return ph->fallback;
    if (strict)
        die(STATUS_DATA, "no value for '%s'", ph->name);
    return "";
}

static void append(struct output *out, const char *text, size_t length)
{
    if (out->length + length >= OUT_SIZE)
        die(STATUS_DATA, "result is longer than %d bytes", OUT_SIZE - 1);
    memcpy(out->text + out->length, text, length);
    out->length += length;
    out->text[out->length] = '\0';
}

static void append_placeholder(struct output *out, const struct placeholder *ph, const char *value)
{
    char cell[MAX_WIDTH + 1];
    int length = (int)strlen(value);
    int i;

    for (i = 0; i < length; i++)
        cell[i] = (char)(ph->upper ? toupper((unsigned char)value[i]) : value[i]);
    while (i < ph->width)
        cell[i++] = ' ';
    append(out, cell, (size_t)i);
}

static void expand(const char *template, const struct record *r)
{
    struct placeholder ph;
    struct output out = { malloc(OUT_SIZE), 0 };
    const char *p = template;

    if (out.text == NULL)
        die(STATUS_DATA, "out of memory");
    out.text[0] = '\0';
    while (*p != '\0') {
        size_t length = strcspn(p, "{");

        append(&out, p, length);
        p += length;
        if (*p == '\0')
            break;
        p++;
        if (*p == '{') {
            append(&out, p, 1);
            p++;
            continue;
        }
        p = parse_placeholder(p, &ph);
        if (ph.fit)
            ph.width = (int)measure_globals();
        append_placeholder(&out, &ph, lookup(r, &ph));
    }
    puts(out.text);
    free(out.text);
}

static _Noreturn void usage(void)
{
    fputs("usage: mailmerge [-su] TEMPLATE\n"
          "  -s  a placeholder without a value is an error\n"
          "  -u  report globals that were never used\n"
          "Reads from standard input: name=value;... (a record), @name=value, @name+=value, @name, # comment\n",
          stderr);
    exit(STATUS_USAGE);
}

int main(int argc, char **argv)
{
    bool report_unused = false;
    char *line = NULL;
    size_t capacity = 0;
    int opt;

    while ((opt = getopt(argc, argv, "su")) != -1) {
        switch (opt) {
        case 's': strict = true; break;
        case 'u': report_unused = true; break;
        default: usage();
        }
    }
    if (argc - optind != 1)
        usage();
    while (getline(&line, &capacity, stdin) != -1) {
        char *text = trim(line);

        line_number++;
        if (*text == '\0' || *text == '#')
            continue;
        if (*text == '@') {
            handle_global(text + 1);
            continue;
        }
        parse_record(&current, text);
        expand(argv[optind], &current);
    }
    free(line);
    free_globals(report_unused);
    return fflush(stdout) == 0 ? 0 : 1;
}
