/*
 * subst - substitute text in lines
 *
 *     subst [option...] PATTERN REPLACEMENT [FILE]
 *
 * In a PATTERN,
 *     ?        matches one character,
 *     *        matches as few characters as possible,
 *     #        matches as many digits as possible, but at least one,
 *     {a|b}    matches one of the texts, the first that fits,
 *     ^ and $  as first and last character match the ends of the line,
 *     \x       matches the character x.
 * The first nine of ?, *, # and {} are groups. In a REPLACEMENT, \1 to \9 stand
 * for what they matched, & and \0 for the whole match, \n and \t for newline
 * and tab, and \x for any other character x. \# stands for the number of the
 * whole match: the first one of a paragraph has number 1, and each other text
 * the next one.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ITEMS 32
#define MAX_GROUPS 10           /* with the whole match */
#define NO_MATCH ((size_t)-1)
#define NO_GROUP (-1)
#define NUMBER (-2)             /* instead of a group */
#define MAX_TEXTS 64            /* that are numbered in a paragraph */

enum { EXIT_NOTHING = 1, EXIT_USAGE = 2 };

struct options {
    bool global;
    bool ignore_case;
    bool literal;
    bool whole_line;
    bool words;
    bool only_changed;
    bool count_only;
    bool must_change;
    unsigned long nth;          /* which match of a line comes first */
    unsigned long max;          /* replacements in all, 0: any number */
};

enum item_kind { LITERAL, ANY, RUN, DIGITS, CHOICE, LINE_END };

struct item {
    enum item_kind kind;
    const char *text;           /* of a literal or choice */
    size_t length;
    int group;
};

struct pattern {
    struct item item[MAX_ITEMS];
    int items;
    int groups;
    bool line_start;
    char *texts;
};

struct part {
    int group;                  /* or NO_GROUP: the text, or NUMBER */
    const char *text;
    size_t length;
};

struct replacement {
    struct part part[MAX_ITEMS];
    int parts;
    char *texts;
};

struct span {
    size_t start;
    size_t end;
};

struct matcher {
    const struct pattern *pattern;
    const struct options *opt;
    const char *line;
    size_t length;
    size_t start;               /* of the match that is tried */
    struct span group[MAX_GROUPS];
};

struct buffer {
    char *data;
    size_t length;
    size_t size;
};

/* A text that was matched; its number is its place, from 1. */
struct numbered {
    struct buffer text;
};

struct numbers {
    struct numbered entry[MAX_TEXTS];
    int count;
    int latest;                 /* the one found last, or -1 */
};

struct totals {
    unsigned long replaced;
    unsigned long changed_lines;
    unsigned long seen;         /* matches in the current line */
};

static void die(const char *message, const char *detail)
{
    fprintf(stderr, "subst: %s: %s\n", message, detail);
    exit(EXIT_USAGE);
}

static void *checked(void *memory)
{
    if (!memory)
        die("cannot allocate memory", strerror(errno));
    return memory;
}

/* Makes room for extra bytes and one more. */
static void reserve(struct buffer *buf, size_t extra)
{
    size_t need = buf->length + extra + 1;

    if (need > buf->size) {
        size_t size = buf->size ? buf->size : 16;

        while (size < need)
            size *= 2;
        buf->data = checked(realloc(buf->data, size));
        buf->size = size;
    }
}

static void add_bytes(struct buffer *buf, const char *bytes, size_t length)
{
    reserve(buf, length);
    memcpy(buf->data + buf->length, bytes, length);
    buf->length += length;
}

/* Numbers */

static bool same_text(const struct numbered *entry, const char *text, size_t length)
{
    return entry->text.length == length && memcmp(entry->text.data, text, length) == 0;
}

/* Numbers start again with each paragraph. */
static void start_paragraph(struct numbers *numbers)
{
    numbers->count = 0;
}

/* Finds the place of a text; -1 if it was not there yet. */
static int find_text(struct numbers *numbers, const char *text, size_t length)
{
    int i = numbers->latest;

    /* Often it is the same as before. */
    if (i >= 0 && same_text(&numbers->entry[i], text, length))
        return i;
    for (i = 0; i < numbers->count; i++) {
        if (same_text(&numbers->entry[i], text, length)) {
            numbers->latest = i;
            return i;
        }
    }
    return -1;
}

