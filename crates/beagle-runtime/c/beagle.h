// What the C parts of the runtime share. The numbers here are those of beagle-trace (op, event,
// layout); tests compare them.
#ifndef BEAGLE_H
#define BEAGLE_H

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;

#define SHADOW(p) ((u32 *)(0x100000000000UL + (((u64)(p) & 0xffffffffffUL) << 2)))
#define OBJECT(p) ((u32 *)(0x200000000000UL + (((u64)(p) & 0xffffffffffUL) >> 4 << 2)))

#define INLINE __attribute__((always_inline))
// Called rarely: the caller keeps its registers, so that the common way stays short.
#define SLOW __attribute__((preserve_most, cold, noinline))
// Set in the shadows that slow functions give, so that the optimiser knows them not to be 0: the way from
// one slow function to the next then never leads back to the common way, which needs no second test of
// what it tested before, and no branch where there is nothing left to do. The number below it may be 0.
#define SLOWLY 0x80000000U
#define NUMBER(s) ((s) & ~SLOWLY)
#define likely(c) __builtin_expect(!!(c), 1)
#define unlikely(c) __builtin_expect(!!(c), 0)

// What passes from callers to functions and back beside the values. The runtime has the same
// structure in slots.rs, the instrumentation uses the offsets.
struct bg_slots {
  void *callee;
  void *returner;
  u32 va_count;
  u32 site;
  u32 args[128];
  u32 rets[32];
  u32 va[64];
  u8 va_class[64];
  u64 byval[16];
  u32 *cursor;
  u32 *end;
  u32 recording;
  u32 busy;
};
_Static_assert(__builtin_offsetof(struct bg_slots, args) == 24, "offset");
_Static_assert(__builtin_offsetof(struct bg_slots, rets) == 536, "offset");
_Static_assert(__builtin_offsetof(struct bg_slots, va) == 664, "offset");
_Static_assert(__builtin_offsetof(struct bg_slots, va_class) == 920, "offset");
_Static_assert(__builtin_offsetof(struct bg_slots, byval) == 984, "offset");
_Static_assert(__builtin_offsetof(struct bg_slots, cursor) == 1112, "offset");

extern __attribute__((tls_model("local-exec"))) __thread struct bg_slots bg_tls;

// The saved variadic slots: count, shadows, classes.
struct saved {
  u32 count;
  u32 va[64];
  u8 va_class[64];
};
_Static_assert(sizeof(struct saved) <= 336, "size of the buffer");

void bg_va_save(void *buffer, u32 valid);
void bgr_va_start(void *ap, const void *buffer);
void bgr_clear(void *p, u64 bytes);

#endif
