// Helpers of the instrumentation that are made of those in the runtime's inline.c, and are compiled
// and inlined like them.

typedef unsigned int u32;
typedef unsigned long u64;

u32 bg_bin(u32 what, u32 sa, u32 sb, u64 x, u64 y, u64 r, u32 site);
u32 bg_un(u32 what, u32 sa, u64 x, u64 r);
void bg_exchange(u32 site, u32 s);
void bg_branch(u32 site, u32 taken, u32 s);
void bg_address(u32 sp, const void *p, u32 bytes, u32 site, u32 store);

#define INLINE __attribute__((always_inline))
#define SLOW __attribute__((preserve_most, cold, noinline))
// As in beagle.h.
#define SLOWLY 0x80000000U
#define unlikely(c) __builtin_expect(!!(c), 0)

// Numbers of beagle_trace::op::Op; a test compares them.
enum { ADD = 10, MUL = 12, EQ = 30, SEXT = 41, WIDTH_64 = 64 << 8 };

// The address base + sign-extended index * scale. Both values of the index are given, so that the
// extension is not computed where nothing depends on the input.
SLOW static u32 slow_step(u32 sb, u32 si, u64 base, u64 index, u64 extended, u32 width, u64 scale, u32 site) {
  u32 s = si;
  if (width < 64)
    s = bg_un(SEXT | WIDTH_64, s, index, extended);
  if (scale != 1)
    s = bg_bin(MUL | WIDTH_64, s, 0, extended, scale, extended * scale, site);
  return bg_bin(ADD | WIDTH_64, sb, s, base, extended * scale, base + extended * scale, site);
}
INLINE u32 bgi_step(u32 sb, u32 si, u64 base, u64 index, u64 extended, u32 width, u64 scale, u32 site) {
  if (unlikely(si != 0))
    return slow_step(sb, si, base, index, extended, width, scale, site) | SLOWLY;
  return bg_bin(ADD | WIDTH_64, sb, 0, base, extended * scale, base + extended * scale, site);
}

// A comparison that only decides a branch: one test for both. Site and operator come as one number,
// so that all arguments fit into registers.
SLOW static void slow_decide(u64 site_what, u32 taken, u32 sa, u32 sb, u64 x, u64 y) {
  u32 site = site_what >> 32;
  bg_branch(site, taken, bg_bin((u32)site_what, sa, sb, x, y, taken, site));
}
INLINE void bgi_decide(u32 site, u32 taken, u32 what, u32 sa, u32 sb, u64 x, u64 y) {
  if (unlikely((sa | sb) != 0))
    slow_decide((u64)site << 32 | what, taken, sa, sb, x, y);
  else
    bg_branch(site, taken, 0);
}

// An access at base plus something that does not depend on the input; gives the address's expression.
SLOW static u32 slow_access(u32 sb, u64 base, const void *p, u32 bytes, u32 site, u32 store) {
  u32 s = bg_bin(ADD | WIDTH_64, sb, 0, base, (u64)p - base, (u64)p, site);
  bg_address(s, p, bytes, site, store);
  return s;
}
INLINE u32 bgi_access(u32 sb, u64 base, const void *p, u32 bytes, u32 site, u32 store) {
  if (unlikely(sb != 0))
    return slow_access(sb, base, p, bytes, site, store) | SLOWLY;
  return 0;
}

// What follows is true only while the pointer is what it is.
SLOW static void slow_pin(u32 site, u32 s, u64 value) {
  bg_exchange(site, bg_bin(EQ | WIDTH_64, s, 0, value, value, 1, site));
}
INLINE void bgi_pin(u32 site, u32 s, u64 value) {
  if (unlikely(s != 0))
    slow_pin(site, s, value);
}
