/*
 * jsonpick - check a JSON document and print it, or one value of it
 *
 *     jsonpick [option...] [PATH] <DOCUMENT
 *
 * PATH leads from the outermost value to the wanted one. Its steps are .NAME
 * or ["NAME"] for a member of an object (the dot may be left out at the
 * start) and [N] for an element of an array; [-1] is the last element.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_DEPTH 64
#define MAX_DEPTH 512
#define MAX_INDEX 99999999
#define MAX_TEXT 65536
#define INDENT 2

#define COUNT_OF(array) (sizeof (array) / sizeof (array)[0])

enum { EXIT_INVALID = 1, EXIT_USAGE = 2, EXIT_MISSING = 3 };

enum action { ACTION_PRINT, ACTION_CHECK, ACTION_WHERE };

enum type { T_PLAIN, T_STRING, T_ARRAY, T_OBJECT };

struct options {
    enum action action;
    int max_depth;
    bool compact;               /* everything on one line */
    bool raw;                   /* a string as it is, without quotes */
    bool unique;
    bool comments;
};

struct string {
    const char *data;
    size_t length;
};

struct place {
    size_t offset;
    unsigned long line;
    unsigned long column;       /* in characters, not in bytes */
};

struct value {
    enum type type;
    struct place place;
    struct string text;         /* of all but arrays and objects */
    size_t count;               /* of elements or members */
    struct value *first;
    struct value *next;         /* the next one in the same array or object */
    struct string name;         /* of a member */
    uint32_t hash;              /* of this name */
};

struct parser {
    const struct options *opt;
    char *text;
    size_t length;
    char *decoded;              /* strings, each at the offset it has in the text */
    struct place at;
    int depth;
    const char *error;
    struct place error_at;
};

/* Memory that is needed to the end; the system takes it back. */
struct chunk {
    struct chunk *next;
    max_align_t data[];
};

static const struct {
    char letter;
    char value;
} escapes[] = {
    { '"', '"' }, { '\\', '\\' }, { '/', '/' },
    { 'b', '\b' }, { 'f', '\f' }, { 'n', '\n' }, { 'r', '\r' }, { 't', '\t' },
};

static const char usage_text[] =
    "usage: jsonpick [-cjru] [-v | -w] [-d DEPTH] [PATH]\n";

static char document[MAX_TEXT + 1];

static struct chunk *pool;

static struct value *parse_value(struct parser *p);

static void die(const char *message, const char *detail)
{
    fprintf(stderr, "jsonpick: %s: %s\n", message, detail);
    exit(EXIT_USAGE);
}

static void *pool_alloc(size_t size)
{
    struct chunk *chunk = malloc(sizeof *chunk + size);

    if (!chunk)
        die("cannot go on", "out of memory");
    chunk->next = pool;
    pool = chunk;
    return chunk->data;
}

static void start_parser(struct parser *p, char *text, size_t length,
                         const struct options *opt)
{
    memset(p, 0, sizeof *p);
    p->opt = opt;
    p->text = text;
    p->length = length;
    p->decoded = pool_alloc(length);
    p->at.line = 1;
    p->at.column = 1;
}

static bool fail_at(struct parser *p, struct place place, const char *message)
{
    p->error = message;
    p->error_at = place;
    return false;
}

static bool fail(struct parser *p, const char *message)
{
    return fail_at(p, p->at, message);
}

static int peek(const struct parser *p)
{
    return p->at.offset < p->length ? (unsigned char)p->text[p->at.offset] : EOF;
}

static void advance(struct parser *p)
{
    unsigned char c = (unsigned char)p->text[p->at.offset++];

    if (c == '\n') {
        p->at.line++;
        p->at.column = 1;
    } else if ((c & 0xc0) != 0x80) {
        p->at.column++;
    }
}

static bool accept(struct parser *p, int c)
{
    if (peek(p) != c)
        return false;
    advance(p);
    return true;
}

/* Skips a comment to the end of the line or up to its closing mark. */
static bool skip_comment(struct parser *p)
{
    int kind = p->length - p->at.offset > 1 ? p->text[p->at.offset + 1] : EOF;

    if (kind != '/' && kind != '*')
        return false;
    advance(p);
    advance(p);
    while (peek(p) != EOF) {
        bool star = peek(p) == '*';

        if (kind == '/' && accept(p, '\n'))
            break;
        advance(p);
        if (kind == '*' && star && accept(p, '/'))
            break;
    }
    return true;
}

