// Runs two versions of a program on the same input and tells whether they do the same: the rivals
// of Beagle in `make bench-mutants`. Each version runs in a child of its own, which puts back all
// that it changed; what it writes goes to memory.
//
//   driver FILE             one input; aborts if the versions differ (for AFL++)
//   driver FILE RUNS OUT    so many random changes of the input; writes the first that tells the
//                           versions apart to OUT and prints the number of runs
//
// An input is: the arguments that vary, each ended by a byte of 0; the files, each with its size in
// two bytes, low byte first; the rest is standard input.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

// Written for each subject: `words`, the arguments with 0 for those that vary, and `files`, the
// names of the files that vary. Both end with END.
#define END ((const char *)-1)
#include "shape.h"

extern int old_main(int, char **, char **);
extern int new_main(int, char **, char **);
extern char **environ;

enum { MOST_PARTS = 64, MOST_BYTES = 4096, MOST_OUTPUT = 1 << 20 };

// A part of an input: an argument, a file, or standard input, which is the last.
struct part {
    size_t size;
    unsigned char bytes[MOST_BYTES + 1];
};

static struct part parts[MOST_PARTS], seed[MOST_PARTS];
static int part_count, argument_count;
static int input_fd, output_fd[2][2];
static char output[2][MOST_OUTPUT];

static void fail(const char *what) {
    perror(what);
    _exit(3);
}

static int memory(const char *name) {
    int fd = memfd_create(name, 0);
    if (fd < 0)
        fail("memfd_create");
    return fd;
}

// Reads an input into the parts; what is missing is empty.
static void decode(const unsigned char *bytes, size_t size) {
    size_t at = 0;
    for (int i = 0; i < part_count; i++) {
        struct part *part = &parts[i];
        size_t length = size - at, used;
        if (i < argument_count) {
            const unsigned char *end = memchr(bytes + at, 0, length);
            if (end)
                length = (size_t)(end - (bytes + at));
            used = length + (end != 0);
        } else if (i < part_count - 1) {
            size_t wanted = length < 2 ? 0 : bytes[at] + 256u * bytes[at + 1];
            at += length < 2 ? length : 2;
            length = wanted < size - at ? wanted : size - at;
            used = length;
        } else {
            used = length;
        }
        part->size = length < MOST_BYTES ? length : MOST_BYTES;
        memcpy(part->bytes, bytes + at, part->size);
        part->bytes[part->size] = 0;
        at += used;
    }
}

static void encode(FILE *out) {
    for (int i = 0; i < part_count; i++) {
        struct part *part = &parts[i];
        if (i >= argument_count && i < part_count - 1) {
            fputc((int)(part->size & 255), out);
            fputc((int)(part->size >> 8), out);
        }
        fwrite(part->bytes, 1, part->size, out);
        if (i < argument_count)
            fputc(0, out);
    }
}

static void put(int fd, const struct part *part) {
    if (ftruncate(fd, 0) || pwrite(fd, part->bytes, part->size, 0) != (ssize_t)part->size)
        fail("writing an input");
}

static void limit(int what, rlim_t most) {
    struct rlimit limit = {most, most};
    setrlimit(what, &limit);
}

// The time that counts is the program's own, so that a busy machine makes no difference.
static void become(int version, char **arguments, int count) {
    struct itimerval second = {{0, 0}, {1, 0}};
    limit(RLIMIT_FSIZE, MOST_OUTPUT);
    limit(RLIMIT_CPU, 3);
    limit(RLIMIT_CORE, 0);
    setitimer(ITIMER_VIRTUAL, &second, 0);
    dup2(input_fd, 0);
    dup2(output_fd[version][0], 1);
    dup2(output_fd[version][1], 2);
    exit((version ? new_main : old_main)(count, arguments, environ));
}

static int run(int version, char **arguments, int count) {
    for (int i = 0; i < 2; i++)
        if (ftruncate(output_fd[version][i], 0) || lseek(output_fd[version][i], 0, SEEK_SET))
            fail("emptying an output");
    lseek(input_fd, 0, SEEK_SET);
    int status;
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0)
        become(version, arguments, count);
    if (waitpid(child, &status, 0) < 0)
        fail("waitpid");
    return status;
}

