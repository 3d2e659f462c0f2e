/*
 * fields - print selected fields of delimited lines
 *
 *     fields -f LIST [option...] [FILE...]
 *
 * LIST is a comma separated list of fields N and ranges N-M, N- and -M.
 * A bound written ~N counts from the last field: ~1 is the last one.
 * With -i, an empty field takes what stood last in its column since the last
 * empty line.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_RANGES 8
#define MAX_FIELD 9999
#define CHECK_MODULUS 97

enum { EXIT_BAD_LINE = 1, EXIT_USAGE = 2 };

/* One end of a range. */
struct bound {
    int number;
    bool from_end;
};

struct range {
    struct bound first;
    struct bound last;
};

struct list {
    struct range range[MAX_RANGES];
    int count;
};

/* A range whose bounds are plain field numbers of the current line. */
struct span {
    int first;
    int last;
};

struct options {
    char delimiter;
    const char *separator;      /* NULL: the delimiter */
    const char *filler;         /* what stands for an empty field */
    int expected;               /* number of fields of each line, 0: any */
    bool number_lines;
    bool pad;
    bool quotes;
    bool keep_order;
    bool only_delimited;
    bool merge;
    bool checked;
    bool inherit;
};

struct field {
    size_t start;
    size_t length;
};

struct record {
    char *text;
    size_t text_size;
    size_t length;
    struct field *field;
    size_t count;
    size_t capacity;
    unsigned long line;
};

/* What stood last in a column. */
struct column {
    char *text;
    size_t text_size;
    size_t length;
    unsigned long line;
};

/* The lines since the last empty one. */
struct table {
    struct column *column;
    size_t count;
    size_t capacity;
    unsigned long start;
};

static const char usage_text[] =
    "usage: fields -f LIST [-inpqrswx] [-c COUNT] [-d CHAR] [-e TEXT] [-o TEXT]\n"
    "              [FILE...]\n";

static int status;

static void die(const char *message, const char *detail)
{
    fprintf(stderr, "fields: %s", message);
    if (detail)
        fprintf(stderr, ": %s", detail);
    fputc('\n', stderr);
    exit(EXIT_USAGE);
}

static void complain(const char *name, const struct record *rec, const char *message)
{
    fprintf(stderr, "fields: %s:%lu: %s\n", name, rec->line, message);
    status = EXIT_BAD_LINE;
}

/* Parses a number from 1 to MAX_FIELD at *at and moves *at behind it. */
static int parse_number(const char **at)
{
    const char *start = *at;
    const char *p = start;
    int value = 0;

    while (isdigit((unsigned char)*p)) {
        value = value * 10 + (*p - '0');
        if (value > MAX_FIELD)
            die("number too large", start);
        p++;
    }
    if (p == start)
        die("number expected", start);
    if (value == 0)
        die("numbers start at 1", start);
    *at = p;
    return value;
}

static struct bound parse_bound(const char **at)
{
    struct bound bound = { 0, false };

    if (**at == '~') {
        bound.from_end = true;
        ++*at;
    }
    bound.number = parse_number(at);
    return bound;
}

static void parse_list(const char *text, struct list *list)
{
    static const struct bound very_first = { 1, false };
    static const struct bound very_last = { 1, true };
    const char *p = text;

    list->count = 0;
    for (;;) {
        struct range range;

        if (*p == '-') {
            range.first = very_first;
        } else {
            range.first = parse_bound(&p);
            range.last = range.first;
        }
        if (*p == '-') {
            p++;
            if (*p == ',' || *p == '\0')
                range.last = very_last;
            else
                range.last = parse_bound(&p);
        }
        if (list->count >= MAX_RANGES)
            die("too many ranges", text);
        list->range[list->count++] = range;
        if (*p == '\0')
            break;
        if (*p != ',')
            die("bad list", text);
        p++;
    }
}

static char parse_delimiter(const char *text)
{
    if (text[0] == '\\' && text[1] != '\0' && text[2] == '\0') {
        switch (text[1]) {
        case 't':
            return '\t';
        case '0':
            return '\0';
        case '\\':
            return '\\';
        }
    }
    if (text[0] == '\0' || text[1] != '\0')
        die("the delimiter must be one character", text);
    return text[0];
}

static void add_field(struct record *rec, size_t start, size_t end)
{
    if (rec->count == rec->capacity) {
        size_t capacity = rec->capacity ? rec->capacity * 2 : 8;
        struct field *grown = realloc(rec->field, capacity * sizeof *grown);

        if (!grown)
            die("out of memory", NULL);
        memset(grown + rec->capacity, 0, (capacity - rec->capacity) * sizeof *grown);
        rec->field = grown;
        rec->capacity = capacity;
    }
    rec->field[rec->count].start = start;
    rec->field[rec->count].length = end - start;
    rec->count++;
}

