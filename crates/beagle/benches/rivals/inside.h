// Runs of a version inside this process: what a skilled user writes by hand to fuzz a program fast.
// The version's calls of exit, malloc, fopen and their like come here (see `mod.rs`); its variables
// are put back after each run. What it shows is a hint only: memory errors can spoil the process, so
// what looks like a difference is looked at again in children (`driver.c`).
#ifndef INSIDE_H
#define INSIDE_H

#include <stddef.h>

// What belongs to the driver is not what libFuzzer has to explore.
#ifdef LIBFUZZER
#define NOT_WATCHED_FROM_HERE \
    _Pragma("clang attribute push(__attribute__((no_sanitize(\"coverage\"))), apply_to = function)")
#define NOT_WATCHED_TO_HERE _Pragma("clang attribute pop")
#else
#define NOT_WATCHED_FROM_HERE
#define NOT_WATCHED_TO_HERE
#endif

enum { MOST_OUTPUT = 1 << 20 };

// A file in memory.
struct content {
    const char *name;
    const unsigned char *bytes;
    size_t size;
};

// What a run did: how it ended, as `wait` says it, and what it wrote to its outputs.
struct seen {
    int status;
    size_t size[2];
    unsigned char bytes[2][MOST_OUTPUT];
};

// Before the first run.
void inside_start(void);

// After the last one: signals go where they went before.
void inside_end(void);

// Ends a child, or the run that is going on.
void inside_exit(int code);

// Runs old (0) or new (1); the last of the files has no name and is standard input.
void inside_run(int version, char **arguments, int count, const struct content *files, struct seen *seen);

#endif