// Whether the versions differ on the input in the parts.
static int differ(void) {
    char *arguments[MOST_PARTS + 2] = {"program"};
    int count = 1, varying = 0;
    for (int i = 0; words[i] != END; i++)
        arguments[count++] = words[i] ? (char *)words[i] : (char *)parts[varying++].bytes;
    for (int i = 0; files[i] != END; i++) {
        int fd = open(files[i], O_WRONLY | O_CREAT, 0644);
        if (fd < 0)
            fail(files[i]);
        put(fd, &parts[argument_count + i]);
        close(fd);
    }
    put(input_fd, &parts[part_count - 1]);
    if (run(0, arguments, count) != run(1, arguments, count))
        return 1;
    for (int i = 0; i < 2; i++) {
        ssize_t size = pread(output_fd[0][i], output[0], MOST_OUTPUT, 0);
        if (size != pread(output_fd[1][i], output[1], MOST_OUTPUT, 0))
            return 1;
        if (size > 0 && memcmp(output[0], output[1], (size_t)size))
            return 1;
    }
    return 0;
}

static uint64_t state = 88172645463325252u;

static unsigned chance(size_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 16) % (below ? below : 1));
}

// Any byte, one that is often seen in text, or one of the seed.
static unsigned char some_byte(void) {
    struct part *part = &seed[chance((size_t)part_count)];
    switch (chance(4)) {
    case 0: return (unsigned char)chance(256);
    case 1: return (unsigned char)("0123456789-+.,:;=\n \t\"'\\/*()[]{}ax%"[chance(36)]);
    case 2: return (unsigned char)(' ' + chance(95));
    default: return part->size ? part->bytes[chance(part->size)] : '0';
    }
}

// Makes room for bytes, or takes some away.
static void resize(struct part *part, size_t at, size_t gone, size_t come) {
    if (part->size - gone + come > MOST_BYTES)
        return;
    memmove(part->bytes + at + come, part->bytes + at + gone, part->size - at - gone);
    part->size += come - gone;
}

static void change(struct part *part, int is_argument) {
    size_t at = chance(part->size + 1), rest = part->size - at;
    size_t length = 1 + chance(rest < 8 ? rest : 8);
    switch (chance(5)) {
    case 0:
        resize(part, at, 0, 1);
        // Falls through.
    case 1:
        if (at < part->size)
            part->bytes[at] = some_byte();
        break;
    case 2:
        if (length <= rest)
            resize(part, at, length, 0);
        break;
    case 3:
        if (length <= rest && part->size + length <= MOST_BYTES)
            resize(part, at, 0, length);
        break;
    default:
        if (at < part->size)
            part->bytes[at] = (unsigned char)(part->bytes[at] + 1 - 2 * (int)chance(2));
    }
    for (size_t i = 0; is_argument && i < part->size; i++)
        if (part->bytes[i] == 0)
            part->bytes[i] = '0';
    part->bytes[part->size] = 0;
}

static void vary(void) {
    memcpy(parts, seed, sizeof(struct part) * (size_t)part_count);
    for (unsigned n = 1u << chance(5); n; n--) {
        int i = (int)chance((size_t)part_count);
        change(&parts[i], i < argument_count);
    }
}

static int random_runs(long runs, const char *out) {
    memcpy(seed, parts, sizeof seed);
    for (long n = 1; n <= runs; n++) {
        if (differ()) {
            FILE *file = fopen(out, "wb");
            if (!file)
                fail(out);
            encode(file);
            fclose(file);
            printf("%ld\n", n);
            return 1;
        }
        vary();
    }
    printf("%ld\n", runs);
    return 0;
}

int main(int argc, char **argv) {
    for (int i = 0; words[i] != END; i++)
        argument_count += !words[i];
    part_count = argument_count + 1;
    for (int i = 0; files[i] != END; i++)
        part_count++;
    if (argc < 2 || part_count > MOST_PARTS)
        return 2;
    input_fd = memory("input");
    for (int i = 0; i < 4; i++)
        output_fd[i / 2][i % 2] = memory("output");
#ifdef __AFL_HAVE_MANUAL_CONTROL
    __AFL_INIT();
#endif
    static unsigned char bytes[MOST_PARTS * MOST_BYTES];
    int fd = open(argv[1], O_RDONLY);
    ssize_t size = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    if (size < 0)
        fail(argv[1]);
    close(fd);
    decode(bytes, (size_t)size);
    if (argc == 4)
        return random_runs(atol(argv[2]), argv[3]);
    if (differ())
        abort();
    return 0;
}
