// Runs two versions of a program on the same input and tells whether they do the same: the rivals
// of Beagle in `make bench-mutants` and `make bench-race`. What it says is always seen in children,
// one for each version, which puts back all that they changed; what they write goes to memory.
// Random runs and libFuzzer look for such inputs inside the process first, which is faster by far.
//
//   driver FILE             one input; aborts if the versions differ (for AFL++)
//   driver FILE RUNS OUT    so many random changes of the input; writes the first that tells the
//                           versions apart to OUT and prints the number of runs
//
// With LIBFUZZER it is a target of libFuzzer, which aborts if the versions differ.
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

#include "inside.h"

// Written for each subject: `words`, the arguments with 0 for those that vary, and `files`, the
// names of the files that vary. Both end with END.
#define END ((const char *)-1)
#include "shape.h"

NOT_WATCHED_FROM_HERE

extern int old_main(int, char **, char **);
extern int new_main(int, char **, char **);
extern char **environ;

enum { MOST_PARTS = 64, MOST_BYTES = 4096 };

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
    for (int i = 1; i < 32; i++)
        signal(i, SIG_DFL);
    dup2(input_fd, 0);
    dup2(output_fd[version][0], 1);
    dup2(output_fd[version][1], 2);
    inside_exit((version ? new_main : old_main)(count, arguments, environ));
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

// The words that the input in the parts stands for.
static int command_line(char **arguments) {
    int count = 0, varying = 0;
    arguments[count++] = "program";
    for (int i = 0; words[i] != END; i++)
        arguments[count++] = words[i] ? (char *)words[i] : (char *)parts[varying++].bytes;
    arguments[count] = 0;
    return count;
}

// Whether the versions differ on the input in the parts.
static int differ(void) {
    char *arguments[MOST_PARTS + 2];
    int count = command_line(arguments);
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

// The same, but quickly: inside this process, and again in children only if they seem to differ.
static int differ_soon(void) {
    static struct seen seen[2];
    static struct part words_before[MOST_PARTS];
    struct content contents[MOST_PARTS + 1] = {{0}};
    int file_count = part_count - argument_count - 1;
    for (int i = 0; i <= file_count; i++) {
        struct part *part = &parts[argument_count + i];
        contents[i] = (struct content){i < file_count ? files[i] : 0, part->bytes, part->size};
    }
    // A program may write to its arguments.
    memcpy(words_before, parts, sizeof(struct part) * (size_t)argument_count);
    for (int version = 0; version < 2; version++) {
        char *arguments[MOST_PARTS + 2];
        int count = command_line(arguments);
        inside_run(version, arguments, count, contents, &seen[version]);
        memcpy(parts, words_before, sizeof(struct part) * (size_t)argument_count);
    }
    int same = seen[0].status == seen[1].status;
    for (int i = 0; same && i < 2; i++)
        same = seen[0].size[i] == seen[1].size[i] && !memcmp(seen[0].bytes[i], seen[1].bytes[i], seen[0].size[i]);
    return !same && differ();
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
        if (differ_soon()) {
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

static void prepare(void) {
    for (int i = 0; words[i] != END; i++)
        argument_count += !words[i];
    part_count = argument_count + 1;
    for (int i = 0; files[i] != END; i++)
        part_count++;
    if (part_count > MOST_PARTS)
        exit(2);
    input_fd = memory("input");
    for (int i = 0; i < 4; i++)
        output_fd[i / 2][i % 2] = memory("output");
}

#ifdef LIBFUZZER
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
    if (!part_count) {
        prepare();
        inside_start();
    }
    decode(bytes, size);
    if (differ_soon()) {
        // So that libFuzzer hears of it.
        inside_end();
        abort();
    }
    return 0;
}
#else
int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    prepare();
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
    if (argc == 4) {
        inside_start();
        return random_runs(atol(argv[2]), argv[3]);
    }
    if (differ())
        abort();
    return 0;
}
#endif

NOT_WATCHED_TO_HERE
