/* Reads and executes commands. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs.h"

#define LINE_SIZE 128
#define MAX_WORDS 10
#define MAX_TICKS 1000

struct command {
    const char *name;
    size_t min_words;
    size_t max_words;
    const char *(*run)(struct sched *s, char **words, size_t n);
};

static bool parse_int(const char *text, int low, int high, int *result)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || n < low || n > high)
        return false;
    *result = (int)n;
    return true;
}

/* Each command returns an error message or NULL. */

static const char *cmd_add(struct sched *s, char **words, size_t n)
{
    int prio;
    int duration;

    if (!parse_int(words[2], 0, PRIO_LOWEST, &prio))
        return "bad priority";
    if (!parse_int(words[3], 1, MAX_DURATION, &duration))
        return "bad duration";
    return job_add(s, words[1], prio, duration, words + 4, n - 4);
}

static const char *cmd_tick(struct sched *s, char **words, size_t n)
{
    int ticks = 1;

    if (n > 1 && !parse_int(words[1], 1, MAX_TICKS, &ticks))
        return "bad number of ticks";
    while (ticks-- > 0)
        sched_tick(s);
    return NULL;
}

static const char *cmd_drain(struct sched *s, char **words, size_t n)
{
    (void)words;
    (void)n;
    while (!sched_idle(s))
        sched_tick(s);
    return NULL;
}

static const char *cmd_block(struct sched *s, char **words, size_t n)
{
    struct job *j = job_find(s, words[1]);

    (void)n;
    return j == NULL ? "unknown job" : sched_block(s, j);
}

static const char *cmd_unblock(struct sched *s, char **words, size_t n)
{
    struct job *j = job_find(s, words[1]);

    (void)n;
    return j == NULL ? "unknown job" : sched_unblock(s, j);
}

static const char *cmd_renice(struct sched *s, char **words, size_t n)
{
    struct job *j = job_find(s, words[1]);
    int prio;

    (void)n;
    if (j == NULL)
        return "unknown job";
    if (!parse_int(words[2], 0, PRIO_LOWEST, &prio))
        return "bad priority";
    return sched_renice(s, j, prio);
}

static const char *cmd_quantum(struct sched *s, char **words, size_t n)
{
    int quantum;

    (void)n;
    if (!parse_int(words[1], 1, MAX_QUANTUM, &quantum))
        return "bad quantum";
    sched_set_quantum(s, quantum);
    return NULL;
}

static const char *cmd_report(struct sched *s, char **words, size_t n)
{
    (void)words;
    (void)n;
    sched_report(s);
    return NULL;
}

static const struct command commands[] = {
    { "add", 4, MAX_WORDS, cmd_add },
    { "tick", 1, 2, cmd_tick },
    { "drain", 1, 1, cmd_drain },
    { "block", 2, 2, cmd_block },
    { "unblock", 2, 2, cmd_unblock },
    { "renice", 3, 3, cmd_renice },
    { "quantum", 2, 2, cmd_quantum },
    { "report", 1, 1, cmd_report },
    { NULL, 0, 0, NULL },
};

static const char *execute(struct sched *s, char *line)
{
    const struct command *c;
    char *words[MAX_WORDS];
    size_t n = 0;
    char *word;

    for (word = strtok(line, " \t\r\n"); word != NULL; word = strtok(NULL, " \t\r\n")) {
        if (n == MAX_WORDS)
            return "too many words";
        words[n++] = word;
    }
    if (n == 0 || words[0][0] == '#')
        return NULL;
    for (c = commands; c->name != NULL; c++) {
        if (strcmp(words[0], c->name) != 0)
            continue;
        if (n < c->min_words || n > c->max_words)
            return "wrong number of words";
        return c->run(s, words, n);
    }
    return "unknown command";
}

static void usage(void)
{
    fputs("usage: jobs [-v] [-a STEP] < commands\n"
          "  -a  raise the priority of a ready job every STEP ticks\n"
          "  -v  trace what gets the processor\n"
          "commands:\n"
          "  add NAME PRIO DURATION [DEPENDENCY...]\n"
          "  tick [N], drain, block NAME, unblock NAME\n"
          "  renice NAME PRIO, quantum N, report\n", stderr);
    exit(2);
}

int main(int argc, char **argv)
{
    static struct sched sched;
    char line[LINE_SIZE];
    unsigned long line_number = 0;
    int status = 0;
    int opt;

    sched_init(&sched);
    while ((opt = getopt(argc, argv, "a:v")) != -1) {
        switch (opt) {
        case 'a':
            if (!parse_int(optarg, 0, MAX_TICKS, &sched.age_step))
                usage();
            break;
        case 'v':
            sched.trace = true;
            break;
        default:
            usage();
        }
    }
    if (optind != argc)
        usage();
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *error = NULL;

        line_number++;
        if (strlen(line) == sizeof line - 1 && line[sizeof line - 2] != '\n') {
            int c;

            while ((c = getchar()) != EOF && c != '\n')
                continue;
            error = "line is too long";
        } else {
            error = execute(&sched, line);
        }
        if (error != NULL) {
            fflush(stdout);
            fprintf(stderr, "jobs: line %lu: %s\n", line_number, error);
            status = 1;
        }
    }
    return fflush(stdout) == 0 ? status : 1;
}
