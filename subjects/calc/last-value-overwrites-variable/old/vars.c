/* The variables: a hash table with linear probing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc.h"

static struct variable table[MAX_VARIABLES];
static struct variable *answer;         /* where _ is, or NULL */

static unsigned hash_name(const char *name)
{
    unsigned hash = 5381;

    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash % MAX_VARIABLES;
}

static struct variable *find_variable(const char *name)
{
    unsigned start = hash_name(name);
    unsigned i;

    for (i = 0; i < MAX_VARIABLES; i++) {
        struct variable *v = &table[(start + i) % MAX_VARIABLES];

        if (v->state == FREE)
            return NULL;
        if (v->state == USED && strcmp(v->name, name) == 0)
            return v;
    }
    return NULL;
}

/* Finds the variable or makes a new one; NULL if there are too many. */
struct variable *declare_variable(const char *name)
{
    struct variable *v = find_variable(name);
    unsigned start = hash_name(name);
    unsigned i;

    if (v)
        return v;
    for (i = 0; i < MAX_VARIABLES; i++) {
        v = &table[(start + i) % MAX_VARIABLES];
        if (v->state != USED) {
            if (v == answer)
                answer = NULL;
            v->state = USED;
            v->defined = false;
            v->value = 0;
            strcpy(v->name, name);
            return v;
        }
    }
    return NULL;
}

/* The variable for the last value printed; NULL if there are too many. */
struct variable *declare_answer(void)
{
    answer = declare_variable("_");
    return answer;
}

bool get_variable(const char *name, number *value)
{
    const struct variable *v = answer;

    if (!v || v->state != USED || strcmp(v->name, name) != 0)
        v = find_variable(name);
    if (!v || !v->defined)
        return false;
    *value = v->value;
    return true;
}

bool delete_variable(const char *name)
{
    struct variable *v = find_variable(name);

    if (!v || !v->defined)
        return false;
    if (v == answer)
        answer = NULL;
    v->state = DELETED;
    return true;
}

static int compare_variables(const void *a, const void *b)
{
    const struct variable *const *x = a;
    const struct variable *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

void print_variables(void (*print)(number value))
{
    const struct variable *sorted[MAX_VARIABLES];
    size_t count = 0;
    size_t i;

    for (i = 0; i < MAX_VARIABLES; i++) {
        if (table[i].state == USED && table[i].defined)
            sorted[count++] = &table[i];
    }
    qsort(sorted, count, sizeof sorted[0], compare_variables);
    for (i = 0; i < count; i++) {
        printf("%s = ", sorted[i]->name);
        print(sorted[i]->value);
    }
}
