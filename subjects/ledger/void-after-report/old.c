/* ledger - summarise transactions in several currencies by category. */

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODE_SIZE 4
#define NAME_SIZE 13
#define MAX_RATES 16
#define MAX_CATEGORIES 32
#define MAX_HOPS 4
#define MAX_WORDS 5
#define LINE_SIZE 128
#define MAX_AMOUNT 1e12

enum { STATUS_DATA = 1, STATUS_USAGE = 2 };

/* One unit of `code` is worth `value` units of `via`. */
struct rate {
    char code[CODE_SIZE];
    char via[CODE_SIZE];
    double value;
};

struct category {
    char name[NAME_SIZE];
    unsigned long count;
    double total;
};

static struct rate rates[MAX_RATES];
static size_t nrates;
static struct category categories[MAX_CATEGORIES];     /* by name */
static size_t ncategories;

static char base_code[CODE_SIZE] = "USD";
static int digits = 2;
static double threshold = 25.0;
static double dust;
static bool by_total;
static unsigned long line_number;
static unsigned long skipped;

/* The latest transaction, for "void"; the category is -1 if there is none. */
static int last_category = -1;
static char last_name[NAME_SIZE];
static double last_amount;

static _Noreturn void die(int status, const char *format, ...)
{
    va_list ap;

    fflush(stdout);
    fputs("ledger: ", stderr);
    if (line_number > 0)
        fprintf(stderr, "line %lu: ", line_number);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(status);
}

/* ---- numbers ---- */

/* Rounds half away from zero. */
static double round_to(double x, int places)
{
    double scale = 1.0;
    double magnitude;

    while (places-- > 0)
        scale *= 10.0;
    magnitude = floor(fabs(x) * scale + 0.5) / scale;
    if (magnitude == 0.0)
        return 0.0;
    return x < 0.0 ? -magnitude : magnitude;
}

/* Parses a number in [0, limit]. */
static double parse_number(const char *text, double limit)
{
    char *end;
    double x;

    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        die(STATUS_DATA, "bad number '%s'", text);
    errno = 0;
    x = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0)
        die(STATUS_DATA, "bad number '%s'", text);
    if (!(x <= limit))
        die(STATUS_DATA, "number '%s' is too large", text);
    return x;
}

/* ---- currencies ---- */

static bool valid_code(const char *code)
{
    return strlen(code) == CODE_SIZE - 1 && isupper((unsigned char)code[0])
           && isupper((unsigned char)code[1]) && isupper((unsigned char)code[2]);
}

static struct rate *find_rate(const char *code)
{
    size_t i;

    for (i = 0; i < nrates; i++) {
        if (strcmp(rates[i].code, code) == 0)
            return &rates[i];
    }
    return NULL;
}

static void set_rate(const char *code, double value, const char *via)
{
    struct rate *r = find_rate(code);

    if (!valid_code(code) || !valid_code(via))
        die(STATUS_DATA, "bad currency code");
    if (value == 0.0)
        die(STATUS_DATA, "rate of %s is zero", code);
    if (strcmp(code, base_code) == 0)
        die(STATUS_DATA, "%s is the base currency", code);
    if (r == NULL) {
        if (nrates == MAX_RATES)
            die(STATUS_DATA, "more than %d rates", MAX_RATES);
        r = &rates[nrates++];
        strcpy(r->code, code);
    }
    strcpy(r->via, via);
    r->value = value;
}

/* Follows the chain of rates to the base currency. */
static double convert(double amount, const char *code)
{
    const char *from = code;
    int hops = 0;

    while (strcmp(code, base_code) != 0) {
        const struct rate *r = find_rate(code);

        if (r == NULL)
            die(STATUS_DATA, "no rate for '%s'", code);
        if (++hops > MAX_HOPS)
            die(STATUS_DATA, "rates of %s do not lead to %s", from, base_code);
        amount *= r->value;
        code = r->via;
    }
    return amount;
}

/* ---- transactions ---- */

static size_t find_category(const char *name)
{
    size_t i;

    for (i = 0; i < ncategories; i++) {
        if (strcmp(categories[i].name, name) == 0)
            return i;
    }
    if (strlen(name) >= NAME_SIZE)
        die(STATUS_DATA, "category name '%s' is too long", name);
    if (ncategories == MAX_CATEGORIES)
        die(STATUS_DATA, "more than %d categories", MAX_CATEGORIES);
    ncategories++;
    for (; i > 0 && strcmp(categories[i - 1].name, name) > 0; i--)
        categories[i] = categories[i - 1];
    strcpy(categories[i].name, name);
    categories[i].count = 0;
    categories[i].total = 0.0;
    return i;
}

static void post(const char *name, double amount)
{
    struct category *c;

    last_category = -1;
    if (fabs(amount) < dust) {
        skipped++;
        return;
    }
    last_category = (int)find_category(name);
    last_amount = amount;
    strcpy(last_name, name);
    c = &categories[last_category];
    c->count++;
    c->total += amount;
}

/* Takes back the latest transaction; its category goes if it is empty then. */
static void void_last(void)
{
    struct category *c;

    if (last_category < 0)
        die(STATUS_DATA, "nothing to void");
    c = &categories[find_category(last_name)];
    c->count--;
    c->total -= last_amount;
    if (c->count == 0) {
        ncategories--;
        memmove(c, c + 1, (size_t)(categories + ncategories - c) * sizeof *c);
    }
    last_category = -1;
}

