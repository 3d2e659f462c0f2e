// The part of the runtime that becomes one with the program under test: linked in as bitcode and
// inlined by the optimiser. Each helper is a test for "nothing here depends on the input" and, out of
// line, a call of the Rust function of the same name with an r.
//
// Compile with `-O2 -Xclang -disable-llvm-passes`: whether an argument is a constant must be decided
// after inlining.

#include "beagle.h"

__attribute__((tls_model("local-exec"))) __thread struct bg_slots bg_tls;

// Rust cannot name a thread-local variable of C.
__attribute__((noinline, used)) struct bg_slots *bg_slots(void) { return &bg_tls; }

// Before any other code of the program, also before constructors: memory accesses look at shadows.
void bgr_start(int argc, char **argv, char **envp);
__attribute__((section(".preinit_array"), used)) static void (*const start)(int, char **, char **) = bgr_start;

// ---- values

u32 bgr_bin(u32 what, u32 sa, u32 sb, u64 x, u64 y, u64 r, u32 site);
SLOW static u32 slow_bin(u32 what, u32 sa, u32 sb, u64 x, u64 y, u64 r, u32 site) {
  sa = NUMBER(sa), sb = NUMBER(sb);
  return (sa | sb) == 0 ? 0 : bgr_bin(what, sa, sb, x, y, r, site);
}
INLINE u32 bg_bin(u32 what, u32 sa, u32 sb, u64 x, u64 y, u64 r, u32 site) {
  if (likely((sa | sb) == 0))
    return 0;
  return slow_bin(what, sa, sb, x, y, r, site) | SLOWLY;
}

u32 bgr_un(u32 what, u32 sa, u64 x, u64 r);
SLOW static u32 slow_un(u32 what, u32 sa, u64 x, u64 r) {
  sa = NUMBER(sa);
  return sa == 0 ? 0 : bgr_un(what, sa, x, r);
}
INLINE u32 bg_un(u32 what, u32 sa, u64 x, u64 r) {
  if (likely(sa == 0))
    return 0;
  return slow_un(what, sa, x, r) | SLOWLY;
}

u32 bgr_select(u32 what, u32 sc, u32 sa, u32 sb, u32 c, u64 x, u64 y);
SLOW static u32 slow_select(u32 what, u32 sc, u32 sa, u32 sb, u32 c, u64 x, u64 y) {
  sc = NUMBER(sc), sa = NUMBER(sa), sb = NUMBER(sb);
  if (sc == 0)
    return c ? sa : sb;
  return bgr_select(what, sc, sa, sb, c, x, y);
}
INLINE u32 bg_select(u32 what, u32 sc, u32 sa, u32 sb, u32 c, u64 x, u64 y) {
  if (likely(sc == 0))
    return c ? sa : sb;
  return slow_select(what, sc, sa, sb, c, x, y) | SLOWLY;
}

u32 bgr_wide(u32 what, u32 sa, u32 sb, u32 sc, const u64 *v, u32 site);
SLOW static u32 slow_wide(u32 what, u32 sa, u32 sb, u32 sc, const u64 *v, u32 site) {
  sa = NUMBER(sa), sb = NUMBER(sb), sc = NUMBER(sc);
  return (sa | sb | sc) == 0 ? 0 : bgr_wide(what, sa, sb, sc, v, site);
}
INLINE u32 bg_wide(u32 what, u32 sa, u32 sb, u32 sc, const u64 *v, u32 site) {
  if (likely((sa | sb | sc) == 0))
    return 0;
  return slow_wide(what, sa, sb, sc, v, site) | SLOWLY;
}

// ---- memory

typedef u32 v4u32 __attribute__((vector_size(16), aligned(4)));
typedef u64 v4u64 __attribute__((vector_size(32), aligned(4)));

// Whether any of the bytes at p has a shadow. The size is a constant wherever this is inlined.
INLINE static inline u32 shadowed(const u32 *s, u32 bytes) {
  u32 any = 0;
  if (bytes == 4) {
    v4u32 q = *(const v4u32 *)s;
    return q[0] | q[1] | q[2] | q[3];
  }
  if (bytes == 8) {
    v4u64 q = *(const v4u64 *)s;
    u64 w = q[0] | q[1] | q[2] | q[3];
    return (u32)w | (u32)(w >> 32);
  }
  for (u32 i = 0; i < bytes; i++)
    any |= s[i];
  return any;
}

