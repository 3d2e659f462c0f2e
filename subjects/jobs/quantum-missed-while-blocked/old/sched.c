/* Scheduling: which job gets the processor. */

#include <stdio.h>
#include <string.h>

#include "jobs.h"

void sched_init(struct sched *s)
{
    memset(s, 0, sizeof *s);
    s->quantum = 3;
}

/* Puts a job behind all others of its priority. */
void sched_make_ready(struct sched *s, struct job *j)
{
    job_set_state(j, ST_READY);
    j->prio = j->own_prio;
    j->waited = 0;
    j->order = s->next_order++;
    heap_push(&s->ready, j);
}

static void trace(const struct sched *s, const char *event, const struct job *j)
{
    if (s->trace)
        printf("%ld: %s %s\n", s->now, event, j->name);
}

/* Gives the processor to the first ready job if that one may have it. */
static void dispatch(struct sched *s)
{
    struct job *next = heap_top(&s->ready);

    if (next == NULL)
        return;
    if (s->running != NULL) {
        if (next->prio >= s->running->prio)
            return;
        trace(s, "preempt", s->running);
        job_set_state(s->running, ST_READY);
        s->running->slice = 0;
        heap_push(&s->ready, s->running);
    }
    heap_remove(&s->ready, next);
    job_set_state(next, ST_RUNNING);
    next->used = 0;
    next->slice = s->quantum;
    next->waited = 0;
    s->running = next;
    trace(s, "run", next);
}

/* Raises the priority of jobs that have been waiting for long. */
static void age(struct sched *s)
{
    size_t i;

    for (i = 0; i < s->count; i++) {
        struct job *j = &s->jobs[i];

        if (j->state != ST_READY)
            continue;
        j->waited++;
        if (s->age_step == 0 || j->waited % s->age_step != 0 || j->prio <= AGE_FLOOR)
            continue;
        heap_remove(&s->ready, j);
        j->prio--;
        heap_push(&s->ready, j);
    }
}

static void finish(struct sched *s, struct job *done)
{
    size_t i;
    size_t k;

    job_set_state(done, ST_DONE);
    s->running = NULL;
    printf("%ld: done %s\n", s->now, done->name);
    for (i = 0; i < s->count; i++) {
        struct job *j = &s->jobs[i];

        for (k = 0; k < j->ndeps; k++) {
            if (j->deps[k] != done)
                continue;
            j->unmet--;
            if (j->unmet == 0 && j->state == ST_WAITING)
                sched_make_ready(s, j);
        }
    }
}

void sched_tick(struct sched *s)
{
    struct job *j;

    dispatch(s);
    s->now++;
    age(s);
    j = s->running;
    if (j == NULL)
        return;
    j->left--;
    j->used++;
    if (j->left == 0) {
        finish(s, j);
    } else if (j->used >= j->slice) {
        trace(s, "expire", j);
        s->running = NULL;
        j->slice = 0;
        sched_make_ready(s, j);
    }
}

/* The new quantum holds for slices that have begun, too. */
void sched_set_quantum(struct sched *s, int quantum)
{
    size_t i;

    s->quantum = quantum;
    for (i = 0; i < s->count; i++) {
        if (s->jobs[i].slice > 0)
            s->jobs[i].slice = quantum;
    }
}

bool sched_idle(const struct sched *s)
{
    return s->running == NULL && heap_top(&s->ready) == NULL;
}

const char *sched_block(struct sched *s, struct job *j)
{
    if (j->state == ST_DONE)
        return "job is done";
    if (j->state == ST_BLOCKED)
        return "job is blocked already";
    if (j->state == ST_READY)
        heap_remove(&s->ready, j);
    if (s->running == j)
        s->running = NULL;
    j->slice = 0;
    job_set_state(j, ST_BLOCKED);
    return NULL;
}

const char *sched_unblock(struct sched *s, struct job *j)
{
    if (j->state != ST_BLOCKED)
        return "job is not blocked";
    if (j->unmet > 0)
        job_set_state(j, ST_WAITING);
    else
        sched_make_ready(s, j);
    return NULL;
}

const char *sched_renice(struct sched *s, struct job *j, int prio)
{
    bool queued = j->state == ST_READY;

    if (j->state == ST_DONE)
        return "job is done";
    if (queued)
        heap_remove(&s->ready, j);
    j->own_prio = prio;
    j->prio = prio;
    if (queued)
        heap_push(&s->ready, j);
    return NULL;
}

void sched_report(const struct sched *s)
{
    size_t i;

    printf("time %ld quantum %d\n", s->now, s->quantum);
    for (i = 0; i < s->count; i++) {
        const struct job *j = &s->jobs[i];

        printf("%-11s %-7s prio %d", j->name, job_state_name(j->state), j->own_prio);
        if (j->prio != j->own_prio)
            printf("(%d)", j->prio);
        printf(" left %d", j->left);
        if (j->state == ST_READY)
            printf(" waited %d", j->waited);
        if (j->unmet > 0)
            printf(" unmet %d", j->unmet);
        putchar('\n');
    }
}