/* ---- report ---- */

static int by_name_order(const void *a, const void *b)
{
    const struct category *x = a;
    const struct category *y = b;

    return strcmp(x->name, y->name);
}

static int by_total_order(const void *a, const void *b)
{
    const struct category *x = a;
    const struct category *y = b;

    if (x->total > y->total)
        return -1;
    if (x->total < y->total)
        return 1;
    return strcmp(x->name, y->name);
}

static void print_row(const char *name, unsigned long count, double total, double share)
{
    double average = total / (double)count;

    printf("%-12s %5lu %12.*f %12.*f %6.1f%%%s\n", name, count,
           digits, round_to(total, digits), digits, round_to(average, digits),
           round_to(share, 1), share >= threshold ? " *" : "");
}

static void report(void)
{
    static struct category copy[MAX_CATEGORIES];
    struct category *rows = memcpy(copy, categories, sizeof copy);
    unsigned long count = 0;
    double sum = 0.0;
    double turnover = 0.0;
    size_t i;

    qsort(rows, ncategories, sizeof rows[0], by_total ? by_total_order : by_name_order);
    for (i = 0; i < ncategories; i++) {
        count += rows[i].count;
        sum += rows[i].total;
        turnover += fabs(rows[i].total);
    }
    printf("%-12s %5s %12s %12s %7s\n", "category", "count", base_code, "average", "share");
    for (i = 0; i < ncategories; i++) {
        const struct category *c = &rows[i];
        double share = turnover > 0.0 ? 100.0 * fabs(c->total) / turnover : 0.0;

        if (c->count == 0)
            continue;
        print_row(c->name, c->count, c->total, share);
    }
    printf("%-12s %5lu %12.*f\n", "total", count, digits, round_to(sum, digits));
    if (skipped > 0)
        printf("skipped %lu\n", skipped);
}

/* ---- input ---- */

static size_t split(char *line, char **words)
{
    size_t n = 0;
    char *word;

    for (word = strtok(line, " \t\r\n"); word != NULL; word = strtok(NULL, " \t\r\n")) {
        if (n == MAX_WORDS)
            die(STATUS_DATA, "too many words");
        words[n++] = word;
    }
    return n;
}

static void handle_line(char *line)
{
    char *words[MAX_WORDS];
    size_t n = split(line, words);

    if (n == 0 || words[0][0] == '#')
        return;
    if (strcmp(words[0], "rate") == 0) {
        if (n != 3 && n != 4)
            die(STATUS_DATA, "expected: rate CODE VALUE [CODE]");
        set_rate(words[1], parse_number(words[2], MAX_AMOUNT), n == 4 ? words[3] : base_code);
    } else if (strcmp(words[0], "in") == 0 || strcmp(words[0], "out") == 0) {
        double amount;

        if (n != 3 && n != 4)
            die(STATUS_DATA, "expected: %s CATEGORY AMOUNT [CODE]", words[0]);
        amount = convert(parse_number(words[2], MAX_AMOUNT), n == 4 ? words[3] : base_code);
        post(words[1], words[0][0] == 'o' ? -amount : amount);
    } else if (strcmp(words[0], "void") == 0) {
        if (n != 1)
            die(STATUS_DATA, "expected: void");
        void_last();
    } else if (strcmp(words[0], "report") == 0) {
        if (n != 1)
            die(STATUS_DATA, "expected: report");
        report();
    } else {
        die(STATUS_DATA, "unknown word '%s'", words[0]);
    }
}

static _Noreturn void usage(void)
{
    fputs("usage: ledger [-s] [-b CODE] [-d DIGITS] [-m AMOUNT] [-t PERCENT] < transactions\n"
          "  -b  base currency (USD)\n"
          "  -d  decimal places, 0 to 6 (2)\n"
          "  -m  skip transactions of less than this amount\n"
          "  -s  sort by total\n"
          "  -t  mark categories with at least this share (25)\n", stderr);
    exit(STATUS_USAGE);
}

int main(int argc, char **argv)
{
    char line[LINE_SIZE];
    int opt;

    while ((opt = getopt(argc, argv, "b:d:m:st:")) != -1) {
        switch (opt) {
        case 'b':
            if (!valid_code(optarg))
                die(STATUS_USAGE, "bad currency code '%s'", optarg);
            strcpy(base_code, optarg);
            break;
        case 'd':
            if (strlen(optarg) != 1 || optarg[0] < '0' || optarg[0] > '6')
                die(STATUS_USAGE, "bad number of digits '%s'", optarg);
            digits = optarg[0] - '0';
            break;
        case 'm': dust = parse_number(optarg, MAX_AMOUNT); break;
        case 's': by_total = true; break;
        case 't': threshold = parse_number(optarg, 100.0); break;
        default: usage();
        }
    }
    if (optind != argc)
        usage();
    while (fgets(line, sizeof line, stdin) != NULL) {
        line_number++;
        if (strlen(line) == sizeof line - 1 && line[sizeof line - 2] != '\n')
            die(STATUS_DATA, "line is too long");
        handle_line(line);
    }
    report();
    return fflush(stdout) == 0 ? 0 : STATUS_DATA;
}
