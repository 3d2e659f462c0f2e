/* The fast lane: a program that is started again and again inside one process.

   The program is linked statically, so that all state of libc lies in the memory of the executable. Before
   `main` all writable memory is saved; after each run it is put back. Every system call of the program ends
   in `lane_call`, which answers from memory, so there is nothing in the kernel that has to be put back.

   | file | knows |
   | --- | --- |
   | start.c | setting up, and the loop over the runs of a batch |
   | memory.c | what is saved and put back |
   | calls.c | system calls, answered from memory |
   | files.c | files, descriptors and streams |
   | signals.c | how runs end that do not end by themselves |
   | feedback.c | what the program executed and compared |
   | libc.c | libc functions that need no system call this way |

   What follows a run lies at fixed addresses outside of what is put back. Nothing here uses libc's state. */
#ifndef LANE_H
#define LANE_H
#define _GNU_SOURCE

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef long i64;

/* Where things lie. The system puts nothing there by itself. */
#define AT_STATE 0x100000000000ul
#define AT_SHARED 0x110000000000ul
#define AT_SAVED 0x120000000000ul
#define AT_HEAP 0x130000000000ul
#define AT_MAPS 0x140000000000ul
#define AT_STACK 0x150000000000ul
#define AT_FILES 0x160000000000ul
#define AT_CACHE 0x170000000000ul
#define AT_OWN 0x180000000000ul
#define AT_END 0x190000000000ul

#define PAGE 4096ul
#define HEAP_SIZE (1ul << 30)
#define MAPS_SIZE (1ul << 30)
#define STACK_SIZE (8ul << 20)
#define FILES_SIZE (1ul << 30)
#define CACHE_SIZE (64ul << 20)

/* --- What is shared with Beagle; beagle-trace/src/lane.rs has the same --- */

#define LANE_MAGIC 0x656e616c67616562ul
#define CONTROL_FD 198
#define MEMORY_FD 199

/* A part of an input, as beagle-trace/src/wire.rs has it: their number as a word, a word of 0, these, then names and bytes. */
struct source {
  u32 kind, flags, name, name_len, bytes, len, pad, reserved;
};
enum { SOURCE_ARGUMENT, SOURCE_ENVIRONMENT, SOURCE_STDIN, SOURCE_FILE };

/* Orders in `mode`. */
#define MODE_FORK 1u     /* each run in a process of its own, forked from what was saved */
#define MODE_KEEP 2u     /* keep what the run writes */
#define MODE_COMPARES 4u /* note what the run compares */
#define MODE_OTHER 8u    /* what was seen in runs without this does not count as seen, nor the other way round */
#define MODE_FORGET 16u  /* before the first run: what was seen is new again */

struct header {
  u64 magic;
  u32 counters; /* how many there are; the program says so */
  u32 ready;
  u32 count; /* runs in the batch */
  u32 mode;
  u32 ticks; /* how long a run may take, in ticks of the timer */
  u32 tick_us;
  u32 most_output; /* bytes of each stream and file that are kept or hashed */
  u32 reserved;
  u64 base;    /* an input: files and variables of every run; 0 for none */
  u64 inputs;  /* offsets of the inputs, one u64 for each run */
  u64 results; /* one for each run */
  u64 marks;   /* one for each counter */
  u64 outputs, outputs_size;
  u64 compares, compares_size;
};

/* What Beagle knows of a counter. */
struct mark {
  u32 key;   /* the same for what corresponds in both versions */
  u16 near;  /* how many branches lie between it and a change */
  u16 flags; /* MARK_ */
};
#define MARK_CHANGED 1u /* part of a change */
#define MARK_CLOSE 2u   /* in a function with a change */

#define RESULT_TIME 1u    /* stopped after its time was up */
#define RESULT_REFUSED 2u /* did something that cannot be done here; `reason` has the system call */
#define RESULT_FRESH 4u   /* executed something as often as no run before */
#define RESULT_CHANGED 8u /* executed a change */
#define RESULT_CUT 16u    /* wrote more than is looked at */

struct result {
  u32 end; /* as wait(2) has it */
  u32 flags;
  u32 reason;
  u32 near; /* the smallest of all that was executed */
  u64 out, err, files;
  u64 path;  /* which blocks close to a change were executed */
  u64 whole; /* which blocks were executed, and about how often */
  u64 outputs; /* MODE_KEEP: where they start, else 0 */
  u32 compares; /* MODE_COMPARES: bytes of records */
  u32 kept;     /* MODE_KEEP: bytes of records */
  u64 work;     /* how long it took, in no particular unit */
};

/* --- What only this process knows --- */

struct context {
  u64 rsp, rbx, rbp, r12, r13, r14, r15, rip;
};

struct region {
  u64 start, size;
  u64 saved;   /* the copy; 0 if the region was all zero and never touched */
  u8 *touched; /* for those: which pages have been touched */
  u64 pages;   /* how many of them */
};

struct map {
  u64 start, size;
};

struct file {
  const u8 *name; /* normal form */
  u32 name_len;
  u8 given, gone, dirty, own; /* given: part of the input; own: the content is ours to write to */
  u32 kind;                  /* S_IFREG, S_IFIFO, S_IFCHR */
  u32 mode;
  u8 *bytes;
  u64 size, room;
  const u8 *first; /* what was given */
  u64 first_size;
};

