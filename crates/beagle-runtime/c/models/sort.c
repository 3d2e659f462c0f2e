/* Models of sorting and searching. Elements are compared by the program's function, in the order in which
   libc compares them. */
#include <alloca.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

typedef int (*compare)(const void *, const void *, void *);

/* Where the elements are and how they are compared; `indirect`: what is sorted are pointers to them. */
struct sorting {
    size_t size;
    compare less;
    void *context;
    char *spare;
    int indirect;
};

static int in_order(const struct sorting *s, const char *a, const char *b) {
    if (s->indirect)
        return s->less(*(const void *const *)a, *(const void *const *)b, s->context) <= 0;
    return s->less(a, b, s->context) <= 0;
}

/* Sorts halves and merges them by way of the spare memory. Equal elements keep their order. */
static void merge_sort(const struct sorting *s, char *base, size_t count) {
    if (count <= 1)
        return;
    size_t left = count / 2;
    size_t right = count - left;
    char *a = base;
    char *b = base + left * s->size;
    merge_sort(s, a, left);
    merge_sort(s, b, right);
    char *to = s->spare;
    while (left > 0 && right > 0) {
        if (in_order(s, a, b)) {
            memcpy(to, a, s->size);
            a += s->size;
            left--;
        } else {
            memcpy(to, b, s->size);
            b += s->size;
            right--;
        }
        to += s->size;
    }
    if (left > 0)
        memcpy(to, a, left * s->size);
    memcpy(base, s->spare, (count - right) * s->size);
}

/* Where there is no memory to merge by. */
static void insertion_sort(const struct sorting *s, char *base, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && !in_order(s, base + (k - 1) * s->size, base + k * s->size); k--)
            for (size_t byte = 0; byte < s->size; byte++) {
                char *a = base + (k - 1) * s->size + byte;
                char kept = *a;
                *a = a[s->size];
                a[s->size] = kept;
            }
}

/* Brings the elements into the order of the pointers, following each cycle of the permutation once. */
static void permute(char *base, char **sorted, size_t count, size_t size, char *kept) {
    for (size_t i = 0; i < count; i++) {
        char *to = base + i * size;
        char *from = sorted[i];
        if (from == to)
            continue;
        size_t at = i;
        memcpy(kept, to, size);
        while (from != base + i * size) {
            sorted[at] = to;
            memcpy(to, from, size);
            at = (size_t)(from - base) / size;
            to = from;
            from = sorted[at];
        }
        sorted[at] = to;
        memcpy(to, kept, size);
    }
}

void bg_m_qsort_r(void *base, size_t count, size_t size, compare less, void *context) {
    struct sorting s = {size, less, context, NULL, size > 32};
    size_t pointers = count * sizeof(void *);
    size_t wanted = s.indirect ? 2 * pointers + size : count * size;
    char *taken = NULL;
    if (wanted < 1024) {
        s.spare = alloca(wanted);
    } else {
        s.spare = taken = malloc(wanted);
        if (taken == NULL) {
            s.indirect = 0;
            insertion_sort(&s, base, count);
            return;
        }
    }
    if (s.indirect) {
        char **sorted = (char **)(s.spare + pointers);
        for (size_t i = 0; i < count; i++)
            sorted[i] = (char *)base + i * size;
        s.size = sizeof(void *);
        merge_sort(&s, (char *)sorted, count);
        permute(base, sorted, count, size, s.spare + 2 * pointers);
    } else {
        merge_sort(&s, base, count);
    }
    free(taken);
}

static int without_context(const void *a, const void *b, void *context) {
    return (*(int (**)(const void *, const void *))context)(a, b);
}

void bg_m_qsort(void *base, size_t count, size_t size, int (*less)(const void *, const void *)) {
    bg_m_qsort_r(base, count, size, without_context, (void *)&less);
}

void *bg_m_bsearch(const void *key, const void *base, size_t count, size_t size,
                   int (*order)(const void *, const void *)) {
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *at = (const char *)base + middle * size;
        int sign = order(key, at);
        if (sign < 0)
            high = middle;
        else if (sign > 0)
            low = middle + 1;
        else
            return (void *)at;
    }
    return NULL;
}

void *bg_m_lfind(const void *key, const void *base, size_t *count, size_t size,
                 int (*order)(const void *, const void *)) {
    const char *at = base;
    for (size_t i = 0; i < *count; i++) {
        if (order(key, at) == 0)
            return (void *)at;
        at += size;
    }
    return NULL;
}

void *bg_m_lsearch(const void *key, void *base, size_t *count, size_t size,
                   int (*order)(const void *, const void *)) {
    void *found = bg_m_lfind(key, base, count, size, order);
    if (found == NULL) {
        found = memcpy((char *)base + *count * size, key, size);
        ++*count;
    }
    return found;
}
