/* Notes how a program was started, before anything else in it runs.
 *
 * NAME says which program this is, SPOOL where runs are noted. As long as there is no such directory, nothing is;
 * it has a file that says which program is meant. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder.h"

const char __beagle_recorder_name[] __attribute__((used)) = "beagle-recorder:" NAME;
static const char spool[] = SPOOL;

/* Bytes that are collected before they are written. */
struct buffer {
    int fd;
    unsigned used;
    char bytes[4096];
};

static void flush(struct buffer *to) {
    unsigned done = 0;
    while (done < to->used) {
        long written = syscall(SYS_write, to->fd, to->bytes + done, to->used - done);
        if (written <= 0)
            break;
        done += written;
    }
    to->used = 0;
}

static void put(struct buffer *to, const char *text, unsigned long size) {
    while (size > 0) {
        if (to->used == sizeof to->bytes)
            flush(to);
        unsigned long part = sizeof to->bytes - to->used;
        if (part > size)
            part = size;
        memcpy(to->bytes + to->used, text, part);
        to->used += part;
        text += part;
        size -= part;
    }
}

static char *number(char *to, unsigned long value) {
    char digits[24];
    int count = 0;
    do
        digits[count++] = '0' + value % 10;
    while ((value /= 10) > 0);
    while (count > 0)
        *to++ = digits[--count];
    *to = 0;
    return to;
}

/* When this process began, so that numbers of processes may be used again. */
static unsigned long started(void) {
    char text[1024];
    int fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    long size = syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    if (size <= 0)
        return 0;
    text[size] = 0;
    char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    unsigned long value = 0;
    for (at = at ? at + 1 : text + size; *at >= '0' && *at <= '9'; at++)
        value = value * 10 + (*at - '0');
    return value;
}

/* Whether the program that is meant is this one. */
static int is_meant(void) {
    char path[sizeof spool + 16], name[sizeof __beagle_recorder_name + 1];
    strcpy(path, spool);
    strcat(path, "/program");
    int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    long size = syscall(SYS_read, fd, name, sizeof name);
    syscall(SYS_close, fd);
    return size == sizeof __beagle_recorder_name - 1 && memcmp(name, __beagle_recorder_name, size) == 0;
}

/* Whether enough runs were noted; then this one is only counted. */
static int is_enough(void) {
    char path[sizeof spool + 16];
    strcpy(path, spool);
    strcat(path, "/enough");
    int fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return 0;
    syscall(SYS_write, fd, "+", 1);
    syscall(SYS_close, fd);
    return 1;
}

static int make_directory(void) {
    char *dir = __beagle_recorder_state.dir;
    strcpy(dir, spool);
    char *end = number(strcat(dir, "/") + sizeof spool, syscall(SYS_getpid));
    *end++ = '-';
    end = number(end, started());
    *end++ = '-';
    /* A program may start itself again in the same process. */
    for (int again = 0; again < 1000; again++) {
        number(end, again);
        if (syscall(SYS_mkdirat, AT_FDCWD, dir, 0700) == 0)
            return 1;
        if (errno != EEXIST)
            break;
    }
    dir[0] = 0;
    return 0;
}

static void note(int argc, char **argv, char **environment) {
    struct beagle_recorder *state = &__beagle_recorder_state;
    struct buffer out = {.used = 0};
    char path[sizeof state->dir + 16], final[sizeof state->dir + 16], where[4096], count[24];
    strcat(strcpy(path, state->dir), "/start.part");
    strcat(strcpy(final, state->dir), "/start");
    out.fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out.fd < 0) {
        state->dir[0] = 0;
        return;
    }
    put(&out, count, number(count, argc) - count + 1);
    for (int i = 0; i < argc; i++)
        put(&out, argv[i], strlen(argv[i]) + 1);
    long length = syscall(SYS_getcwd, where, sizeof where);
    put(&out, where, length > 0 ? length : 0);
    if (length <= 0)
        put(&out, "", 1);
    for (char **variable = environment; *variable; variable++)
        put(&out, *variable, strlen(*variable) + 1);
    flush(&out);
    syscall(SYS_close, out.fd);
    syscall(SYS_renameat, AT_FDCWD, path, AT_FDCWD, final);
}

/* The C library gives constructors what it gives to `main`. */
__attribute__((constructor(101))) static void start(int argc, char **argv, char **environment) {
    int before = errno;
    if (sizeof spool + 64 < sizeof __beagle_recorder_state.dir && is_meant() && !is_enough() && make_directory())
        note(argc, argv, environment);
    errno = before;
}
