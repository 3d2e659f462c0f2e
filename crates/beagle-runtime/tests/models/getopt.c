/* getopt and its kin: random arguments, options and variables; the messages too. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

int bg_m_getopt(int, char *const *, const char *);
int bg_m___posix_getopt(int, char *const *, const char *);
int bg_m_getopt_long(int, char *const *, const char *, const struct option *, int *);
int bg_m_getopt_long_only(int, char *const *, const char *, const struct option *, int *);
int __posix_getopt(int, char *const *, const char *);

#define MAX_ARGS 10
#define MAX_STEPS 40

struct step {
    int result, optind, optopt, index;
    char *optarg;
};

struct outcome {
    struct step steps[MAX_STEPS];
    int count;
    char *argv[MAX_ARGS + 1];
    int flags[3];
    char messages[8192];
    size_t messages_len;
};

/* A ring, since getopt keeps a pointer into the arguments of the call before. */
static char arenas[256][MAX_ARGS][40];
static char(*arena)[40];
static char optstring[40];
static char names[8][16];
static struct option options[9];
static int flags[3];
static int argc;

static void make_options(void) {
    static const char *const stems[] = {"a",   "ab",  "all",   "all-files", "alpha", "b",  "be", "beta", "bet",
                                        "c=d", "x",   "v",     "verbose",   "ver",   "version", "",   "help", "h"};
    char *to = optstring;
    if (below(4) == 0)
        *to++ = one_of("+-");
    if (below(4) == 0)
        *to++ = ':';
    for (unsigned n = below(7); n > 0; n--) {
        *to++ = one_of("abcvxhW;-:z");
        for (unsigned k = below(4); k > 1; k--)
            *to++ = below(8) ? ':' : ';';
    }
    *to = '\0';
    unsigned count = below(8);
    for (unsigned i = 0; i < count; i++) {
        strcpy(names[i], stems[below(sizeof stems / sizeof *stems)]);
        unsigned flag = below(8);
        options[i] = (struct option){names[i], (int)below(3), flag < 3 ? &flags[flag] : NULL,
                                     (int)(below(2) ? below(3) + 1000 : 'a' + below(26))};
    }
    memset(&options[count], 0, sizeof options[count]);
}

static void make_arguments(void) {
    static unsigned turn;
    arena = arenas[turn++ % 256];
    argc = (int)below(MAX_ARGS);
    strcpy(arena[0], "prog");
    for (int i = 1; i < argc; i++) {
        char *to = arena[i];
        unsigned kind = below(10);
        if (kind < 4)
            to = stpcpy(to, "--");
        else if (kind < 7)
            *to++ = '-';
        if (kind < 7 && below(2) && options[0].name != NULL) {
            unsigned n = 0;
            while (options[n].name != NULL)
                n++;
            const char *name = options[below(n)].name;
            to = stpncpy(to, name, below(4) ? strlen(name) : below((unsigned)strlen(name) + 1));
            if (below(3) == 0)
                to = stpcpy(to, "=val");
        } else {
            for (unsigned k = below(6); k > 0; k--)
                *to++ = one_of("abcvxhWz-:=;er");
        }
        *to = '\0';
    }
}

static void run(struct outcome *o, int model, int kind, int first) {
    static FILE *memory;
    static char *text;
    static size_t size;
    if (memory == NULL)
        memory = open_memstream(&text, &size);
    fseek(memory, 0, SEEK_SET);
    FILE *kept = stderr;
    stderr = memory;
    memset(flags, 0, sizeof flags);
    for (int i = 0; i < argc; i++)
        o->argv[i] = arena[i];
    o->argv[argc] = NULL;
    optind = first;
    optopt = 77;
    optarg = NULL;
    o->count = 0;
    while (o->count < MAX_STEPS) {
        struct step *step = &o->steps[o->count++];
        step->index = -5;
        int *index = kind & 1 ? &step->index : NULL;
        switch (kind / 2) {
        case 0:
            step->result = (model ? bg_m_getopt : getopt)(argc, o->argv, optstring);
            break;
        case 1:
            step->result = (model ? bg_m_getopt_long : getopt_long)(argc, o->argv, optstring, options, index);
            break;
        case 2:
            step->result =
                (model ? bg_m_getopt_long_only : getopt_long_only)(argc, o->argv, optstring, options, index);
            break;
        default:
            step->result = (model ? bg_m___posix_getopt : __posix_getopt)(argc, o->argv, optstring);
            break;
        }
        step->optind = optind;
        step->optopt = optopt;
        step->optarg = optarg;
        if (step->result == -1)
            break;
    }
    stderr = kept;
    fflush(memory);
    long len = ftell(memory);
    o->messages_len = (size_t)len < sizeof o->messages ? (size_t)len : sizeof o->messages;
    memcpy(o->messages, text, o->messages_len);
    memcpy(o->flags, flags, sizeof flags);
}

static void describe(int kind, int first) {
    printf("kind %d, optind %d, opterr %d, POSIXLY_CORRECT %d, options \"%s\"", kind, first, opterr,
           getenv("POSIXLY_CORRECT") != NULL, optstring);
    for (struct option *o = options; o->name != NULL; o++)
        printf(" {%s %d %p %d}", o->name, o->has_arg, (void *)o->flag, o->val);
    for (int i = 0; i < argc; i++)
        printf(" [%s]", arena[i]);
    printf("\n");
}

void test_getopt(long cases) {
    static struct outcome real, model;
    int ended = 0;
    for (long n = 0; n < cases; n++) {
        make_options();
        make_arguments();
        int kind = (int)below(8);
        /* Without a new start only if the last run came to its end. */
        int first = below(6) == 0 && ended;
        opterr = below(8) != 0;
        if (below(6) == 0)
            setenv("POSIXLY_CORRECT", "1", 1);
        else
            unsetenv("POSIXLY_CORRECT");
        run(&real, 0, kind, first);
        run(&model, 1, kind, first);
        /* Without arguments getopt does not even start anew. */
        if (argc > 0)
            ended = real.count < MAX_STEPS;
        int same = real.count == model.count && memcmp(real.argv, model.argv, (size_t)argc * sizeof(char *)) == 0 &&
                   memcmp(real.flags, model.flags, sizeof real.flags) == 0;
        for (int i = 0; i < real.count && same; i++) {
            const struct step *a = &real.steps[i], *b = &model.steps[i];
            same = a->result == b->result && a->optind == b->optind && a->optopt == b->optopt &&
                   a->index == b->index && a->optarg == b->optarg;
        }
        same = same && real.messages_len == model.messages_len &&
               memcmp(real.messages, model.messages, real.messages_len) == 0;
        if (same)
            continue;
        describe(kind, first);
        for (int i = 0; i < real.count || i < model.count; i++)
            printf("%d: result %d %d, optind %d %d, optopt %d %d, index %d %d, optarg %s %s\n", i,
                   real.steps[i].result, model.steps[i].result, real.steps[i].optind, model.steps[i].optind,
                   real.steps[i].optopt, model.steps[i].optopt, real.steps[i].index, model.steps[i].index,
                   real.steps[i].optarg, model.steps[i].optarg);
        differ("case %ld:\n%.*s---\n%.*s", n, (int)real.messages_len, real.messages, (int)model.messages_len,
               model.messages);
    }
}
