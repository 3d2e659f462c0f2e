// See inside.h.
#define _GNU_SOURCE
#include "inside.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

NOT_WATCHED_FROM_HERE

extern int old_main(int, char **, char **);
extern int new_main(int, char **, char **);
extern char **environ;

enum {
    HEAP = 64 << 20,
    MOST_FILES = 64,
    BUFFER = 4096,
    TICK = 50000, // microseconds
    MOST_TICKS = 5,
    LATE = 1 << 20,
    TOO_MUCH = 2 << 20,
};

static volatile sig_atomic_t running, ticks;
static sigjmp_buf back;
static int ended;

// Ends the run from wherever it is.
static void end(int status) {
    ended = status;
    running = 0;
    siglongjmp(back, 1);
}

void inside_exit(int code) {
    if (running)
        end((code & 255) << 8);
    // In a child: what the process itself has to do at its end is not done there.
    fflush(stdout);
    fflush(stderr);
    _exit(code);
}

void inside_abort(void) {
    if (running)
        end(SIGABRT);
    abort();
}

// The heap is filled from its start and emptied as a whole. A block has its size before it.

static unsigned char *heap;
static size_t used;

static int is_mine(const void *block) {
    return (const unsigned char *)block >= heap && (const unsigned char *)block < heap + HEAP;
}

static size_t size_of(const void *block) {
    return ((const size_t *)block)[-2];
}

void *inside_malloc(size_t size) {
    if (!running)
        return malloc(size);
    if (size > HEAP || used + size + 32 > HEAP) {
        errno = ENOMEM;
        return 0;
    }
    size_t *block = (size_t *)(heap + used) + 2;
    block[-2] = size;
    used += 16 + (size + 15) / 16 * 16;
    return block;
}

void *inside_calloc(size_t count, size_t size) {
    if (!running)
        return calloc(count, size);
    size_t all;
    // What is taken from the heap is zero.
    return __builtin_mul_overflow(count, size, &all) ? 0 : inside_malloc(all);
}

void inside_free(void *block) {
    if (!is_mine(block))
        free(block);
}

void *inside_realloc(void *block, size_t size) {
    if (!running)
        return realloc(block, size);
    void *other = inside_malloc(size);
    if (other && block)
        memcpy(other, block, size_of(block) < size ? size_of(block) : size);
    return other;
}

char *inside_strdup(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = inside_malloc(size);
    return copy ? memcpy(copy, text, size) : 0;
}

ssize_t inside_getdelim(char **line, size_t *room, int delimiter, FILE *file) {
    if (!running)
        return getdelim(line, room, delimiter, file);
    size_t size = 0;
    for (int c; (c = getc(file)) != EOF;) {
        if (!*line || size + 2 > *room) {
            size_t more = *line && *room ? 2 * *room : 120;
            char *longer = inside_realloc(*line, more);
            if (!longer)
                return -1;
            *line = longer;
            *room = more;
        }
        (*line)[size++] = (char)c;
        if (c == delimiter)
            break;
    }
    if (!size)
        return -1;
    (*line)[size] = 0;
    return (ssize_t)size;
}

ssize_t inside_getline(char **line, size_t *room, FILE *file) {
    return inside_getdelim(line, room, '\n', file);
}

// Files and the standard streams are in memory; all that a run leaves open is closed after it.

struct reading {
    const struct content *content;
    size_t at;
};

static const struct content *contents;
static FILE *opened[MOST_FILES];
static struct reading readings[MOST_FILES];
static char buffers[3][BUFFER];
static struct seen *record;

static ssize_t give(void *cookie, char *bytes, size_t size) {
    struct reading *reading = cookie;
    size_t left = reading->content->size - reading->at;
    size = size < left ? size : left;
    memcpy(bytes, reading->content->bytes + reading->at, size);
    reading->at += size;
    return (ssize_t)size;
}

static int seek(void *cookie, off64_t *offset, int from) {
    struct reading *reading = cookie;
    off64_t base[] = {0, (off64_t)reading->at, (off64_t)reading->content->size};
    off64_t at = from < 0 || from > 2 ? -1 : base[from] + *offset;
    if (at < 0 || at > base[2])
        return -1;
    reading->at = (size_t)at;
    *offset = at;
    return 0;
}

static ssize_t take(void *cookie, const char *bytes, size_t size) {
    size_t which = (size_t)(uintptr_t)cookie;
    if (record->size[which] + size > MOST_OUTPUT) {
        if (running)
            end(TOO_MUCH);
        return (ssize_t)size;
    }
    memcpy(record->bytes[which] + record->size[which], bytes, size);
    record->size[which] += size;
    return (ssize_t)size;
}

static FILE *keep(int at, FILE *file) {
    opened[at] = file;
    return file;
}

