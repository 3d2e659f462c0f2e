/* libc functions that go to `lane_call` directly: a call that the system hands back takes a microsecond. Each replaces
   the whole part of libc that defines it; libc's own callers use these, too. */
#include "lane.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

extern int *__errno_location(void);

static i64 call(i64 number, i64 a, i64 b, i64 c, i64 d) {
  i64 result = lane_active ? lane_call(number, a, b, c, d, 0, 0) : lane_system(number, a, b, c, d, 0, 0);
  if (result < 0 && result > -4096) {
    *__errno_location() = (int)-result;
    return -1;
  }
  return result;
}

#define ALIAS(name) __attribute__((alias(#name)))

i64 __libc_read(int fd, void *to, u64 count) { return call(__NR_read, fd, (i64)to, (i64)count, 0); }
i64 __read(int fd, void *to, u64 count) ALIAS(__libc_read);
i64 read(int fd, void *to, u64 count) ALIAS(__libc_read);

i64 __libc_write(int fd, const void *from, u64 count) { return call(__NR_write, fd, (i64)from, (i64)count, 0); }
i64 __write(int fd, const void *from, u64 count) ALIAS(__libc_write);
i64 write(int fd, const void *from, u64 count) ALIAS(__libc_write);

int __fstat64(int fd, struct stat *to) { return (int)call(__NR_fstat, fd, (i64)to, 0, 0); }
int __fstat(int fd, struct stat *to) ALIAS(__fstat64);
int fstat64(int fd, struct stat64 *to) __attribute__((alias("__fstat64")));
int fstat(int fd, struct stat *to) ALIAS(__fstat64);

i64 __lseek64(int fd, i64 offset, int whence) { return call(__NR_lseek, fd, offset, whence, 0); }
i64 __libc_lseek64(int fd, i64 offset, int whence) ALIAS(__lseek64);
i64 __libc_lseek(int fd, i64 offset, int whence) ALIAS(__lseek64);
i64 __lseek(int fd, i64 offset, int whence) ALIAS(__lseek64);
i64 lseek64(int fd, i64 offset, int whence) ALIAS(__lseek64);
i64 lseek(int fd, i64 offset, int whence) ALIAS(__lseek64);

int __close(int fd) { return (int)call(__NR_close, fd, 0, 0, 0); }
int __libc_close(int fd) ALIAS(__close);
int close(int fd) ALIAS(__close);

static int mode_of(int flags, va_list list) {
  return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, int) : 0;
}
int __libc_open64(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int mode = mode_of(flags, list);
  va_end(list);
  return (int)call(__NR_openat, AT_FDCWD, (i64)path, flags, mode);
}
int __libc_open(const char *path, int flags, ...) ALIAS(__libc_open64);
int __open64(const char *path, int flags, ...) ALIAS(__libc_open64);
int __open(const char *path, int flags, ...) ALIAS(__libc_open64);
int open64(const char *path, int flags, ...) ALIAS(__libc_open64);
int open(const char *path, int flags, ...) ALIAS(__libc_open64);

_Noreturn void _exit(int status) {
  call(__NR_exit_group, status, 0, 0, 0);
  __builtin_unreachable();
}
_Noreturn void _Exit(int status) ALIAS(_exit);

void *__curbrk;
int __brk(void *to) {
  i64 now = lane_active ? lane_call(__NR_brk, (i64)to, 0, 0, 0, 0, 0) : lane_system(__NR_brk, (i64)to, 0, 0, 0, 0, 0);
  __curbrk = (void *)now;
  if ((u64)now < (u64)to) {
    *__errno_location() = 12;
    return -1;
  }
  return 0;
}
int brk(void *to) ALIAS(__brk);

/* These ask the kernel's page of the time, not the kernel. */
int __clock_gettime(clockid_t clock, struct timespec *to) { return (int)call(__NR_clock_gettime, clock, (i64)to, 0, 0); }
int clock_gettime(clockid_t clock, struct timespec *to) ALIAS(__clock_gettime);
int __gettimeofday(struct timeval *to, void *zone) { return (int)call(__NR_gettimeofday, (i64)to, (i64)zone, 0, 0); }
int gettimeofday(struct timeval *to, void *zone) ALIAS(__gettimeofday);
i64 time(i64 *to) { return call(__NR_time, (i64)to, 0, 0, 0); }
