/* The ready queue: a binary heap of jobs. */

#include "jobs.h"

/* Whether a is to run before b. */
static bool before(const struct job *a, const struct job *b)
{
    if (a->prio != b->prio)
        return a->prio < b->prio;
    return a->order < b->order;
}

/* Moves the hole at `at` up to where j belongs; returns its place. */
static size_t sift_up(struct heap *h, size_t at, const struct job *j)
{
    while (at > 0) {
        size_t parent = (at - 1) / 2;

        if (!before(j, h->items[parent]))
            break;
        h->items[at] = h->items[parent];
        at = parent;
    }
    return at;
}

/* Moves the hole at `at` down to where j belongs; returns its place. */
static size_t sift_down(struct heap *h, size_t at, const struct job *j)
{
    size_t child;

    for (child = 2 * at + 1; child < h->count; child = 2 * at + 1) {
        if (child + 1 < h->count && before(h->items[child + 1], h->items[child]))
            child++;
        if (!before(h->items[child], j))
            break;
        h->items[at] = h->items[child];
        at = child;
    }
    return at;
}

/* The place of a job in the heap, or the number of jobs. */
static size_t find_item(const struct heap *h, const struct job *j)
{
    size_t at;

    for (at = 0; at < h->count; at++) {
        if (h->items[at] == j)
            break;
    }
    return at;
}

void heap_push(struct heap *h, struct job *j)
{
    size_t at = sift_up(h, h->count, j);

    h->items[at] = j;
    h->count++;
}

struct job *heap_top(const struct heap *h)
{
    return h->count > 0 ? h->items[0] : NULL;
}

/* Removes a job from anywhere in the heap; false if it is not there. */
bool heap_remove(struct heap *h, const struct job *j)
{
    size_t at = find_item(h, j);
    struct job *last;

    if (at == h->count)
        return false;
    last = h->items[--h->count];
    if (at < h->count) {
        at = sift_up(h, at, last);
        at = sift_down(h, at, last);
        h->items[at] = last;
    }
    return true;
}
