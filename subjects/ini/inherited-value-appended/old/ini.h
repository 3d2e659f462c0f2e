#ifndef INI_H
#define INI_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MAX_NAME 31    /* bytes in the name of a section or key */
#define MAX_INCLUDES 5 /* nesting of included files */
#define BUCKETS 37

struct string;

struct entry {
    const char *key;
    char *value;
    size_t room;      /* bytes that there are for the value */
    const char *file; /* where it was set */
    int line;
    struct section *section;
    struct entry *next;    /* in the section */
    struct entry *chained; /* in the bucket */
};

struct section {
    const char *name;
    struct entry *first, *last;
    struct section *next;
};

struct config {
    struct section *first, *last;
    struct entry *buckets[BUCKETS];
    struct string *strings;  /* all copies of strings */
    struct string *interned; /* those made by intern() */
    FILE *diagnostics;
    int errors;
    int fold_case; /* names are the same in small and capital letters */
    int unique;    /* keys may be set only once */
};

/* store.c */
void config_init(struct config *cfg);
void config_free(struct config *cfg);
void *allocate(void *old, size_t size);
const char *copy_string(struct config *cfg, const char *s);
const char *intern(struct config *cfg, const char *s);
struct section *find_section(struct config *cfg, const char *name);
struct section *store_section(struct config *cfg, const char *name);
struct entry *find_entry(struct config *cfg, const struct section *section, const char *key);
struct entry *store_entry(struct config *cfg, struct section *section, const char *key);
void set_value(struct config *cfg, struct entry *e, const char *value);
void append_value(struct config *cfg, struct entry *e, const char *text);
void inherit_entries(struct config *cfg, struct section *section, const struct section *parent);

/* parse.c */
int parse_file(struct config *cfg, const char *name);

/* lookup.c: the following return -1 if a value is not of the type */
int to_integer(const char *value, long *result);
int to_boolean(const char *value, int *result);
int to_size(const char *value, uint64_t *result);
void print_list(const char *value);
void print_quoted(const char *value);

#endif
