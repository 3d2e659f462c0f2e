/* System calls, answered from memory. What is not listed makes the run one that is not for the lane. */
#include "lane.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>

/* The same as in traced runs: a clock that moves a microsecond with each look. */
static u64 look_at_clock(void) { return L->clock++; }

/* What processes are told they are. */
#define PROCESS 4242

static i64 each(i64 (*what)(int, void *, u64), int fd, const struct iovec *parts, i64 count) {
  i64 all = 0;
  for (i64 i = 0; i < count; i++) {
    i64 got = what(fd, parts[i].iov_base, parts[i].iov_len);
    if (got < 0)
      return all ? all : got;
    all += got;
    if ((u64)got < parts[i].iov_len)
      break;
  }
  return all;
}

static i64 write_part(int fd, void *from, u64 count) { return file_write(fd, from, count); }

static i64 at_offset(i64 (*what)(int, void *, u64), int fd, void *bytes, u64 count, i64 offset) {
  i64 now = file_seek(fd, 0, 1);
  if (now < 0)
    return now;
  i64 moved = file_seek(fd, offset, 0);
  if (moved < 0)
    return moved;
  i64 got = what(fd, bytes, count);
  file_seek(fd, now, 0);
  return got;
}

static i64 get_random(u8 *to, u64 count) {
  for (u64 i = 0; i < count; i++) {
    L->random = L->random * 6364136223846793005ul + 1442695040888963407ul;
    to[i] = (u8)(L->random >> 56);
  }
  return (i64)count;
}

static i64 set_action(int number, const u64 *action, u64 *before) {
  if (number < 1 || number > 64)
    return -EINVAL;
  if (before)
    copy(before, &L->actions[number], sizeof L->actions[number]);
  if (action) {
    if (number == 9 || number == 19)
      return -EINVAL;
    copy(&L->actions[number], action, sizeof L->actions[number]);
  }
  return 0;
}

static i64 set_blocked(int how, const u64 *set, u64 *before) {
  u64 now = L->blocked;
  if (set)
    switch (how) {
    case 0: L->blocked |= *set; break;
    case 1: L->blocked &= ~*set; break;
    case 2: L->blocked = *set; break;
    default: return -EINVAL;
    }
  if (before)
    *before = now;
  return 0;
}

static i64 memory_advice(u64 start, u64 size, int advice) {
  if (advice != MADV_DONTNEED)
    return 0;
  if (start < AT_HEAP || start + size > AT_MAPS + MAPS_SIZE)
    lane_refuse(__NR_madvise);
  return lane_system(__NR_madvise, (i64)start, (i64)size, MADV_DONTNEED, 0, 0, 0);
}

/* Calls that look at the system and leave nothing behind. */
static int is_harmless(i64 number) {
  switch (number) {
  case __NR_getuid:
  case __NR_geteuid:
  case __NR_getgid:
  case __NR_getegid:
  case __NR_uname:
  case __NR_getrlimit:
  case __NR_sched_yield:
  case __NR_sched_getaffinity: return 1;
  default: return 0;
  }
}

