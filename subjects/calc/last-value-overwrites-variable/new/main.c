/*
 * calc - evaluate integer expressions
 *
 *     calc [-sv] [-b BASE] [-w BITS] [TEXT...]
 *
 * Evaluates each TEXT, or else each line of the standard input. A text has
 * statements, separated by semicolons: an expression, whose value is printed,
 * NAME = EXPRESSION, or del NAME. The name _ stands for the last value printed.
 *
 * -b BASE  write numbers with base 2 to 36
 * -s       stop after the first error
 * -v       write the variables at the end
 * -w BITS  values must be signed numbers of so many bits
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calc.h"

static int output_base = 10;
static int width = 64;
static bool stop_early;
static int status;

static void print_number(number value)
{
    char digits[72];
    char *p = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    *--p = '\0';
    do {
        *--p = "0123456789abcdefghijklmnopqrstuvwxyz"[rest % (unsigned)output_base];
        rest /= (unsigned)output_base;
    } while (rest != 0);
    if (value < 0)
        *--p = '-';
    puts(p);
}

static bool fits(number value)
{
    number limit;

    if (width == 64)
        return true;
    limit = (number)1 << (width - 1);
    return value >= -limit && value < limit;
}

static bool store(struct variable *v, number value, int column, struct fault *fault)
{
    if (!v) {
        fault->message = "too many variables";
        fault->column = column;
        return false;
    }
    v->value = value;
    v->defined = true;
    return true;
}

static bool run_statement(const struct statement *statement, struct fault *fault)
{
    number value = 0;

    fault->column = statement->column;
    switch (statement->kind) {
    case S_EMPTY:
        return true;
    case S_DELETE:
        if (delete_variable(statement->name))
            return true;
        fault->message = "undefined variable";
        return false;
    default:
        break;
    }
    if (!evaluate(statement->value, &value, fault))
        return false;
    if (!fits(value)) {
        fault->message = "value too wide";
        return false;
    }
    if (statement->kind == S_ASSIGN)
        return store(declare_variable(statement->name), value, statement->column, fault);
    print_number(value);
    return store(declare_answer(), value, statement->column, fault);
}

/* Returns false if nothing more should be done. */
static bool run_text(const char *text, unsigned long line)
{
    static struct parser parser;
    struct statement statement;

    parse_start(&parser, text);
    do {
        struct fault fault = { NULL, 0 };

        if (!parse_statement(&parser, &statement))
            fault = parser.fault;
        else if (run_statement(&statement, &fault))
            continue;
        fprintf(stderr, "calc: %lu:%d: %s\n", line, fault.column, fault.message);
        status = 1;
        return !stop_early;
    } while (parse_more(&parser));
    return true;
}

static void run_lines(FILE *in)
{
    char *text = NULL;
    size_t size = 0;
    unsigned long line = 0;
    ssize_t length;

    while ((length = getline(&text, &size, in)) != -1) {
        line++;
        if (strlen(text) != (size_t)length) {
            fprintf(stderr, "calc: %lu: null byte\n", line);
            status = 1;
            if (stop_early)
                break;
        } else if (!run_text(text, line)) {
            break;
        }
    }
    free(text);
}

static int parse_option(const char *text, long low, long high)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high) {
        fprintf(stderr, "calc: not a number from %ld to %ld: %s\n", low, high, text);
        exit(2);
    }
    return (int)value;
}

int main(int argc, char **argv)
{
    bool list = false;
    unsigned long line = 1;
    int c;

    while ((c = getopt(argc, argv, "b:svw:")) != -1) {
        switch (c) {
        case 'b':
            output_base = parse_option(optarg, 2, 36);
            break;
        case 's':
            stop_early = true;
            break;
        case 'v':
            list = true;
            break;
        case 'w':
            width = parse_option(optarg, 2, 64);
            break;
        default:
            fputs("usage: calc [-sv] [-b BASE] [-w BITS] [TEXT...]\n", stderr);
            return 2;
        }
    }
    if (optind == argc)
        run_lines(stdin);
    while (optind < argc && run_text(argv[optind], line)) {
        optind++;
        line++;
    }
    if (list)
        print_variables(print_number);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "calc: cannot write: %s\n", strerror(errno));
        return 2;
    }
    return status;
}