static void skip_space(struct parser *p)
{
    for (;;) {
        int c = peek(p);

        if (c > 0 && strchr(" \t\n\r", c))
            advance(p);
        else if (c != '/' || !p->opt->comments || !skip_comment(p))
            return;
    }
}

static bool parse_hex(struct parser *p, unsigned long *code)
{
    int i;

    *code = 0;
    for (i = 0; i < 4; i++) {
        int c = peek(p);

        if (c == EOF || !isxdigit(c))
            return fail(p, "hexadecimal digit expected");
        *code = *code * 16 + (unsigned long)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
        advance(p);
    }
    return true;
}

/* Parses what follows \u; characters beyond U+FFFF are written as two surrogates. */
static bool parse_unicode(struct parser *p, struct place start, unsigned long *code)
{
    unsigned long low;

    if (!parse_hex(p, code))
        return false;
    if (*code < 0xd800 || *code > 0xdfff)
        return true;
    if (*code > 0xdbff || !accept(p, '\\') || !accept(p, 'u'))
        return fail_at(p, start, "unpaired surrogate");
    if (!parse_hex(p, &low))
        return false;
    if (low < 0xdc00 || low > 0xdfff)
        return fail_at(p, start, "unpaired surrogate");
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

static bool parse_escape(struct parser *p, unsigned long *code)
{
    struct place start = p->at;
    size_t i;

    advance(p);
    if (accept(p, 'u'))
        return parse_unicode(p, start, code);
    for (i = 0; i < COUNT_OF(escapes); i++) {
        if (accept(p, escapes[i].letter)) {
            *code = (unsigned char)escapes[i].value;
            return true;
        }
    }
    return fail_at(p, start, "unknown escape");
}

static char *encode_utf8(unsigned long code, char *out)
{
    static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0 };
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

    *out++ = (char)(lead[more] | code >> 6 * more);
    while (more-- > 0)
        *out++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    return out;
}

/* A string never becomes longer by decoding it. */
static bool parse_string(struct parser *p, struct string *string)
{
    struct place start = p->at;
    char *out;

    advance(p);
    out = p->decoded + p->at.offset;
    string->data = out;
    while (!accept(p, '"')) {
        int c = peek(p);
        unsigned long code;

        if (c == EOF)
            return fail_at(p, start, "unclosed string");
        if (c < 0x20)
            return fail(p, "control character in string");
        if (c == '\\') {
            if (!parse_escape(p, &code))
                return false;
            out = encode_utf8(code, out);
        } else {
            *out++ = (char)c;
            advance(p);
        }
    }
    string->length = (size_t)(out - string->data);
    return true;
}

static bool skip_digits(struct parser *p)
{
    if (!isdigit(peek(p)))
        return fail(p, "digit expected");
    while (isdigit(peek(p)))
        advance(p);
    return true;
}

static bool parse_number(struct parser *p, struct string *number)
{
    number->data = p->text + p->at.offset;
    accept(p, '-');
    if (!accept(p, '0') && !skip_digits(p))
        return false;
    if (accept(p, '.') && !skip_digits(p))
        return false;
    if (accept(p, 'e') || accept(p, 'E')) {
        if (!accept(p, '+'))
            accept(p, '-');
        if (!skip_digits(p))
            return false;
    }
    number->length = (size_t)(p->text + p->at.offset - number->data);
    return true;
}

static bool parse_word(struct parser *p, struct string *word)
{
    static const char *const words[] = { "true", "false", "null" };
    size_t i;

    word->data = p->text + p->at.offset;
    for (i = 0; i < COUNT_OF(words); i++) {
        word->length = strlen(words[i]);
        if (p->length - p->at.offset >= word->length &&
            memcmp(word->data, words[i], word->length) == 0) {
            p->at.offset += word->length;
            p->at.column += word->length;
            return true;
        }
    }
    return fail(p, "value expected");
}

static uint32_t hash_name(const struct string *name)
{
    uint32_t hash = 0;
    size_t i;

    for (i = 0; i < name->length; i++)
        hash = hash * 31 + (unsigned char)name->data[i];
    return hash;
}

/* Finds a member; of several with the same name the last one counts. */
static const struct value *find_member(const struct value *object, const struct string *name)
{
    const struct value *found = NULL;
    const struct value *member;
    uint32_t hash = hash_name(name);

    for (member = object->first; member; member = member->next) {
        if (member->hash == hash && member->name.length == name->length &&
            memcmp(member->name.data, name->data, name->length) == 0)
            found = member;
    }
    return found;
}

