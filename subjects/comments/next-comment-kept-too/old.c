/*
 * comments - strip, list or count the comments of C-like text
 *
 *     comments [-jklnr] [FILE]        write the text without its comments
 *     comments -x [-nr] [-t TAG] ...  list the comments (that contain TAG)
 *     comments -c [-nr] ...           count lines, comments and literals
 *
 * -j joins continued lines, -k keeps comments that start with an exclamation
 * mark, -l keeps the newlines of comments, -n lets block comments nest and -r
 * knows raw strings.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RAW_MAX 16              /* longest delimiter of a raw string */
#define WORD_MAX 3              /* longest prefix of a raw string */

enum { EXIT_LITERAL = 1, EXIT_OPEN = 2, EXIT_TROUBLE = 3 };

enum mode { STRIP, LIST, COUNT };

enum state {
    CODE,
    SLASH,                      /* code, after a slash */
    LINE_COMMENT,
    BLOCK_COMMENT,
    BLOCK_STAR,                 /* block comment, after a star */
    BLOCK_SLASH,                /* block comment, after a slash; only with -n */
    LITERAL,                    /* string or character */
    ESCAPE,                     /* literal, after a backslash */
    RAW_START,                  /* the delimiter of a raw string */
    RAW_STRING
};

struct options {
    enum mode mode;
    bool join;
    bool keep;
    bool keep_lines;
    bool nested;
    bool raw;
    const char *tag;
};

struct source {
    FILE *file;
    char buffer[1024];
    size_t at;
    size_t filled;
    bool ended;
};

struct counts {
    unsigned long lines, code, comment, blank;
    unsigned long comments, strings, characters;
};

struct machine {
    const struct options *opt;
    enum state state;
    unsigned depth;             /* of nested block comments */
    int quote;                  /* which one ends the literal */
    unsigned long line;
    unsigned long start_line;   /* of the comment or literal */
    unsigned splices;           /* continued lines not yet written */
    char word[WORD_MAX + 1];    /* start of the identifier before */
    size_t word_length;
    char raw_end[RAW_MAX + 2];  /* ')' and the delimiter */
    size_t raw_length;
    size_t matched;             /* how much of raw_end was seen */
    char *text;                 /* of the comment */
    size_t text_length;
    size_t text_size;
    bool kept;                  /* the comment is written */
    bool line_used, line_code, line_comment;
    struct counts counts;
    int status;
};

static const char *const raw_prefixes[] = { "R", "LR", "uR", "UR", "u8R" };

static void warn(struct machine *m, unsigned long line, const char *message, int status)
{
    fprintf(stderr, "comments: line %lu: %s\n", line, message);
    if (m->status < status)
        m->status = status;
}

static bool is_word(int c)
{
    return isalnum((unsigned char)c) || (unsigned char)c == '_';
}

/* Reading */

static bool fill(struct source *src)
{
    src->at = 0;
    src->filled = fread(src->buffer, 1, sizeof src->buffer, src->file);
    return src->filled > 0;
}

static int peek_char(struct source *src)
{
    if (src->at == src->filled && !fill(src))
        return EOF;
    return (unsigned char)src->buffer[src->at];
}

static int next_char(struct source *src)
{
    if (src->at == src->filled && !fill(src)) {
        src->ended = true;
        return EOF;
    }
    return (unsigned char)src->buffer[src->at++];
}

/* Writing and counting */

static void end_line(struct machine *m)
{
    m->line++;
    m->counts.lines++;
    if (m->line_code)
        m->counts.code++;
    if (m->line_comment)
        m->counts.comment++;
    if (!m->line_code && !m->line_comment)
        m->counts.blank++;
    m->line_used = m->line_code = m->line_comment = false;
}

static void write_splices(struct machine *m)
{
    for (; m->splices > 0; m->splices--)
        fputs("\\\n", stdout);
}

static void put_code(struct machine *m, int c)
{
    if (!isspace((unsigned char)c))
        m->line_code = true;
    if (m->opt->mode != STRIP)
        return;
    write_splices(m);
    putchar(c);
}

static void add_text(struct machine *m, int c)
{
    m->line_comment = true;
    if (m->opt->mode == STRIP && m->opt->keep && m->text_length == 0) {
        m->kept = c == '!';
        if (m->kept) {
            write_splices(m);
            fputs(m->state == LINE_COMMENT ? "//" : "/*", stdout);
        }
    }
    if (m->kept) {
        write_splices(m);
        putchar(c);
    } else if (m->opt->mode == STRIP && m->opt->keep_lines) {
        for (; m->splices > 0; m->splices--)
            putchar('\n');
        if (c == '\n')
            putchar('\n');
    }
    m->splices = 0;
    if (m->text_length == m->text_size) {
        size_t size = m->text_size ? m->text_size * 2 : 64;
        char *text = realloc(m->text, size);

        if (!text) {
            fputs("comments: out of memory\n", stderr);
            exit(EXIT_TROUBLE);
        }
        m->text = text;
        m->text_size = size;
    }
    m->text[m->text_length++] = (char)c;
}