struct descriptor {
  u32 open; /* index into `opens` plus 1; 0 if closed */
  u32 cloexec;
};

/* An open file, which several descriptors can share. */
struct open {
  u32 users, file, flags;
  u64 offset;
};

#define MOST_REGIONS 64
#define MOST_MAPS 256
#define MOST_FILES 256
#define MOST_DESCRIPTORS 128
#define FIRST_FREE 3

struct lane {
  struct context loop;
  volatile u32 running;
  volatile u32 in_call;
  volatile u64 runs; /* how many there were */
  volatile u64 seen; /* which of them the timer saw last */
  volatile u32 seen_ticks;
  struct header *header;
  struct result *result;
  i64 faults; /* page faults when touched pages were looked for */

  struct region regions[MOST_REGIONS];
  u32 region_count;
  u8 *scratch; /* for mincore */
  u64 saved_end;
  u64 own_size;

  u64 break_now, break_high;
  struct map maps[MOST_MAPS];
  u32 map_count;
  u64 maps_high;

  struct file files[MOST_FILES];
  u32 file_count;
  struct descriptor descriptors[MOST_DESCRIPTORS];
  struct open opens[MOST_DESCRIPTORS];
  u64 pool_used, pool_high;
  u64 cache_used;
  u32 mask;
  u64 clock; /* microseconds */
  u64 random;

  struct {
    u64 handler, flags, restorer, mask;
  } actions[65];
  u64 blocked;

  u8 *seen_counters; /* shared with forked runs: the buckets that were seen, for each counter; then with MODE_OTHER */
  u32 comparing;
  u8 *compare_next, *compare_end;
  u64 compare_sites[64]; /* which of them are noted, as a set of bits by hash */
  u8 *output_next, *output_end;
  u8 altstack[64 << 10] __attribute__((aligned(64)));
};

#define L ((struct lane *)AT_STATE)
/* Part of what is put back; it is 1 from the moment that memory is saved. */
extern int lane_active;

/* start.c */
i64 lane_system(i64 number, i64 a, i64 b, i64 c, i64 d, i64 e, i64 f);
void lane_restorer(void);
_Noreturn void lane_leave(void);
_Noreturn void lane_end(u32 end, u32 flags, u32 reason);
_Noreturn void lane_fail(const char *text);
_Noreturn void lane_refuse(u32 number);
void *lane_map(u64 at, u64 size, int flags, int fd);

/* memory.c */
void memory_save(void);
void memory_restore(void);
i64 memory_break(u64 to);
i64 memory_map(u64 at, u64 size, int prot, int flags, int fd, u64 offset);
i64 memory_unmap(u64 start, u64 size);
i64 memory_remap(u64 start, u64 size, u64 to, int flags);

/* files.c */
void files_start(const u8 *base, const u8 *input);
void files_end(struct result *result, u64 most, int keep);
i64 file_read(int fd, void *to, u64 count);
i64 file_write(int fd, const void *from, u64 count);
i64 file_seek(int fd, i64 offset, int whence);
i64 file_close(int fd);
i64 file_open(int at, const char *path, int flags, int mode);
i64 file_status(int fd, void *to);
i64 path_status(int at, const char *path, void *to, int flags);
i64 path_access(int at, const char *path, int mode);
i64 path_remove(int at, const char *path, int flags);
i64 path_rename(int at, const char *path, int to_at, const char *to);
i64 file_cut(int fd, u64 size);
i64 file_copy(int fd, int least, int exact, int cloexec);
i64 file_control(int fd, int command, u64 argument);
struct file *file_of(int fd);

/* calls.c */
i64 lane_call(i64 number, i64 a, i64 b, i64 c, i64 d, i64 e, i64 f);

/* signals.c */
void signals_start(void);
i64 signal_raise(int number);

/* feedback.c */
u32 feedback_counters(void);
void feedback_forget(void);
void feedback_start(void);
void feedback_end(struct result *result);

/* Small loops of ours, so that a program's own memcpy does not matter. */
static inline void copy(void *to, const void *from, u64 size) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}
static inline void fill(void *to, u8 value, u64 size) {
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(value) : "memory");
}
static inline u64 length(const char *text) {
  u64 n = 0;
  while (text[n])
    n++;
  return n;
}
static inline int same(const void *a, const void *b, u64 size) {
  const u8 *x = a, *y = b;
  for (u64 i = 0; i < size; i++)
    if (x[i] != y[i])
      return 0;
  return 1;
}
static inline u64 mix(u64 a, u64 b) {
  unsigned __int128 product = (unsigned __int128)(a ^ 0x9e3779b97f4a7c15ul) * (b ^ 0xd6e8feb86659fd93ul);
  return (u64)product ^ (u64)(product >> 64);
}
static inline u64 hash(const u8 *bytes, u64 size) {
  u64 h = mix(size, 0x2545f4914f6cdd1dul);
  for (; size >= 8; size -= 8, bytes += 8) {
    u64 word;
    __builtin_memcpy(&word, bytes, 8);
    h = mix(h ^ word, 0xa0761d6478bd642ful);
  }
  u64 last = 0;
  for (u64 i = 0; i < size; i++)
    last |= (u64)bytes[i] << (8 * i);
  return mix(h ^ last, 0xe7037ed1a0b428dbul);
}

#endif