static bool parse_name(struct parser *p, const struct value *object, struct string *name)
{
    struct place start = p->at;

    if (peek(p) != '"')
        return fail(p, "name expected");
    if (!parse_string(p, name))
        return false;
    if (p->opt->unique && find_member(object, name))
        return fail_at(p, start, "duplicate name");
    skip_space(p);
    if (!accept(p, ':'))
        return fail(p, "':' expected");
    skip_space(p);
    return true;
}

/* Parses an array or object up to its closing bracket. */
static bool parse_items(struct parser *p, struct value *parent, int close)
{
    struct value **tail = &parent->first;

    if (++p->depth > p->opt->max_depth)
        return fail(p, "nested too deeply");
    advance(p);
    skip_space(p);
    if (accept(p, close)) {
        p->depth--;
        return true;
    }
    for (;;) {
        struct string name = { NULL, 0 };
        struct value *item;

        if (parent->type == T_OBJECT && !parse_name(p, parent, &name))
            return false;
        item = parse_value(p);
        if (!item)
            return false;
        item->name = name;
        item->hash = hash_name(&name);
        *tail = item;
        tail = &item->next;
        parent->count++;
        skip_space(p);
        if (accept(p, close))
            break;
        if (!accept(p, ','))
            return fail(p, "',' or closing bracket expected");
        skip_space(p);
    }
    p->depth--;
    return true;
}

static struct value *parse_value(struct parser *p)
{
    struct value *value = pool_alloc(sizeof *value);
    int c = peek(p);
    bool ok;

    memset(value, 0, sizeof *value);
    value->place = p->at;
    if (c == '{') {
        value->type = T_OBJECT;
        ok = parse_items(p, value, '}');
    } else if (c == '[') {
        value->type = T_ARRAY;
        ok = parse_items(p, value, ']');
    } else if (c == '"') {
        value->type = T_STRING;
        ok = parse_string(p, &value->text);
    } else if (c == '-' || isdigit(c)) {
        ok = parse_number(p, &value->text);
    } else {
        ok = parse_word(p, &value->text);
    }
    return ok ? value : NULL;
}

static struct value *parse_document(struct parser *p)
{
    struct value *root;

    skip_space(p);
    root = parse_value(p);
    if (!root)
        return NULL;
    skip_space(p);
    if (peek(p) != EOF) {
        fail(p, "nothing more expected");
        return NULL;
    }
    return root;
}

static const struct value *find_element(const struct value *array, long index)
{
    const struct value *element = array->first;

    if (index < 0) {
        index += (long)array->count;
        if (index < 0)
            return NULL;
    }
    while (element && index > 0) {
        element = element->next;
        index--;
    }
    return element;
}

static bool parse_index(struct parser *p, long *index)
{
    struct place start = p->at;
    bool negative = accept(p, '-');
    uint32_t value = 0;

    if (!isdigit(peek(p)))
        return fail(p, "index expected");
    while (isdigit(peek(p))) {
        value = value * 10 + (uint32_t)(peek(p) - '0');
        if (value > MAX_INDEX)
            return fail_at(p, start, "index too large");
        advance(p);
    }
    *index = negative ? -(long)value : (long)value;
    return true;
}

/* Takes one step of the path; *value becomes NULL if it leads nowhere. */
static bool take_step(struct parser *p, const struct value **value)
{
    struct string name = { NULL, 0 };
    long index;

    if (accept(p, '[')) {
        if (peek(p) != '"') {
            if (!parse_index(p, &index))
                return false;
            if (*value)
                *value = (*value)->type == T_ARRAY ? find_element(*value, index) : NULL;
        } else if (!parse_string(p, &name)) {
            return false;
        }
        if (!accept(p, ']'))
            return fail(p, "']' expected");
    } else {
        if (!accept(p, '.') && p->at.offset > 0)
            return fail(p, "'.' or '[' expected");
        name.data = p->text + p->at.offset;
        while (peek(p) != EOF && peek(p) != '.' && peek(p) != '[')
            advance(p);
        name.length = (size_t)(p->text + p->at.offset - name.data);
        if (name.length == 0)
            return fail(p, "name expected");
    }
    if (name.data && *value)
        *value = (*value)->type == T_OBJECT ? find_member(*value, &name) : NULL;
    return true;
}