/* Splits the text of the record. Returns false if a quote stays open. */
static bool split_record(struct record *rec, const struct options *opt)
{
    size_t start = 0;
    size_t i;
    bool quoted = false;

    rec->count = 0;
    for (i = 0; i < rec->length; i++) {
        char c = rec->text[i];

        if (opt->quotes && c == '"') {
            quoted = !quoted;
        } else if (c == opt->delimiter && !quoted) {
            if (!opt->merge || i > start)
                add_field(rec, start, i);
            start = i + 1;
        }
    }
    if (!opt->merge || rec->length > start)
        add_field(rec, start, rec->length);

    /* Nothing of an earlier, longer line may remain. */
    for (i = rec->count; i < rec->capacity; i++) {
        rec->field[i].start = 0;
        rec->field[i].length = 0;
    }
    return !quoted;
}

static struct field get_field(const struct record *rec, int number)
{
    static const struct field missing = { 0, 0 };
    size_t index = (size_t)number - 1;

    if (index >= rec->count)
        return missing;
    return rec->field[index];
}

/*
 * The last field of a checked line is a number of two digits: the checksum
 * of the bytes before it. Removes this field, returns false if it is wrong.
 */
static bool verify_record(struct record *rec)
{
    struct field last;
    const char *digits;
    unsigned sum = 0;
    size_t i;

    if (rec->count < 2)
        return false;
    last = rec->field[rec->count - 1];
    digits = rec->text + last.start;
    if (last.length != 2 || !isdigit((unsigned char)digits[0]) ||
        !isdigit((unsigned char)digits[1]))
        return false;
    for (i = 0; i < last.start; i++)
        sum = (sum * 31 + (unsigned char)rec->text[i]) % CHECK_MODULUS;
    if (sum != (unsigned)((digits[0] - '0') * 10 + (digits[1] - '0')))
        return false;
    rec->count--;
    memset(&rec->field[rec->count], 0, sizeof rec->field[0]);
    return true;
}

/* Empty lines are between two tables: nothing is inherited across them. */
static void start_table(struct table *table, unsigned long line)
{
    size_t i;

    for (i = 0; i < table->count; i++)
        table->column[i].length = 0;
    table->count = 0;
    table->start = line;
}

static void set_column(struct column *column, const char *text, size_t length)
{
    if (length > column->text_size) {
        char *grown = realloc(column->text, length);

        if (!grown)
            die("out of memory", NULL);
        column->text = grown;
        column->text_size = length;
    }
    memcpy(column->text, text, length);
    column->length = length;
}

/* Keeps the fields of a line that are not empty for the lines below. */
static void remember_fields(struct table *table, const struct record *rec)
{
    size_t i;

    if (table->capacity < rec->capacity) {
        struct column *grown = realloc(table->column, rec->capacity * sizeof *grown);

        if (!grown)
            die("out of memory", NULL);
        memset(grown + table->capacity, 0,
               (rec->capacity - table->capacity) * sizeof *grown);
        table->column = grown;
        table->capacity = rec->capacity;
    }
    for (i = 0; i < rec->count; i++) {
        const struct field *field = &rec->field[i];

        if (field->length == 0)
            continue;
        while (table->count <= i)
            table->column[table->count++].length = 0;
        set_column(&table->column[i], rec->text + field->start, field->length);
        table->column[i].line = rec->line;
    }
}

/* Finds what is above an empty field; NULL if there is nothing. */
static const struct column *find_above(const struct table *table, int number)
{
    size_t index = (size_t)number - 1;

    if (index >= table->count)
        return NULL;
    if (table->column[index].line <= table->start)
        return NULL;
    return &table->column[index];
}

static int resolve_bound(const struct bound *bound, int count)
{
    return bound->from_end ? count - bound->number + 1 : bound->number;
}

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a;
    const struct span *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->last > y->last) - (x->last < y->last);
}

/* Joins spans that overlap or touch; the spans are sorted. */
static int merge_spans(struct span *span, int spans)
{
    int kept = 0;
    int i;

    for (i = 1; i < spans; i++) {
        if (span[i].first <= span[kept].last + 1) {
            if (span[i].last > span[kept].last)
                span[kept].last = span[i].last;
        } else {
            span[++kept] = span[i];
        }
    }
    return spans ? kept + 1 : 0;
}

/* Finds the fields to print of a line with so many fields. */
static int select_spans(const struct list *list, const struct options *opt, int count,
                        struct span *span)
{
    int spans = 0;
    int i;