static int add_text(struct numbers *numbers, const char *text, size_t length)
{
    struct numbered *entry = &numbers->entry[numbers->count];

    if (numbers->count == MAX_TEXTS)
        die("too many different matches", text);
    entry->text.length = 0;
    add_bytes(&entry->text, text, length);
    return numbers->count++;
}

static void add_number(struct buffer *out, struct numbers *numbers, const char *text,
                       size_t length)
{
    char digits[16];
    int place = -1;

    if (numbers->count > 0)
        place = find_text(numbers, text, length);
    if (place < 0)
        place = add_text(numbers, text, length);
    snprintf(digits, sizeof digits, "%d", place + 1);
    add_bytes(out, digits, strlen(digits));
}

/* Patterns */

static struct item *add_item(struct pattern *pat, enum item_kind kind)
{
    struct item *item = &pat->item[pat->items];

    if (pat->items == MAX_ITEMS)
        die("pattern too long", pat->texts);
    item->kind = kind;
    item->text = NULL;
    item->length = 0;
    item->group = NO_GROUP;
    if (kind != LITERAL && kind != LINE_END && pat->groups < MAX_GROUPS)
        item->group = pat->groups++;
    pat->items++;
    return item;
}

/* Adds a character of a literal; the texts of literals grow in place. */
static void add_literal(struct pattern *pat, char **end, char c)
{
    struct item *item = pat->items > 0 ? &pat->item[pat->items - 1] : NULL;

    if (!item || item->kind != LITERAL) {
        item = add_item(pat, LITERAL);
        item->text = *end;
    }
    *(*end)++ = c;
    item->length++;
}

static void compile_pattern(struct pattern *pat, const char *text, bool literal)
{
    const char *p = text;
    char *end;

    memset(pat, 0, sizeof *pat);
    pat->groups = 1;
    pat->texts = checked(strdup(text));
    end = pat->texts;
    if (*p == '\0')
        die("empty pattern", "''");
    if (*p == '^' && !literal) {
        pat->line_start = true;
        p++;
    }
    for (; *p != '\0'; p++) {
        struct item *item;
        size_t length;

        if (literal) {
            add_literal(pat, &end, *p);
            continue;
        }
        switch (*p) {
        case '?':
            add_item(pat, ANY);
            break;
        case '*':
            add_item(pat, RUN);
            break;
        case '#':
            add_item(pat, DIGITS);
            break;
        case '{':
            length = strcspn(p + 1, "}");
            if (p[1 + length] == '\0')
                die("missing } in pattern", text);
            item = add_item(pat, CHOICE);
            item->text = p + 1;
            item->length = length;
            p += 1 + length;
            break;
        case '$':
            if (p[1] == '\0')
                add_item(pat, LINE_END);
            else
                add_literal(pat, &end, *p);
            break;
        case '\\':
            if (p[1] == '\0')
                die("trailing backslash in pattern", text);
            p++;
            add_literal(pat, &end, *p);
            break;
        default:
            add_literal(pat, &end, *p);
            break;
        }
    }
}

/* Replacements */

static void add_part(struct replacement *rep, int group, const char *text)
{
    struct part *part = &rep->part[rep->parts];

    if (rep->parts == MAX_ITEMS)
        die("replacement too long", rep->texts);
    part->group = group;
    part->text = text;
    part->length = 0;
    rep->parts++;
}

static void add_part_text(struct replacement *rep, char **end, char c)
{
    if (rep->parts == 0 || rep->part[rep->parts - 1].group != NO_GROUP)
        add_part(rep, NO_GROUP, *end);
    *(*end)++ = c;
    rep->part[rep->parts - 1].length++;
}

static void compile_replacement(struct replacement *rep, const char *text, int groups)
{
    const char *p;
    char *end;

    memset(rep, 0, sizeof *rep);
    rep->texts = checked(strdup(text));
    end = rep->texts;
    for (p = text; *p != '\0'; p++) {
        if (*p == '&') {
            add_part(rep, 0, NULL);
            continue;
        }
        if (*p != '\\') {
            add_part_text(rep, &end, *p);
            continue;
        }
        p++;
        if (*p == '\0')
            die("trailing backslash in replacement", text);
        if (*p == '#') {
            add_part(rep, NUMBER, NULL);
        } else if (isdigit((unsigned char)*p)) {
            if (*p - '0' >= groups)
                die("no such group in the pattern", p);
            add_part(rep, *p - '0', NULL);
        } else if (*p == 'n') {
            add_part_text(rep, &end, '\n');
        } else if (*p == 't') {
            add_part_text(rep, &end, '\t');
        } else {
            add_part_text(rep, &end, *p);
        }
    }
}

