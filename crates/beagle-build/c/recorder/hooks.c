/* What is done before the program calls a function that reads: `wrap.S` comes here, then goes on to the function.
 *
 * Only system calls are used, so that nothing in here comes back to here, and nothing is left open. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder.h"

struct beagle_recorder __beagle_recorder_state;
#define state (&__beagle_recorder_state)

static int open_in_dir(const char *name, int flags) {
    char path[sizeof state->dir + 32];
    strcpy(path, state->dir);
    strcat(path, "/");
    strcat(path, name);
    return syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
}

static int write_all(int fd, const char *bytes, unsigned long size) {
    while (size > 0) {
        long written = syscall(SYS_write, fd, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return 0;
        bytes += written;
        size -= written;
    }
    return 1;
}

/* Adds texts to what is known of this run, all at once: other threads and children do so, too. */
static void note(char kind, const char *first, const char *second, const char *third) {
    const char *texts[] = {first, second, third};
    char line[3 * 4096 + 2];
    unsigned long used = 0;
    line[used++] = kind;
    for (int i = 0; i < 3; i++) {
        unsigned long size = strnlen(texts[i], 4095);
        memcpy(line + used, texts[i], size);
        used += size;
        line[used++] = 0;
    }
    int fd = open_in_dir("notes", O_WRONLY | O_CREAT | O_APPEND);
    if (fd < 0)
        return;
    syscall(SYS_write, fd, line, used);
    syscall(SYS_close, fd);
}

/* Copies a file from where it is read, unless it is too large. */
static int copy(int from, long offset, const char *name) {
    char bytes[4096];
    long done = 0;
    int to = open_in_dir(name, O_WRONLY | O_CREAT | O_EXCL);
    if (to < 0)
        return 0;
    while (done <= MOST_BYTES) {
        long size = syscall(SYS_pread64, from, bytes, sizeof bytes, offset + done);
        if (size <= 0 || !write_all(to, bytes, size))
            break;
        done += size;
    }
    syscall(SYS_close, to);
    return done <= MOST_BYTES;
}