static i64 answer(i64 number, i64 a, i64 b, i64 c, i64 d, i64 e, i64 f) {
  switch (number) {
  case __NR_read: return file_read((int)a, (void *)b, (u64)c);
  case __NR_write: return file_write((int)a, (const void *)b, (u64)c);
  case __NR_readv: return each(file_read, (int)a, (const struct iovec *)b, c);
  case __NR_writev: return each(write_part, (int)a, (const struct iovec *)b, c);
  case __NR_pread64: return at_offset(file_read, (int)a, (void *)b, (u64)c, d);
  case __NR_pwrite64: return at_offset(write_part, (int)a, (void *)b, (u64)c, d);
  case __NR_open: return file_open(AT_FDCWD, (const char *)a, (int)b, (int)c);
  case __NR_creat: return file_open(AT_FDCWD, (const char *)a, O_CREAT | O_WRONLY | O_TRUNC, (int)b);
  case __NR_openat: return file_open((int)a, (const char *)b, (int)c, (int)d);
  case __NR_close: return file_close((int)a);
  case __NR_lseek: return file_seek((int)a, b, (int)c);
  case __NR_fstat: return file_status((int)a, (void *)b);
  case __NR_stat:
  case __NR_lstat: return path_status(AT_FDCWD, (const char *)a, (void *)b, 0);
  case __NR_newfstatat: return path_status((int)a, (const char *)b, (void *)c, (int)d);
  case __NR_access: return path_access(AT_FDCWD, (const char *)a, (int)b);
  case __NR_faccessat:
  case __NR_faccessat2: return path_access((int)a, (const char *)b, (int)c);
  case __NR_unlink: return path_remove(AT_FDCWD, (const char *)a, 0);
  case __NR_unlinkat: return path_remove((int)a, (const char *)b, (int)c);
  case __NR_rename: return path_rename(AT_FDCWD, (const char *)a, AT_FDCWD, (const char *)b);
  case __NR_renameat: return path_rename((int)a, (const char *)b, (int)c, (const char *)d);
  case __NR_ftruncate: return file_cut((int)a, (u64)b);
  case __NR_dup: return file_copy((int)a, 0, -1, 0);
  case __NR_dup2: return file_copy((int)a, 0, (int)b, 0);
  case __NR_dup3: return file_copy((int)a, 0, (int)b, (c & O_CLOEXEC) != 0);
  case __NR_fcntl: return file_control((int)a, (int)b, (u64)c);
  case __NR_ioctl: return file_of((int)a) ? -ENOTTY : -EBADF;
  case __NR_fsync:
  case __NR_fdatasync:
  case __NR_fadvise64: return file_of((int)a) ? 0 : -EBADF;
  case __NR_umask: {
    u32 before = L->mask;
    L->mask = (u32)a & 0777;
    return before;
  }
  case __NR_brk: return memory_break((u64)a);
  case __NR_mmap: return memory_map((u64)a, (u64)b, (int)c, (int)d, (int)e, (u64)f);
  case __NR_munmap: return memory_unmap((u64)a, (u64)b);
  case __NR_mremap: return memory_remap((u64)a, (u64)b, (u64)c, (int)d);
  case __NR_madvise: return memory_advice((u64)a, (u64)b, (int)c);
  case __NR_exit:
  case __NR_exit_group: lane_end(((u32)a & 0xff) << 8, 0, 0);
  case __NR_rt_sigaction: return set_action((int)a, (const u64 *)b, (u64 *)c);
  case __NR_rt_sigprocmask: return set_blocked((int)a, (const u64 *)b, (u64 *)c);
  case __NR_getpid:
  case __NR_gettid: return PROCESS;
  case __NR_getppid: return PROCESS - 1;
  case __NR_tgkill: return a == PROCESS ? signal_raise((int)c) : -ESRCH;
  case __NR_kill:
  case __NR_tkill:
    if (a != PROCESS)
      break;
    return signal_raise((int)b);
  case __NR_clock_gettime: {
    u64 now = look_at_clock();
    *(struct timespec *)b = (struct timespec){(i64)(now / 1000000), (i64)(now % 1000000) * 1000};
    return 0;
  }
  case __NR_gettimeofday: {
    u64 now = look_at_clock();
    if (a)
      *(struct timeval *)a = (struct timeval){(i64)(now / 1000000), (i64)(now % 1000000)};
    return 0;
  }
  case __NR_time: {
    i64 now = (i64)(look_at_clock() / 1000000);
    if (a)
      *(i64 *)a = now;
    return now;
  }
  case __NR_nanosleep: {
    const struct timespec *time = (const struct timespec *)a;
    L->clock += (u64)time->tv_sec * 1000000 + (u64)time->tv_nsec / 1000;
    return 0;
  }
  case __NR_getrusage:
    fill((void *)b, 0, sizeof(struct rusage));
    return 0;
  case __NR_getrandom: return get_random((u8 *)a, (u64)b);
  case __NR_futex:
    /* There is nobody to wake up. */
    if ((b & 0x7f) == 1)
      return 0;
    break;
  case __NR_prlimit64:
    if (a == 0 && c == 0)
      return lane_system(number, a, b, c, d, e, f);
    break;
  default:
    if (is_harmless(number))
      return lane_system(number, a, b, c, d, e, f);
  }
  lane_refuse((u32)number);
}

i64 lane_call(i64 number, i64 a, i64 b, i64 c, i64 d, i64 e, i64 f) {
  L->in_call = 1;
  i64 result = answer(number, a, b, c, d, e, f);
  L->in_call = 0;
  return result;
}