/* Matching */

static bool same(const struct matcher *m, size_t at, const char *text, size_t length)
{
    size_t i;

    if (length > m->length - at)
        return false;
    for (i = 0; i < length; i++) {
        unsigned char a = (unsigned char)m->line[at + i];
        unsigned char b = (unsigned char)text[i];

        if (a != b && !(m->opt->ignore_case && tolower(a) == tolower(b)))
            return false;
    }
    return true;
}

static bool is_word(const struct matcher *m, size_t at)
{
    return at < m->length && (isalnum((unsigned char)m->line[at]) || m->line[at] == '_');
}

/* May a match end here? */
static bool acceptable(const struct matcher *m, size_t end)
{
    if (m->opt->whole_line && end != m->length)
        return false;
    if (!m->opt->words)
        return true;
    return !is_word(m, end) && (m->start == 0 || !is_word(m, m->start - 1));
}

static void set_group(struct matcher *m, const struct item *item, size_t start, size_t end)
{
    if (item->group != NO_GROUP) {
        m->group[item->group].start = start;
        m->group[item->group].end = end;
    }
}

/* Matches the items from this one on; returns the end of the match. */
static size_t match_items(struct matcher *m, int index, size_t at)
{
    const struct item *item = &m->pattern->item[index];
    size_t next, end, length;

    if (index == m->pattern->items)
        return acceptable(m, at) ? at : NO_MATCH;
    switch (item->kind) {
    case LITERAL:
        if (!same(m, at, item->text, item->length))
            return NO_MATCH;
        return match_items(m, index + 1, at + item->length);
    case LINE_END:
        return at == m->length ? match_items(m, index + 1, at) : NO_MATCH;
    case ANY:
        if (at == m->length)
            return NO_MATCH;
        set_group(m, item, at, at + 1);
        return match_items(m, index + 1, at + 1);
    case RUN:
        for (next = at; next <= m->length; next++) {
            set_group(m, item, at, next);
            end = match_items(m, index + 1, next);
            if (end != NO_MATCH)
                return end;
        }
        return NO_MATCH;
    case DIGITS:
        next = at;
        while (next < m->length && isdigit((unsigned char)m->line[next]))
            next++;
        for (; next > at; next--) {
            set_group(m, item, at, next);
            end = match_items(m, index + 1, next);
            if (end != NO_MATCH)
                return end;
        }
        return NO_MATCH;
    case CHOICE:
        for (next = 0; next <= item->length; next += length + 1) {
            const char *text = item->text + next;

            length = strcspn(text, "|}");
            if (!same(m, at, text, length))
                continue;
            set_group(m, item, at, at + length);
            end = match_items(m, index + 1, at + length);
            if (end != NO_MATCH)
                return end;
        }
        return NO_MATCH;
    }
    return NO_MATCH;
}

/* Finds the first match that starts at from or later. */
static bool find_match(struct matcher *m, size_t from)
{
    for (m->start = from; m->start <= m->length; m->start++) {
        size_t end;

        if (m->start > 0 && (m->pattern->line_start || m->opt->whole_line))
            return false;
        end = match_items(m, 0, m->start);
        if (end != NO_MATCH) {
            m->group[0].start = m->start;
            m->group[0].end = end;
            return true;
        }
    }
    return false;
}

/* Lines */

static void expand(const struct replacement *rep, const struct matcher *m,
                   struct numbers *numbers, struct buffer *out)
{
    const struct span *match = &m->group[0];
    int i;

    for (i = 0; i < rep->parts; i++) {
        const struct part *part = &rep->part[i];

        if (part->group == NO_GROUP) {
            add_bytes(out, part->text, part->length);
        } else if (part->group == NUMBER) {
            add_number(out, numbers, m->line + match->start, match->end - match->start);
        } else {
            const struct span *group = &m->group[part->group];

            add_bytes(out, m->line + group->start, group->end - group->start);
        }
    }
}

