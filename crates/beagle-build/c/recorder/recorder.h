/* What the parts of the recorder share. Nothing in here is seen by the program that it is linked into. */

#ifndef BEAGLE_RECORDER_H
#define BEAGLE_RECORDER_H

#include <stdint.h>

/* Files and standard input beyond this are not copied. */
#define MOST_BYTES (1 << 20)
/* Files that one run may have copied. */
#define MOST_FILES 64
/* Paths that are remembered, so that none is noted twice. */
#define MOST_PATHS 512

/* One for each process: a shared library that has the recorder too uses that of the program. */
struct beagle_recorder {
    /* Where this run is noted; empty if it is not. */
    char dir[512];
    /* Whether what is on standard input was taken care of. */
    int has_stdin;
    unsigned files;
    unsigned paths;
    uint64_t path[MOST_PATHS];
};

extern struct beagle_recorder __beagle_recorder_state;

/* The registers with the first six arguments of a call. */
struct beagle_registers {
    uint64_t argument[6];
};

#endif