/* Does the comment contain the tag as a word of its own? */
static bool has_tag(const struct machine *m)
{
    const char *tag = m->opt->tag;
    size_t length = strlen(tag);
    size_t i;

    for (i = 0; i + length <= m->text_length; i++) {
        if (memcmp(m->text + i, tag, length) != 0)
            continue;
        if (i > 0 && is_word(m->text[i - 1]))
            continue;
        if (i + length < m->text_length && is_word(m->text[i + length]))
            continue;
        return true;
    }
    return false;
}

static void list_comment(const struct machine *m)
{
    size_t first = 0;
    size_t last = m->text_length;
    size_t i;

    while (first < last && isspace((unsigned char)m->text[first]))
        first++;
    while (last > first && isspace((unsigned char)m->text[last - 1]))
        last--;
    printf("%lu: ", m->start_line);
    for (i = first; i < last; i++)
        putchar(m->text[i] == '\n' ? ' ' : m->text[i]);
    putchar('\n');
}

/* States */

static void begin_comment(struct machine *m, enum state state)
{
    m->state = state;
    m->start_line = m->line;
    m->depth = 1;
    m->kept = false;
    m->text_length = 0;
    m->line_comment = true;
}

static void end_comment(struct machine *m)
{
    m->counts.comments++;
    m->word_length = 0;
    if (m->opt->mode == LIST && (!m->opt->tag || has_tag(m)))
        list_comment(m);
    if (m->opt->mode == STRIP && m->state != LINE_COMMENT)
        putchar(m->kept ? '/' : ' ');
    m->state = CODE;
}

static void begin_literal(struct machine *m, int quote)
{
    size_t i;

    m->state = LITERAL;
    m->quote = quote;
    m->start_line = m->line;
    if (quote == '\'') {
        m->counts.characters++;
        return;
    }
    m->counts.strings++;
    if (!m->opt->raw || m->word_length > WORD_MAX)
        return;
    m->word[m->word_length] = '\0';
    for (i = 0; i < sizeof raw_prefixes / sizeof raw_prefixes[0]; i++) {
        if (strcmp(m->word, raw_prefixes[i]) == 0) {
            m->state = RAW_START;
            m->raw_end[0] = ')';
            m->raw_length = 1;
        }
    }
}

static void code_char(struct machine *m, int c)
{
    if (c == '/') {
        m->state = SLASH;
        return;
    }
    if (c == '"' || c == '\'')
        begin_literal(m, c);
    if (is_word(c)) {
        if (m->word_length < WORD_MAX)
            m->word[m->word_length] = (char)c;
        m->word_length++;
    } else {
        m->word_length = 0;
    }
    put_code(m, c);
}

static void literal_char(struct machine *m, int c)
{
    if (c == '\n') {
        warn(m, m->start_line, "unterminated literal", EXIT_LITERAL);
        m->state = CODE;
    } else if (c == '\\') {
        m->state = ESCAPE;
    } else if (c == m->quote) {
        m->state = CODE;
    } else {
        m->state = LITERAL;
    }
    put_code(m, c);
}

static void raw_start_char(struct machine *m, int c)
{
    if (c == '(') {
        m->state = RAW_STRING;
        m->matched = 0;
    } else if (isgraph((unsigned char)c) && c != ')' && c != '\\' && c != '"' &&
               m->raw_length <= RAW_MAX) {
        m->raw_end[m->raw_length++] = (char)c;
    } else {
        warn(m, m->start_line, "bad delimiter of a raw string", EXIT_LITERAL);
        literal_char(m, c);
        return;
    }
    put_code(m, c);
}

static void raw_char(struct machine *m, int c)
{
    if (m->matched == m->raw_length && c == '"')
        m->state = CODE;
    else if (m->matched < m->raw_length && c == m->raw_end[m->matched])
        m->matched++;
    else
        m->matched = c == ')' ? 1 : 0;
    put_code(m, c);
}