/* Writes the line with its replacements to out. Returns whether there are any. */
static bool replace_line(struct matcher *m, const struct replacement *rep,
                         struct numbers *numbers, struct totals *totals,
                         struct buffer *out)
{
    const struct options *opt = m->opt;
    unsigned long before = totals->replaced;
    size_t done = 0;
    size_t from = 0;

    totals->seen = 0;
    out->length = 0;
    while ((opt->max == 0 || totals->replaced < opt->max) && find_match(m, from)) {
        const struct span *match = &m->group[0];

        totals->seen++;
        add_bytes(out, m->line + done, match->start - done);
        done = match->end;
        from = match->end;
        if (totals->seen >= opt->nth) {
            expand(rep, m, numbers, out);
            totals->replaced++;
            if (!opt->global)
                break;
        } else {
            add_bytes(out, m->line + match->start, match->end - match->start);
        }
        from += match->start == match->end;     /* do not find the same nothing again */
    }
    add_bytes(out, m->line + done, m->length - done);
    return totals->replaced > before;
}

static void process(FILE *in, struct matcher *m, const struct replacement *rep,
                    struct totals *totals)
{
    struct numbers numbers = { .latest = -1 };
    struct buffer out = { 0 };
    char *line = NULL;
    size_t size = 0;
    ssize_t got;
    int i;

    reserve(&out, 15);
    while ((got = getline(&line, &size, in)) != -1) {
        bool newline = got > 0 && line[got - 1] == '\n';
        bool changed;

        m->line = line;
        m->length = (size_t)got - (newline ? 1 : 0);
        if (m->length == 0)
            start_paragraph(&numbers);
        changed = replace_line(m, rep, &numbers, totals, &out);
        if (changed)
            totals->changed_lines++;
        if (m->opt->count_only || (m->opt->only_changed && !changed))
            continue;
        if (newline)
            add_bytes(&out, "\n", 1);
        fwrite(out.data, 1, out.length, stdout);
    }
    for (i = 0; i < MAX_TEXTS; i++)
        free(numbers.entry[i].text.data);
    free(line);
    free(out.data);
}

static unsigned long parse_count(const char *text)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end != '\0' || errno != 0 || value == 0)
        die("not a positive number", text);
    return value;
}

static int usage(void)
{
    fputs("usage: subst [-cgiLpswx] [-m MAX] [-n NTH] PATTERN REPLACEMENT [FILE]\n", stderr);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct options opt = { .nth = 1 };
    struct totals totals = { 0 };
    struct matcher matcher = { .opt = &opt };
    struct pattern pattern;
    struct replacement replacement;
    FILE *in = stdin;
    int status = EXIT_SUCCESS;
    int c;

    while ((c = getopt(argc, argv, "cgiLm:n:pswx")) != -1) {
        switch (c) {
        case 'c':
            opt.count_only = true;
            break;
        case 'g':
            opt.global = true;
            break;
        case 'i':
            opt.ignore_case = true;
            break;
        case 'L':
            opt.literal = true;
            break;
        case 'm':
            opt.max = parse_count(optarg);
            break;
        case 'n':
            opt.nth = parse_count(optarg);
            break;
        case 'p':
            opt.only_changed = true;
            break;
        case 's':
            opt.must_change = true;
            break;
        case 'w':
            opt.words = true;
            break;
        case 'x':
            opt.whole_line = true;
            break;
        default:
            return usage();
        }
    }
    if (argc - optind < 2 || argc - optind > 3)
        return usage();
    compile_pattern(&pattern, argv[optind], opt.literal);
    compile_replacement(&replacement, argv[optind + 1], pattern.groups);
    matcher.pattern = &pattern;
    if (argc - optind == 3) {
        in = fopen(argv[optind + 2], "r");
        if (!in)
            die(argv[optind + 2], strerror(errno));
    }
    process(in, &matcher, &replacement, &totals);
    if (ferror(in))
        die("cannot read", strerror(errno));
    if (in != stdin)
        fclose(in);
    if (opt.count_only)
        printf("%lu replaced in %lu lines\n", totals.replaced, totals.changed_lines);
    if (opt.must_change && totals.replaced == 0)
        status = EXIT_NOTHING;
    free(pattern.texts);
    free(replacement.texts);
    if (fflush(stdout) != 0)
        die("cannot write", strerror(errno));
    return status;
}
