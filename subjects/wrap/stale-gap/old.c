/*
 * wrap: fills the paragraphs of standard input to a given width.
 *
 * usage: wrap [-w WIDTH] [-i INDENT] [-s]
 *
 *   -w WIDTH   columns of a line, 1 to 200 (default 72)
 *   -i INDENT  columns by which all lines but the first of a paragraph are
 *              indented, less than WIDTH (default 0)
 *   -s         split words that do not fit into a line of their own
 *
 * Paragraphs are separated by empty lines. Exit status: 0, 1 if a word is too
 * long to be read, 2 for a wrong call.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_WIDTH 72
#define MAX_WIDTH 200
#define MAX_WORD 256

struct layout {
    long width;
    long indent;
    int split;
};

/* How far the current line has got. */
struct line {
    long column;
    long words;
};

/* What stands before a word. */
enum gap { GAP_SPACE, GAP_PARAGRAPH, GAP_END };

static void usage(void)
{
    fputs("usage: wrap [-w WIDTH] [-i INDENT] [-s]\n", stderr);
    exit(2);
}

static long parse_number(const char *text, long low, long high, const char *what)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < low || number > high) {
        fprintf(stderr, "wrap: %s must be a number from %ld to %ld: '%s'\n", what, low, high, text);
        exit(2);
    }
    return number;
}

/* Skips white space, and tells what it means. */
static enum gap skip_gap(void)
{
    int newlines = 0;
    int c;

    while ((c = getchar()) != EOF && isspace(c)) {
        if (c == '\n')
            newlines++;
    }
    if (c == EOF)
        return GAP_END;
    ungetc(c, stdin);
    return newlines >= 2 ? GAP_PARAGRAPH : GAP_SPACE;
}

/* Reads a word into a buffer of MAX_WORD bytes and returns its length. */
static size_t read_word(char *word)
{
    size_t length = 0;
    int c;

    while ((c = getchar()) != EOF && !isspace(c)) {
        if (length == MAX_WORD) {
            fprintf(stderr, "wrap: a word is longer than %d bytes\n", MAX_WORD);
            exit(1);
        }
        word[length++] = (char)c;
    }
    if (c != EOF)
        ungetc(c, stdin);
    return length;
}

static void end_line(struct line *line)
{
    putchar('\n');
    line->column = 0;
    line->words = 0;
}

static void start_line(const struct layout *layout, struct line *line)
{
    for (long i = 0; i < layout->indent; i++)
        putchar(' ');
    line->column = layout->indent;
}

static void put_text(struct line *line, const char *text, size_t length)
{
    fwrite(text, 1, length, stdout);
    line->column += (long)length;
}

/* Puts as much of a long word on each line as there is room for. */
static void put_split(const struct layout *layout, struct line *line, const char *word, size_t length)
{
    while (length > 0) {
        size_t room = (size_t)(layout->width - line->column);
        size_t part = length < room ? length : room;

        put_text(line, word, part);
        word += part;
        length -= part;
        if (length > 0) {
            end_line(line);
            start_line(layout, line);
        }
    }
}

static void put_word(const struct layout *layout, struct line *line, const char *word, size_t length)
{
    long end = line->column + 1 + (long)length;

    if (line->words > 0 && line->column > 0) {
        if (end > layout->width) {
            end_line(line);
            start_line(layout, line);
        } else {
            put_text(line, " ", 1);
        }
    }
    if (layout->split && line->column + (long)length > layout->width)
        put_split(layout, line, word, length);
    else
        put_text(line, word, length);
    line->words++;
}

int main(int argc, char **argv)
{
    struct layout layout = { DEFAULT_WIDTH, 0, 0 };
    struct line line = { 0, 0 };
    char word[MAX_WORD];
    long words = 0;
    enum gap gap;
    int option;

    while ((option = getopt(argc, argv, "w:i:s")) != -1) {
        switch (option) {
        case 'w':
            layout.width = parse_number(optarg, 1, MAX_WIDTH, "the width");
            break;
        case 'i':
            layout.indent = parse_number(optarg, 0, MAX_WIDTH - 1, "the indent");
            break;
        case 's':
            layout.split = 1;
            break;
        default:
            usage();
        }
    }
    if (optind != argc)
        usage();
    if (layout.indent >= layout.width) {
        fputs("wrap: the indent must be less than the width\n", stderr);
        return 2;
    }
    while ((gap = skip_gap()) != GAP_END) {
        if (gap == GAP_PARAGRAPH && words > 0) {
            end_line(&line);
            putchar('\n');
            line.column = 0;
        }
        put_word(&layout, &line, word, read_word(word));
        words++;
    }
    if (words > 0)
        end_line(&line);
    return 0;
}
