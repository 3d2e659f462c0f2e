/* The ready queue: a binary heap of jobs. */

#include "jobs.h"

/* Whether a is to run before b. */
static bool before(const struct job *a, const struct job *b)
{
    if (a->prio != b->prio)
        return a->prio < b->prio;
    return a->order < b->order;
}

static void swap_items(struct heap *h, size_t a, size_t b)
{
    struct job *j = h->items[a];

    h->items[a] = h->items[b];
    h->items[b] = j;
}

static void sift_up(struct heap *h, size_t at)
{
    while (at > 0 && before(h->items[at], h->items[(at - 1) / 2])) {
        swap_items(h, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void sift_down(struct heap *h, size_t at)
{
    size_t first = at;
    size_t left = 2 * at + 1;
    size_t right = 2 * at + 2;

    if (left < h->count && before(h->items[left], h->items[first]))
        first = left;
    if (right < h->count && before(h->items[right], h->items[first]))
        first = right;
    if (first != at) {
        swap_items(h, at, first);
        sift_down(h, first);
    }
}

void heap_push(struct heap *h, struct job *j)
{
    h->items[h->count] = j;
    sift_up(h, h->count++);
}

struct job *heap_top(const struct heap *h)
{
    return h->count > 0 ? h->items[0] : NULL;
}

/* Removes a job from anywhere in the heap; false if it is not there. */
bool heap_remove(struct heap *h, const struct job *j)
{
    size_t at = 0;

    while (at < h->count && h->items[at] != j)
        at++;
    if (at == h->count)
        return false;
    h->items[at] = h->items[--h->count];
    if (at < h->count) {
        if (at > 0 && before(h->items[at], h->items[(at - 1) / 2]))
            sift_up(h, at);
        else
            sift_down(h, at);
    }
    return true;
}