    for (i = 0; i < list->count; i++) {
        int first = resolve_bound(&list->range[i].first, count);
        int last = resolve_bound(&list->range[i].last, count);

        if (first < 1)
            first = 1;
        if (last > count && !opt->pad)
            last = count;
        if (first <= last) {
            span[spans].first = first;
            span[spans].last = last;
            spans++;
        }
    }
    if (opt->keep_order)
        return spans;
    qsort(span, (size_t)spans, sizeof *span, compare_spans);
    return merge_spans(span, spans);
}

static void put_separator(const struct options *opt)
{
    if (opt->separator)
        fputs(opt->separator, stdout);
    else
        putchar(opt->delimiter);
}

static void print_record(const struct record *rec, const struct table *table,
                         const struct list *list, const struct options *opt)
{
    struct span span[MAX_RANGES];
    int spans = select_spans(list, opt, (int)rec->count, span);
    bool started = false;
    int i, n;

    if (opt->number_lines)
        printf("%lu ", rec->line);
    for (i = 0; i < spans; i++) {
        for (n = span[i].first; n <= span[i].last; n++) {
            struct field field = get_field(rec, n);
            const char *text = rec->text + field.start;
            size_t length = field.length;

            if (length == 0 && opt->inherit) {
                const struct column *above = find_above(table, n);

                if (above) {
                    text = above->text;
                    length = above->length;
                }
            }
            if (started)
                put_separator(opt);
            if (length == 0 && opt->filler)
                fputs(opt->filler, stdout);
            else if (length > 0)
                fwrite(text, 1, length, stdout);
            started = true;
        }
    }
    putchar('\n');
}

static void process(FILE *in, const char *name, const struct list *list,
                    const struct options *opt)
{
    struct record rec = { 0 };
    struct table table = { 0 };
    ssize_t got;
    size_t i;

    while ((got = getline(&rec.text, &rec.text_size, in)) != -1) {
        rec.line++;
        rec.length = (size_t)got;
        if (rec.length > 0 && rec.text[rec.length - 1] == '\n')
            rec.length--;
        if (rec.length == 0)
            start_table(&table, rec.line);
        if (!split_record(&rec, opt)) {
            complain(name, &rec, "unclosed quote");
            continue;
        }
        if (rec.count > MAX_FIELD) {
            complain(name, &rec, "too many fields");
            continue;
        }
        if (opt->only_delimited && rec.count < 2)
            continue;
        if (opt->checked && !verify_record(&rec)) {
            complain(name, &rec, "bad checksum");
            continue;
        }
        if (opt->expected && rec.count != (size_t)opt->expected) {
            complain(name, &rec, "unexpected number of fields");
            continue;
        }
        print_record(&rec, &table, list, opt);
        if (opt->inherit)
            remember_fields(&table, &rec);
    }
    if (ferror(in)) {
        fprintf(stderr, "fields: %s: %s\n", name, strerror(errno));
        status = EXIT_BAD_LINE;
    }
    for (i = 0; i < table.capacity; i++)
        free(table.column[i].text);
    free(table.column);
    free(rec.text);
    free(rec.field);
}

int main(int argc, char **argv)
{
    struct options opt = { .delimiter = ':' };
    struct list list = { .count = 0 };
    int c;

    while ((c = getopt(argc, argv, "c:d:e:f:ino:pqrswx")) != -1) {
        switch (c) {
        case 'c': {
            const char *end = optarg;

            opt.expected = parse_number(&end);
            if (*end != '\0')
                die("bad count", optarg);
            break;
        }
        case 'd':
            opt.delimiter = parse_delimiter(optarg);
            break;
        case 'e':
            opt.filler = optarg;
            break;
        case 'f':
            parse_list(optarg, &list);
            break;
        case 'i':
            opt.inherit = true;
            break;
        case 'n':
            opt.number_lines = true;
            break;
        case 'o':
            opt.separator = optarg;
            break;
        case 'p':
            opt.pad = true;
            break;
        case 'q':
            opt.quotes = true;
            break;
        case 'r':
            opt.keep_order = true;
            break;
        case 's':
            opt.only_delimited = true;
            break;
        case 'w':
            opt.merge = true;
            break;
        case 'x':
            opt.checked = true;
            break;
        default:
            fputs(usage_text, stderr);
            return EXIT_USAGE;
        }
    }
    if (list.count == 0) {
        fputs(usage_text, stderr);
        return EXIT_USAGE;
    }
    if (optind == argc)
        process(stdin, "-", &list, &opt);
    for (; optind < argc; optind++) {
        const char *name = argv[optind];
        FILE *in = fopen(name, "r");

        if (!in) {
            fprintf(stderr, "fields: %s: %s\n", name, strerror(errno));
            status = EXIT_BAD_LINE;
            continue;
        }
        process(in, name, &list, &opt);
        fclose(in);
    }
    if (fflush(stdout) != 0)
        die("cannot write", strerror(errno));
    return status;
}