static void step(struct machine *m, int c)
{
    m->line_used = true;
    switch (m->state) {
    case CODE:
        code_char(m, c);
        break;
    case SLASH:
        if (c == '/') {
            begin_comment(m, LINE_COMMENT);
        } else if (c == '*') {
            begin_comment(m, BLOCK_COMMENT);
        } else {
            m->state = CODE;
            m->word_length = 0;
            put_code(m, '/');
            code_char(m, c);
        }
        break;
    case LINE_COMMENT:
        if (c == '\n') {
            end_comment(m);
            m->kept = false;
            code_char(m, c);
        } else {
            add_text(m, c);
        }
        break;
    case BLOCK_SLASH:
        if (c == '*') {
            m->depth++;
            m->state = BLOCK_COMMENT;
            add_text(m, c);
            break;
        }
        /* fall through */
    case BLOCK_COMMENT:
        if (c == '*')
            m->state = BLOCK_STAR;
        else if (c == '/' && m->opt->nested)
            m->state = BLOCK_SLASH;
        else
            m->state = BLOCK_COMMENT;
        add_text(m, c);
        break;
    case BLOCK_STAR:
        if (c == '/') {
            m->depth--;
            if (m->depth == 0) {
                m->text_length--;       /* the star */
                end_comment(m);
                m->kept = false;
                break;
            }
            m->state = BLOCK_COMMENT;
        } else if (c != '*') {
            m->state = BLOCK_COMMENT;
        }
        add_text(m, c);
        break;
    case LITERAL:
        literal_char(m, c);
        break;
    case ESCAPE:
        m->state = LITERAL;
        put_code(m, c);
        break;
    case RAW_START:
        raw_start_char(m, c);
        break;
    case RAW_STRING:
        raw_char(m, c);
        break;
    }
    if (c == '\n')
        end_line(m);
}

static void finish(struct machine *m)
{
    switch (m->state) {
    case SLASH:
        put_code(m, '/');
        break;
    case LINE_COMMENT:
        end_comment(m);
        break;
    case BLOCK_COMMENT:
    case BLOCK_STAR:
    case BLOCK_SLASH:
        warn(m, m->start_line, "unterminated comment", EXIT_OPEN);
        break;
    case LITERAL:
    case ESCAPE:
    case RAW_START:
        warn(m, m->start_line, "unterminated literal", EXIT_LITERAL);
        break;
    case RAW_STRING:
        warn(m, m->start_line, "unterminated raw string", EXIT_OPEN);
        break;
    case CODE:
        break;
    }
    if (m->line_used)
        end_line(m);
}

static void run(struct machine *m, struct source *src)
{
    for (;;) {
        int c = next_char(src);

        if (src->ended)
            break;
        if (c == '\\' && m->state != RAW_START && m->state != RAW_STRING &&
            peek_char(src) == '\n') {
            next_char(src);
            if (!m->opt->join)
                m->splices++;
            if (m->state >= LINE_COMMENT && m->state <= BLOCK_SLASH)
                m->line_comment = true;
            end_line(m);
            continue;
        }
        step(m, c);
    }
    finish(m);
}

static void print_counts(const struct counts *n)
{
    printf("lines %lu\ncode %lu\ncomment %lu\nblank %lu\n", n->lines, n->code, n->comment,
           n->blank);
    printf("comments %lu\nstrings %lu\ncharacters %lu\n", n->comments, n->strings,
           n->characters);
}

static int usage(void)
{
    fputs("usage: comments [-c | -x] [-jklnr] [-t TAG] [FILE]\n", stderr);
    return EXIT_TROUBLE;
}

int main(int argc, char **argv)
{
    struct options opt = { .mode = STRIP };
    struct source src = { .file = stdin };
    struct machine m = { .opt = &opt, .state = CODE, .line = 1 };
    int c;

    while ((c = getopt(argc, argv, "cjklnrt:x")) != -1) {
        switch (c) {
        case 'c':
            opt.mode = COUNT;
            break;
        case 'j':
            opt.join = true;
            break;
        case 'k':
            opt.keep = true;
            break;
        case 'l':
            opt.keep_lines = true;
            break;
        case 'n':
            opt.nested = true;
            break;
        case 'r':
            opt.raw = true;
            break;
        case 't':
            opt.tag = optarg;
            opt.mode = LIST;
            break;
        case 'x':
            opt.mode = LIST;
            break;
        default:
            return usage();
        }
    }
    if (argc - optind > 1 || (opt.tag && *opt.tag == '\0'))
        return usage();
    if (optind < argc) {
        src.file = fopen(argv[optind], "r");
        if (!src.file) {
            fprintf(stderr, "comments: %s: %s\n", argv[optind], strerror(errno));
            return EXIT_TROUBLE;
        }
    }
    run(&m, &src);
    if (ferror(src.file)) {
        fprintf(stderr, "comments: read error: %s\n", strerror(errno));
        m.status = EXIT_TROUBLE;
    }
    if (opt.mode == COUNT)
        print_counts(&m.counts);
    free(m.text);
    if (src.file != stdin)
        fclose(src.file);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "comments: write error: %s\n", strerror(errno));
        return EXIT_TROUBLE;
    }
    return m.status;
}
