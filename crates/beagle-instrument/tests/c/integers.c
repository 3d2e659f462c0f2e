// All integer operators, widths and signs, odd shifts, bit-fields, 128 bits, overflow builtins.
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
struct bits { unsigned a : 3; int b : 7; unsigned long c : 33; signed char d : 1; };
volatile int zero = 0;
static unsigned rotl(unsigned x, unsigned n) { return x << (n & 31) | x >> (-n & 31); }
static void print128(unsigned __int128 x) { printf("%016lx%016lx\n", (unsigned long)(x >> 64), (unsigned long)x); }
static int undefined_shift(int x, int n) { return x << n; }
int main(int argc, char **argv) {
  int a = atoi(argc > 1 ? argv[1] : "-37"), b = argc + 6;
  unsigned ua = a;
  long l = (long)a * 123456789L;
  printf("%d %d %d %d %d\n", a + b, a - b, a * b, a / b, a % b);
  printf("%u %u %u\n", ua / b, ua % b, ua >> 3);
  printf("%ld %ld %lx\n", l / b, l % b, l << 5);
  printf("%d %d %d %d\n", a & b, a | b, a ^ b, ~a);
  printf("%d %d\n", (signed char)a, (unsigned char)a);
  printf("%d %d %d\n", a < b, ua < (unsigned)b, l >= 0);
  printf("%d\n", undefined_shift(1, b + 30));
  printf("%x %x\n", rotl(0x12345678, b), rotl(0x12345678, 0));
  struct bits s = {a, b, l, a};
  s.a += 3; s.b -= 2; s.c ^= 0x55;
  printf("%u %d %lu %d\n", s.a, s.b, (unsigned long)s.c, s.d);
  __int128 w = (__int128)l * l * a;
  print128(w); print128(w / b); print128(w % b); print128(w << b); print128(w >> 3); print128(-w);
  printf("%d %d\n", w < 0, (unsigned __int128)w > 5);
  int r; long rl; unsigned ur;
  printf("%d %d\n", __builtin_add_overflow(a, INT_MAX, &r), r);
  printf("%d %d\n", __builtin_add_overflow(b, INT_MAX, &r), r);
  printf("%d %d\n", __builtin_sub_overflow(a, INT_MAX, &r), r);
  printf("%d %d\n", __builtin_mul_overflow(a, 100000000, &r), r);
  printf("%d %ld\n", __builtin_mul_overflow(l, l * 99999, &rl), rl);
  printf("%d %u\n", __builtin_sub_overflow(3u, (unsigned)b, &ur), ur);
  printf("%d %d %d %d\n", __builtin_popcount(ua), __builtin_clz(ua | 1), __builtin_ctz(ua), __builtin_ffs(a));
  printf("%x %lx %x\n", __builtin_bswap32(ua), __builtin_bswap64(l), __builtin_bswap16(ua));
  printf("%x\n", __builtin_bitreverse32(ua));
  printf("%d %ld\n", abs(a), labs(l));
  printf("%x\n", __builtin_rotateleft32(ua, b));
  unsigned _BitInt(24) odd = ua * 77u;
  _BitInt(65) odder = l; odder = odder * odder;
  printf("%u %ld\n", (unsigned)odd, (long)(odder >> 3));
  printf("%d %d\n", a > 0 && b > 0, a > 0 || b > 0);
  printf("%d\n", a ? b ? 1 : 2 : 3);
  _Bool t = a, f = !a;
  printf("%d %d %d\n", t, f, t + f);
  char c = 'a'; c += b; c++; printf("%c %d\n", c, c--);
  unsigned short h = 65535; h++; printf("%d\n", h);
  long long q = LLONG_MIN; printf("%lld %llu\n", q, (unsigned long long)q);
  for (unsigned char i = 250; i; i++) printf("%d ", i);
  printf("\n");
  return a & 0x7f;
}
