/* qsort, qsort_r, bsearch, lfind, lsearch: results, and how often the program's function is called. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

typedef int (*order)(const void *, const void *);
typedef int (*order_r)(const void *, const void *, void *);

void bg_m_qsort(void *, size_t, size_t, order);
void bg_m_qsort_r(void *, size_t, size_t, order_r, void *);
void *bg_m_bsearch(const void *, const void *, size_t, size_t, order);
void *bg_m_lfind(const void *, const void *, size_t *, size_t, order);
void *bg_m_lsearch(const void *, void *, size_t *, size_t, order);

static long calls;

/* Elements are compared by their first byte only, so that many are equal. */
static int by_first(const void *a, const void *b) {
    calls++;
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

static int by_first_r(const void *a, const void *b, void *context) {
    ++*(long *)context;
    return by_first(a, b);
}

static void fill(unsigned char *to, size_t count, size_t size, unsigned keys) {
    for (size_t i = 0; i < count * size; i++)
        to[i] = (unsigned char)below(256);
    for (size_t i = 0; i < count; i++)
        to[i * size] = (unsigned char)below(keys);
}

static void sort(void) {
    static unsigned char a[400 * 70], b[400 * 70];
    size_t size = 1 + below(below(4) ? 34 : 64);
    size_t count = below(below(10) ? 20 : 400);
    fill(a, count, size, 1 + below(20));
    memcpy(b, a, count * size);
    long ca = 0, cb = 0;
    calls = 0;
    if (below(2)) {
        qsort(a, count, size, by_first);
        ca = calls, calls = 0;
        bg_m_qsort(b, count, size, by_first);
        cb = calls;
    } else {
        qsort_r(a, count, size, by_first_r, &ca);
        bg_m_qsort_r(b, count, size, by_first_r, &cb);
    }
    if (memcmp(a, b, count * size) != 0)
        differ("order of %zu elements of %zu bytes", count, size);
    if (ca != cb)
        differ("%ld and %ld comparisons of %zu elements of %zu bytes", ca, cb, count, size);
}

static void find(void) {
    unsigned char a[40 * 8], b[40 * 8], key[8];
    size_t size = 1 + below(8);
    size_t count = below(30), other = count;
    fill(a, count, size, 30);
    fill(key, 1, size, 30);
    int kind = (int)below(3);
    if (kind == 0)
        qsort(a, count, size, by_first);
    memcpy(b, a, sizeof a);
    calls = 0;
    void *x = kind == 0   ? bsearch(key, a, count, size, by_first)
              : kind == 1 ? lfind(key, a, &count, size, by_first)
                          : lsearch(key, a, &count, size, by_first);
    long ca = calls;
    calls = 0;
    void *y = kind == 0   ? bg_m_bsearch(key, b, other, size, by_first)
              : kind == 1 ? bg_m_lfind(key, b, &other, size, by_first)
                          : bg_m_lsearch(key, b, &other, size, by_first);
    if ((x == NULL) != (y == NULL) || (x != NULL && (unsigned char *)x - a != (unsigned char *)y - b) ||
        count != other || memcmp(a, b, count * size) != 0 || ca != calls)
        differ("kind %d, %zu elements of %zu bytes", kind, count, size);
}

void test_sorting(long cases) {
    for (long n = 0; n < cases; n++) {
        sort();
        find();
    }
}