/* Whether a path is met for the first time. */
static int is_first(const char *text) {
    uint64_t hash = 0xcbf29ce484222325;
    for (unsigned long i = 0; text[i] && i < 4096; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3;
    unsigned known = __atomic_load_n(&state->paths, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < known && i < MOST_PATHS; i++)
        if (state->path[i] == hash)
            return 0;
    unsigned slot = __atomic_fetch_add(&state->paths, 1, __ATOMIC_RELAXED);
    if (slot >= MOST_PATHS)
        return 0;
    state->path[slot] = hash;
    return 1;
}

/* Hands on what comes through a pipe, and keeps a copy. Ends when either side does. */
static void pump(void) {
    static char bytes[65536];
    struct pollfd both[2] = {{.fd = 0, .events = POLLIN}, {.fd = 1}};
    long done = 0;
    for (;;) {
        if (syscall(SYS_poll, both, 2, -1) < 0 && errno != EINTR)
            return;
        if (both[1].revents)
            return;
        if (!both[0].revents)
            continue;
        long size = syscall(SYS_read, 0, bytes, sizeof bytes);
        if (size < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (size <= 0)
            return;
        /* One byte too many says that there was more. */
        long room = MOST_BYTES + 1 - done;
        long part = size < room ? size : room;
        write_all(3, bytes, part);
        done += part;
        if (!write_all(1, bytes, size))
            return;
    }
}

/* Puts a process between a pipe and the program. It is not seen by `wait` and sends no signal when it ends. */
static void divert(int spool) {
    int ends[2];
    long flags = syscall(SYS_fcntl, 0, F_GETFL);
    if (syscall(SYS_pipe2, ends, 0) != 0)
        return;
    long child = syscall(SYS_clone, 0, 0, 0, 0, 0);
    if (child == 0) {
        struct {
            void (*handler)(int);
            unsigned long flags;
            void (*restorer)(void);
            unsigned long mask;
        } ignore = {(void (*)(int))1, 0, 0, 0};
        syscall(SYS_rt_sigaction, 13, &ignore, 0, 8);
        /* The places are free once the highest is safe. */
        int high = syscall(SYS_fcntl, spool, F_DUPFD, 10), end = syscall(SYS_fcntl, ends[1], F_DUPFD, 10);
        syscall(SYS_dup2, end, 1);
        syscall(SYS_dup2, high, 3);
        syscall(SYS_close, 2);
        if (syscall(SYS_close_range, 4, ~0U, 0) != 0)
            for (int fd = 4; fd < 4096; fd++)
                syscall(SYS_close, fd);
        pump();
        syscall(SYS_exit_group, 0);
    }
    if (child > 0) {
        syscall(SYS_dup2, ends[0], 0);
        if (flags >= 0)
            syscall(SYS_fcntl, 0, F_SETFL, flags);
    }
    syscall(SYS_close, ends[0]);
    syscall(SYS_close, ends[1]);
}

/* The program is about to read standard input. */
static void want_stdin(void) {
    struct stat data;
    if (!state->dir[0] || __atomic_exchange_n(&state->has_stdin, 1, __ATOMIC_ACQ_REL))
        return;
    int before = errno;
    if (syscall(SYS_fstat, 0, &data) != 0) {
        note('i', "closed", "", "");
    } else if (S_ISREG(data.st_mode)) {
        long at = syscall(SYS_lseek, 0, 0, SEEK_CUR);
        note('i', copy(0, at < 0 ? 0 : at, "stdin") ? "file" : "large", "", "");
    } else if (S_ISFIFO(data.st_mode)) {
        int spool = open_in_dir("stdin", O_WRONLY | O_CREAT | O_EXCL);
        if (spool >= 0) {
            note('i', "pipe", "", "");
            divert(spool);
            syscall(SYS_close, spool);
        }
    } else {
        note('i', "device", "", "");
    }
    errno = before;
}

/* The program is about to open a file. What it makes itself is no input. */
static void want_file(int dir, const char *path, int reads, int makes) {
    struct stat data;
    char name[16] = "file", link[32] = "/proc/self/fd/", real[4096];
    if (!state->dir[0])
        return;
    int before = errno;
    int fd = reads ? syscall(SYS_openat, dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (fd >= 0 && syscall(SYS_fstat, fd, &data) == 0 && S_ISREG(data.st_mode)) {
        unsigned long digits = 0;
        char text[12];
        for (unsigned rest = fd; digits == 0 || rest > 0; rest /= 10)
            text[digits++] = '0' + rest % 10;
        for (unsigned long i = 0; i < digits; i++)
            link[14 + i] = text[digits - 1 - i];
        link[14 + digits] = 0;
        long length = syscall(SYS_readlinkat, AT_FDCWD, link, real, sizeof real - 1);
        real[length > 0 ? length : 0] = 0;
        if (strncmp(real, "/proc/", 6) != 0 && is_first(path)) {
            unsigned number = __atomic_fetch_add(&state->files, 1, __ATOMIC_RELAXED);
            int kept = 0;
            if (number < MOST_FILES) {
                name[4] = '0' + number / 10;
                name[5] = '0' + number % 10;
                kept = copy(fd, 0, name);
            }
            note('f', path, real, kept ? name : "");
        }
    } else if (fd < 0 && makes && path) {
        is_first(path);
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = before;
}

static int is_stdin_path(const char *path) {
    return strcmp(path, "/dev/stdin") == 0 || strcmp(path, "/dev/fd/0") == 0 || strcmp(path, "/proc/self/fd/0") == 0;
}

static void opens(int dir, const char *path, int reads, int makes) {
    if (path && is_stdin_path(path))
        want_stdin();
    else
        want_file(dir, path, reads, makes);
}

/* `which` is the number of the argument that matters. */
void __beagle_recorder_stdin(const struct beagle_registers *call, int which) {
    (void)call, (void)which;
    want_stdin();
}

void __beagle_recorder_fd(const struct beagle_registers *call, int which) {
    if ((int)call->argument[which] == 0)
        want_stdin();
}

void __beagle_recorder_stream(const struct beagle_registers *call, int which) {
    if (call->argument[which] == (uint64_t)stdin)
        want_stdin();
}

void __beagle_recorder_open(const struct beagle_registers *call, int which) {
    int flags = call->argument[which + 1];
    int reads = (flags & O_ACCMODE) != O_WRONLY && !(flags & O_TRUNC);
    opens(which ? (int)call->argument[0] : AT_FDCWD, (const char *)call->argument[which], reads,
          flags & (O_CREAT | O_TRUNC));
}

void __beagle_recorder_fopen(const struct beagle_registers *call, int which) {
    const char *mode = (const char *)call->argument[which + 1];
    opens(AT_FDCWD, (const char *)call->argument[which], mode && mode[0] != 'w', mode && mode[0] != 'r');
}

void __beagle_recorder_freopen(const struct beagle_registers *call, int which) {
    if (call->argument[0])
        __beagle_recorder_fopen(call, which);
    /* From now on standard input is that file. */
    if (call->argument[2] == (uint64_t)stdin)
        state->has_stdin = 1;
}

void __beagle_recorder_getenv(const struct beagle_registers *call, int which) {
    const char *name = (const char *)call->argument[which];
    char key[256] = "getenv ";
    if (!state->dir[0] || !name || strnlen(name, 200) >= 200)
        return;
    int before = errno;
    if (is_first(strcat(key, name)))
        note('e', name, "", "");
    errno = before;
}
