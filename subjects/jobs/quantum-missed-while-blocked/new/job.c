/* The table of jobs. */

#include <string.h>

#include "jobs.h"

struct job *job_find(struct sched *s, const char *name)
{
    size_t i;

    for (i = 0; i < s->count; i++) {
        if (strcmp(s->jobs[i].name, name) == 0)
            return &s->jobs[i];
    }
    return NULL;
}

/* Returns an error message, or NULL if the job was added. */
const char *job_add(struct sched *s, const char *name, int prio, int duration,
                    char **deps, size_t ndeps)
{
    struct job *j;
    size_t i;
    size_t k;

    if (strlen(name) >= NAME_SIZE)
        return "name is too long";
    if (job_find(s, name) != NULL)
        return "job exists";
    if (s->count == MAX_JOBS)
        return "too many jobs";
    if (ndeps > MAX_DEPS)
        return "too many dependencies";
    j = &s->jobs[s->count];
    memset(j, 0, sizeof *j);
    strcpy(j->name, name);
    j->own_prio = prio;
    j->prio = prio;
    j->left = duration;
    for (i = 0; i < ndeps; i++) {
        struct job *dep = job_find(s, deps[i]);

        if (dep == NULL)
            return "unknown dependency";
        for (k = 0; k < j->ndeps; k++) {
            if (j->deps[k] == dep)
                return "dependency is given twice";
        }
        j->deps[j->ndeps++] = dep;
        if (dep->state != ST_DONE)
            j->unmet++;
    }
    s->count++;
    job_set_state(j, ST_WAITING);
    if (j->unmet == 0)
        sched_make_ready(s, j);
    return NULL;
}

void job_set_state(struct job *j, enum state state)
{
    if (j->state == ST_RUNNING && state != ST_RUNNING)
        j->used = 0;
    j->state = state;
}

const char *job_state_name(enum state state)
{
    switch (state) {
    case ST_WAITING: return "waiting";
    case ST_READY: return "ready";
    case ST_RUNNING: return "running";
    case ST_BLOCKED: return "blocked";
    case ST_DONE: return "done";
    }
    return "?";
}