u32 bgr_load(const void *p, u32 sp, u32 size, u64 v);
SLOW static u32 slow_load(const void *p, u32 sp, u32 size, u64 v) {
  sp = NUMBER(sp);
  return (shadowed(SHADOW(p), size & 255) | sp) == 0 ? 0 : bgr_load(p, sp, size, v);
}
INLINE u32 bg_load(const void *p, u32 sp, u32 size, u64 v) {
  if (likely((shadowed(SHADOW(p), size & 255) | sp) == 0))
    return 0;
  return slow_load(p, sp, size, v) | SLOWLY;
}

u32 bgr_load_wide(const void *p, u32 sp, u32 size, const u64 *v);
SLOW static u32 slow_load_wide(const void *p, u32 sp, u32 size, const u64 *v) {
  sp = NUMBER(sp);
  return (shadowed(SHADOW(p), size & 255) | sp) == 0 ? 0 : bgr_load_wide(p, sp, size, v);
}
INLINE u32 bg_load_wide(const void *p, u32 sp, u32 size, const u64 *v) {
  if (likely((shadowed(SHADOW(p), size & 255) | sp) == 0))
    return 0;
  return slow_load_wide(p, sp, size, v) | SLOWLY;
}

void bgr_store(void *p, u32 size, u32 sv);
SLOW static void slow_store(void *p, u32 size, u32 sv) { bgr_store(p, size, NUMBER(sv)); }
INLINE void bg_store(void *p, u32 size, u32 sv) {
  if (likely(sv == 0)) {
    // Reading first keeps untouched shadow pages on the kernel's page of zeros.
    u32 *s = SHADOW(p);
    if (unlikely(shadowed(s, size & 255) != 0))
      __builtin_memset(s, 0, (size & 255) * 4);
    return;
  }
  slow_store(p, size, sv);
}

INLINE void bg_clear(void *p, u64 bytes) { bgr_clear(p, bytes); }

void bgr_address(u32 sp, const void *p, u32 bytes, u32 site, u32 store);
SLOW static void slow_address(u32 sp, const void *p, u32 bytes, u32 site, u32 store) {
  if (NUMBER(sp) != 0)
    bgr_address(NUMBER(sp), p, bytes, site, store);
}
INLINE void bg_address(u32 sp, const void *p, u32 bytes, u32 site, u32 store) {
  if (unlikely(sp != 0))
    slow_address(sp, p, bytes, site, store);
}

void bgr_copy(void *dst, const void *src, u64 n, u32 sd, u32 ss, u32 sn, u32 site);
INLINE void bg_copy(void *dst, const void *src, u64 n, u32 sd, u32 ss, u32 sn, u32 site) {
  bgr_copy(dst, src, n, NUMBER(sd), NUMBER(ss), NUMBER(sn), site);
}

void bgr_fill(void *dst, u32 byte, u64 n, u32 sd, u32 sbyte, u32 sn, u32 site);
INLINE void bg_fill(void *dst, u32 byte, u64 n, u32 sd, u32 sbyte, u32 sn, u32 site) {
  bgr_fill(dst, byte, n, NUMBER(sd), NUMBER(sbyte), NUMBER(sn), site);
}

void bgr_divisor(u32 site, u32 sy);
SLOW static void slow_divisor(u32 site, u32 sy) {
  if (NUMBER(sy) != 0)
    bgr_divisor(site, NUMBER(sy));
}
INLINE void bg_divisor(u32 site, u32 sy) {
  if (unlikely(sy != 0))
    slow_divisor(site, sy);
}

// ---- events

// Gives memory to log to when there is no more: recording has ended, or this is another thread.
u32 *bgr_log_full(void);
SLOW static u32 *slow_log_full(void) { return bgr_log_full(); }

INLINE static inline void put(u32 word) {
  u32 *c = bg_tls.cursor;
  if (unlikely(c >= bg_tls.end))
    c = slow_log_full();
  *c = word;
  bg_tls.cursor = c + 1;
}

void bgr_branch(u32 site, u32 taken, u32 s);
SLOW static void slow_branch(u32 site, u32 taken, u32 s) {
  if (NUMBER(s) != 0)
    bgr_branch(site, taken, NUMBER(s));
  else
    put(site << 3 | taken);
}
INLINE void bg_branch(u32 site, u32 taken, u32 s) {
  if (unlikely(s != 0)) {
    slow_branch(site, taken, s);
    return;
  }
  put(site << 3 | taken);
}