static const struct value *pick(char *path, const struct value *root,
                                const struct options *opt)
{
    const struct value *value = root;
    struct parser p;

    start_parser(&p, path, strlen(path), opt);
    while (peek(&p) != EOF) {
        if (!take_step(&p, &value)) {
            fprintf(stderr, "jsonpick: path, character %lu: %s\n", p.error_at.column, p.error);
            exit(EXIT_USAGE);
        }
    }
    if (!value)
        fputs("jsonpick: the path leads nowhere\n", stderr);
    return value;
}

static void print_string(const struct string *string)
{
    size_t i, k;

    putchar('"');
    for (i = 0; i < string->length; i++) {
        char c = string->data[i];

        for (k = 0; k < COUNT_OF(escapes) && escapes[k].value != c; k++)
            continue;
        if (k < COUNT_OF(escapes) && c != '/')
            printf("\\%c", escapes[k].letter);
        else if ((unsigned char)c < 0x20 || c == 0x7f)
            printf("\\u%04x", (unsigned)c);
        else
            putchar(c);
    }
    putchar('"');
}

static void new_line(int level, const struct options *opt)
{
    if (!opt->compact)
        printf("\n%*s", level * INDENT, "");
}

static void print_value(const struct value *value, const struct options *opt, int level)
{
    const struct value *item;
    bool object = value->type == T_OBJECT;

    if (value->type == T_STRING && !(opt->raw && level == 0)) {
        print_string(&value->text);
        return;
    }
    if (value->type == T_STRING || value->type == T_PLAIN) {
        fwrite(value->text.data, 1, value->text.length, stdout);
        return;
    }
    putchar(object ? '{' : '[');
    for (item = value->first; item; item = item->next) {
        new_line(level + 1, opt);
        if (object) {
            print_string(&item->name);
            fputs(opt->compact ? ":" : ": ", stdout);
        }
        print_value(item, opt, level + 1);
        if (item->next)
            putchar(',');
    }
    if (value->first)
        new_line(level, opt);
    putchar(object ? '}' : ']');
}

static void print_place(const struct parser *p, const struct value *value)
{
    printf("%lu:%lu of %zu bytes", value->place.line, value->place.column, p->length);
}

static int parse_depth(const char *text)
{
    char *end;
    long depth;

    errno = 0;
    depth = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || depth < 0 || depth > MAX_DEPTH)
        die("bad depth", text);
    return (int)depth;
}

int main(int argc, char **argv)
{
    struct options opt = { .max_depth = DEFAULT_DEPTH };
    struct parser p;
    const struct value *value;
    size_t length;
    int status = 0;
    int c;

    while ((c = getopt(argc, argv, "cd:jruvw")) != -1) {
        switch (c) {
        case 'c':
            opt.compact = true;
            break;
        case 'd':
            opt.max_depth = parse_depth(optarg);
            break;
        case 'j':
            opt.comments = true;
            break;
        case 'r':
            opt.raw = true;
            break;
        case 'u':
            opt.unique = true;
            break;
        case 'v':
            opt.action = ACTION_CHECK;
            break;
        case 'w':
            opt.action = ACTION_WHERE;
            break;
        default:
            fputs(usage_text, stderr);
            return EXIT_USAGE;
        }
    }
    if (argc - optind > 1) {
        fputs(usage_text, stderr);
        return EXIT_USAGE;
    }
    length = fread(document, 1, sizeof document, stdin);
    if (ferror(stdin))
        die("cannot read", strerror(errno));
    if (length > MAX_TEXT)
        die("cannot go on", "document too large");
    start_parser(&p, document, length, &opt);
    value = parse_document(&p);
    if (!value) {
        fprintf(opt.action == ACTION_CHECK ? stdout : stderr, "jsonpick: %lu:%lu: %s\n",
                p.error_at.line, p.error_at.column, p.error);
        status = EXIT_INVALID;
    } else if (opt.action == ACTION_CHECK) {
        puts("valid");
    } else {
        if (optind < argc)
            value = pick(argv[optind], value, &opt);
        if (!value)
            return EXIT_MISSING;
        if (opt.action == ACTION_WHERE)
            print_place(&p, value);
        else
            print_value(value, &opt, 0);
        putchar('\n');
    }
    if (fflush(stdout) != 0)
        die("cannot write", strerror(errno));
    return status;
}
