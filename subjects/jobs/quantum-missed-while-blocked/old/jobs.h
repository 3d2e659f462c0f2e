/* jobs - a simulation of a job scheduler. */

#ifndef JOBS_H
#define JOBS_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_SIZE 12
#define MAX_JOBS 32
#define MAX_DEPS 4
#define MAX_DURATION 999
#define MAX_QUANTUM 99
#define PRIO_LOWEST 9   /* 0 is the most urgent */
#define AGE_FLOOR 1     /* waiting alone never makes a job the most urgent */

enum state { ST_WAITING, ST_READY, ST_RUNNING, ST_BLOCKED, ST_DONE };

struct job {
    char name[NAME_SIZE];
    enum state state;
    int own_prio;               /* as given by the user */
    int prio;                   /* raised while the job is waiting for the processor */
    int left;                   /* ticks of work left */
    int waited;                 /* ticks since the job became ready */
    int used;                   /* ticks of the current slice */
    int slice;                  /* ticks that it may last, 0 outside of one */
    int unmet;                  /* dependencies that are not done */
    unsigned long order;        /* place among jobs of the same priority */
    struct job *deps[MAX_DEPS];
    size_t ndeps;
};

/* Ready jobs, the next one to run first. */
struct heap {
    struct job *items[MAX_JOBS];
    size_t count;
};

struct sched {
    struct job jobs[MAX_JOBS];
    size_t count;
    struct heap ready;
    struct job *running;
    unsigned long next_order;
    long now;
    int quantum;
    int age_step;               /* 0 if waiting jobs do not age */
    bool trace;
};

/* heap.c */
void heap_push(struct heap *h, struct job *j);
struct job *heap_top(const struct heap *h);
bool heap_remove(struct heap *h, const struct job *j);

/* job.c */
struct job *job_find(struct sched *s, const char *name);
const char *job_add(struct sched *s, const char *name, int prio, int duration,
                    char **deps, size_t ndeps);
void job_set_state(struct job *j, enum state state);
const char *job_state_name(enum state state);

/* sched.c */
void sched_init(struct sched *s);
void sched_make_ready(struct sched *s, struct job *j);
void sched_tick(struct sched *s);
void sched_set_quantum(struct sched *s, int quantum);
bool sched_idle(const struct sched *s);
const char *sched_block(struct sched *s, struct job *j);
const char *sched_unblock(struct sched *s, struct job *j);
const char *sched_renice(struct sched *s, struct job *j, int prio);
void sched_report(const struct sched *s);

#endif