INLINE static inline void put_switch(u32 site, u32 chosen) {
  // The end lies before the end of the memory by more than one event, and may be passed by one.
  put(site << 3 | 4);
  *bg_tls.cursor++ = chosen << 1;
}

void bgr_switch(u32 site, u32 chosen, u32 s);
SLOW static void slow_switch(u32 site, u32 chosen, u32 s) {
  if (NUMBER(s) != 0)
    bgr_switch(site, chosen, NUMBER(s));
  else
    put_switch(site, chosen);
}
INLINE void bg_switch(u32 site, u32 chosen, u32 s) {
  if (unlikely(s != 0))
    slow_switch(site, chosen, s);
  else
    put_switch(site, chosen);
}

INLINE void bg_enter(u32 function) { put((function << 1) << 3 | 5); }
INLINE void bg_leave(u32 function) { put((function << 1 | 1) << 3 | 5); }
INLINE void bg_statement(u32 site) { put(site << 3 | 6); }

void bgr_watch(u32 site, u32 place, u64 value, u32 s);
INLINE void bg_watch(u32 site, u32 place, u64 value, u32 s) { bgr_watch(site, place, value, NUMBER(s)); }

void bgr_unwound(u32 function);
INLINE void bg_unwound(u32 function) { bgr_unwound(function); }
INLINE void bg_setjmp_returned(u32 result, u32 function) {
  if (unlikely(result != 0))
    bgr_unwound(function);
}

void bgr_exchange(u32 site, u32 s);
INLINE void bg_exchange(u32 site, u32 s) {
  if (unlikely(NUMBER(s) != 0))
    bgr_exchange(site, NUMBER(s));
}

// ---- calls

INLINE u32 bg_take(void *self) {
  u32 valid = bg_tls.callee == self;
  bg_tls.callee = 0;
  return valid;
}

__attribute__((noinline)) void bg_va_save(void *buffer, u32 valid) {
  struct saved *to = buffer;
  u32 n = valid ? bg_tls.va_count : 0;
  if (n > 64)
    n = 64;
  to->count = n;
  for (u32 i = 0; i < n; i++) {
    to->va[i] = bg_tls.va[i];
    to->va_class[i] = bg_tls.va_class[i];
  }
}

INLINE void bg_va_start(void *ap, void *buffer) { bgr_va_start(ap, buffer); }

void bgr_copy_shadow(void *dst, const void *src, u64 n);
INLINE void bg_byval(void *p, u32 k, u64 size, u32 valid) {
  if (valid && k < 16)
    bgr_copy_shadow(p, (const void *)bg_tls.byval[k], size);
  else
    bgr_clear(p, size);
}

INLINE void bg_object(void *p, u64 size) {
  u32 *o = OBJECT(p);
  *o = size < 0xfffffffeUL ? (u32)size + 1 : 0xffffffffU;
  if (__builtin_constant_p(size) && size <= 32) {
    u32 *s = SHADOW(p);
    if (unlikely(shadowed(s, (u32)size) != 0))
      __builtin_memset(s, 0, size * 4);
    return;
  }
  bgr_clear(p, size);
}
INLINE void bg_object_gone(void *p) { *OBJECT(p) = 0; }

// ---- losses

void bgr_unknown(const char *name);
SLOW static void slow_unknown(const char *name, u32 s) {
  if (NUMBER(s) != 0)
    bgr_unknown(name);
}
INLINE void bg_unknown(const char *name, u32 s) {
  if (unlikely(s != 0))
    slow_unknown(name, s);
}

void bgr_unknown_memory(const char *name, const void *p);
INLINE void bg_unknown_memory(const char *name, const void *p) { bgr_unknown_memory(name, p); }

void bgr_lost(u32 cause, const char *name);
SLOW static void slow_lost(u32 cause, const char *name, u32 s) {
  if (NUMBER(s) != 0)
    bgr_lost(cause, name);
}
INLINE void bg_lost(u32 cause, const char *name, u32 s) {
  if (unlikely(s != 0))
    slow_lost(cause, name, s);
}

// ---- the program's own main, by its new name

int bg_user_main(int argc, char **argv, char **envp);
int bgr_main(int argc, char **argv, char **envp);
int main(int argc, char **argv, char **envp) { return bgr_main(argc, argv, envp); }
