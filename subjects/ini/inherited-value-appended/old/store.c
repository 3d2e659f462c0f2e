/* store.c - sections, keys and values of a configuration. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ini.h"

struct string {
    struct string *next;
    char text[];
};

void config_init(struct config *cfg)
{
    memset(cfg, 0, sizeof *cfg);
    cfg->diagnostics = stderr;
}

static void free_strings(struct string *s)
{
    while (s != NULL) {
        struct string *next = s->next;

        free(s);
        s = next;
    }
}

void config_free(struct config *cfg)
{
    while (cfg->first != NULL) {
        struct section *section = cfg->first;

        cfg->first = section->next;
        while (section->first != NULL) {
            struct entry *e = section->first;

            section->first = e->next;
            free(e);
        }
        free(section);
    }
    free_strings(cfg->strings);
    free_strings(cfg->interned);
}

void *allocate(void *old, size_t size)
{
    void *p = realloc(old, size);

    if (p == NULL) {
        fputs("ini: out of memory\n", stderr);
        exit(3);
    }
    return p;
}

static char *push_bytes(struct string **list, size_t size)
{
    struct string *string = allocate(NULL, sizeof *string + size);

    string->next = *list;
    *list = string;
    return string->text;
}

static const char *push_string(struct string **list, const char *s)
{
    size_t size = strlen(s) + 1;

    return memcpy(push_bytes(list, size), s, size);
}

const char *copy_string(struct config *cfg, const char *s)
{
    return push_string(&cfg->strings, s);
}

/* A copy of the string that is the same for equal strings. */
const char *intern(struct config *cfg, const char *s)
{
    for (const struct string *p = cfg->interned; p != NULL; p = p->next)
        if (strcmp(p->text, s) == 0)
            return p->text;
    return push_string(&cfg->interned, s);
}

static int same_name(const struct config *cfg, const char *a, const char *b)
{
    return (cfg->fold_case ? strcasecmp(a, b) : strcmp(a, b)) == 0;
}

static unsigned hash_name(const struct config *cfg, const char *s)
{
    unsigned h = 5381;

    for (; *s != '\0'; s++) {
        int c = (unsigned char)*s;

        if (cfg->fold_case)
            c = tolower(c);
        h = h * 33 + (unsigned)c;
    }
    return h % BUCKETS;
}

struct section *find_section(struct config *cfg, const char *name)
{
    for (struct section *s = cfg->first; s != NULL; s = s->next)
        if (same_name(cfg, s->name, name))
            return s;
    return NULL;
}

struct section *store_section(struct config *cfg, const char *name)
{
    struct section *s = find_section(cfg, name);

    if (s != NULL)
        return s;
    s = allocate(NULL, sizeof *s);
    s->name = copy_string(cfg, name);
    s->first = s->last = NULL;
    if (name[0] == '\0' || cfg->last == NULL) {
        /* Keys without a section come first. */
        s->next = cfg->first;
        cfg->first = s;
        if (cfg->last == NULL)
            cfg->last = s;
    } else {
        s->next = NULL;
        cfg->last->next = s;
        cfg->last = s;
    }
    return s;
}

struct entry *find_entry(struct config *cfg, const struct section *section, const char *key)
{
    struct entry *e = cfg->buckets[hash_name(cfg, key)];

    while (e != NULL && (e->section != section || !same_name(cfg, e->key, key)))
        e = e->chained;
    return e;
}

/* Adds an entry without a value. */
struct entry *store_entry(struct config *cfg, struct section *section, const char *key)
{
    struct entry **bucket = &cfg->buckets[hash_name(cfg, key)];
    struct entry *e = allocate(NULL, sizeof *e);

    memset(e, 0, sizeof *e);
    e->key = copy_string(cfg, key);
    e->section = section;
    e->chained = *bucket;
    *bucket = e;
    if (section->last != NULL)
        section->last->next = e;
    else
        section->first = e;
    section->last = e;
    return e;
}

void set_value(struct config *cfg, struct entry *e, const char *value)
{
    size_t size = strlen(value) + 1;

    e->room = size;
    e->value = push_bytes(&cfg->strings, e->room);
    memcpy(e->value, value, size);
}

/* Adds an item to a value that is a list. */
void append_value(struct config *cfg, struct entry *e, const char *text)
{
    size_t length = strlen(e->value);
    size_t size = strlen(text) + 1;
    const char *before = e->value;

    e->room = length + 1 + size;
    e->value = push_bytes(&cfg->strings, e->room);
    memcpy(e->value, before, length);
    e->value[length] = ',';
    memcpy(e->value + length + 1, text, size);
}

/* Gives a section the keys of another one that it does not have itself. */
void inherit_entries(struct config *cfg, struct section *section, const struct section *parent)
{
    for (const struct entry *from = parent->first; from != NULL; from = from->next) {
        struct entry *e = find_entry(cfg, section, from->key);

        if (e != NULL)
            continue;
        e = store_entry(cfg, section, from->key);
        set_value(cfg, e, from->value);
        e->file = from->file;
        e->line = from->line;
    }
}