static FILE *reader(int at, const struct content *content) {
    readings[at] = (struct reading){content, 0};
    return keep(at, fopencookie(&readings[at], "r", (cookie_io_functions_t){give, 0, seek, 0}));
}

static FILE *writer(int at, uintptr_t which) {
    return keep(at, fopencookie((void *)which, "w", (cookie_io_functions_t){0, take, 0, 0}));
}

FILE *inside_fopen(const char *name, const char *mode) {
    if (!running)
        return fopen(name, mode);
    int at = 3;
    while (at < MOST_FILES && opened[at])
        at++;
    if (at == MOST_FILES) {
        errno = EMFILE;
        return 0;
    }
    for (const struct content *content = contents; content->name; content++)
        if (mode[0] == 'r' && !strcmp(content->name, name))
            return reader(at, content);
    return keep(at, fopen(name, mode));
}

int inside_fclose(FILE *file) {
    if (!running)
        return fclose(file);
    for (int i = 3; i < MOST_FILES; i++)
        if (opened[i] == file) {
            opened[i] = 0;
            return fclose(file);
        }
    return fflush(file);
}

static FILE *outer[3];

static void open_streams(void) {
    const struct content *input = contents;
    while (input->name)
        input++;
    outer[0] = stdin, outer[1] = stdout, outer[2] = stderr;
    stdin = reader(0, input);
    stdout = writer(1, 0);
    stderr = writer(2, 1);
    setvbuf(stdin, buffers[0], _IOFBF, BUFFER);
    setvbuf(stdout, buffers[1], _IOFBF, BUFFER);
    setvbuf(stderr, 0, _IONBF, 0);
}

static void close_streams(void) {
    stdin = outer[0], stdout = outer[1], stderr = outer[2];
    // What a program that was killed did not get to write is lost.
    size_t written = record->size[0];
    for (int i = 0; i < MOST_FILES; i++)
        if (opened[i]) {
            fclose(opened[i]);
            opened[i] = 0;
        }
    if (ended & 127)
        record->size[0] = written;
}

// The variables of both versions, which are in sections of their own, if they have any.

#define VARIABLES(section) \
    extern unsigned char __start_##section[] __attribute__((weak)), __stop_##section[] __attribute__((weak));
VARIABLES(old_data) VARIABLES(old_bss) VARIABLES(new_data) VARIABLES(new_bss)

static const struct { unsigned char *from, *to; } variables[2][2] = {
    {{__start_old_data, __stop_old_data}, {__start_old_bss, __stop_old_bss}},
    {{__start_new_data, __stop_new_data}, {__start_new_bss, __stop_new_bss}},
};
static unsigned char *saved[2][2];

static void put_back(int version) {
    for (int i = 0; i < 2; i++) {
        size_t size = (size_t)(variables[version][i].to - variables[version][i].from);
        memcpy(variables[version][i].from, saved[version][i], size);
    }
    memset(heap, 0, used);
    used = 0;
    errno = 0;
    optind = 0;
    opterr = 1;
}

// Signals.

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGVTALRM};
enum { FATAL = sizeof fatal / sizeof *fatal };
static struct sigaction before[FATAL];

static void caught(int signal) {
    if (signal == SIGVTALRM) {
        if (running && ++ticks > MOST_TICKS)
            end(LATE);
        return;
    }
    if (running)
        end(signal);
    inside_end();
    raise(signal);
}

void inside_start(void) {
    heap = mmap(0, HEAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (heap == MAP_FAILED)
        abort();
    for (int i = 0; i < 4; i++) {
        size_t size = (size_t)(variables[i / 2][i % 2].to - variables[i / 2][i % 2].from);
        saved[i / 2][i % 2] = malloc(size + 1);
        memcpy(saved[i / 2][i % 2], variables[i / 2][i % 2].from, size);
    }
    // Also for a stack that is used up.
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&stack, 0);
    struct sigaction action = {.sa_handler = caught, .sa_flags = SA_ONSTACK | SA_NODEFER};
    for (int i = 0; i < FATAL; i++)
        sigaction(fatal[i], &action, &before[i]);
    struct itimerval tick = {{0, TICK}, {0, TICK}};
    setitimer(ITIMER_VIRTUAL, &tick, 0);
}

void inside_end(void) {
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_VIRTUAL, &never, 0);
    for (int i = 0; i < FATAL; i++)
        sigaction(fatal[i], &before[i], 0);
}

void inside_run(int version, char **arguments, int count, const struct content *files, struct seen *seen) {
    contents = files;
    record = seen;
    seen->size[0] = seen->size[1] = 0;
    open_streams();
    ticks = 0;
    if (!sigsetjmp(back, 0)) {
        running = 1;
        ended = ((version ? new_main : old_main)(count, arguments, environ) & 255) << 8;
        running = 0;
    }
    close_streams();
    seen->status = ended;
    put_back(version);
}

NOT_WATCHED_TO_HERE
