// Control flow: every kind of jump, switches dense, sparse and on long and char, computed goto, setjmp.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int dense(int x) { switch (x) { case -2: return 1; case -1: return 2; case 0: case 1: return 3; case 3: return 4; case 4: return 5; default: return 0; } }
static int sparse(long x) { switch (x) { case 1: return 1; case 1000: return 2; case 1000000: return 3; case -5000000000: return 4; case 1L << 40: return 5; case 77: return 6; } return 0; }
static int letters(char c) { switch (c) { case 'a' ... 'f': return 1; case 'z': return 2; case '\n': return 3; case (char)200: return 4; } return 0; }
static int through(int x) { int r = 0; switch (x) { case 1: r++; case 2: r += 10; case 3: r += 100; break; case 4: r = 7; } return r; }
static int threaded(const char *code) {
  static void *const ops[] = {&&stop, &&inc, &&dbl, &&dec};
  int acc = 0;
#define NEXT goto *ops[*code++ & 3]
  NEXT;
inc: acc++; NEXT;
dbl: acc *= 2; NEXT;
dec: acc--; NEXT;
stop: return acc;
}
static jmp_buf env; static sigjmp_buf sigenv;
static void jump(int n) { if (n == 0) longjmp(env, 42); jump(n - 1); }
static int catcher(int k) {
  int tries = 0, kept = k;
  int r = setjmp(env);
  tries++; kept += 10;
  if (tries < 3) jump(tries);
  return r * 100 + tries * 10 + kept;
}
static int sig(void) { int n = 5; if (sigsetjmp(sigenv, 1) == 0) { n = 6; siglongjmp(sigenv, 1); } return n; }
static int loop(int n) { int s = 0; for (int i = 0;; i++) { if (i > n) break; if (i % 3 == 0) continue; s += i; } do s--; while (s > 50); while (s < 20) s += 7; return s; }
static int gotos(int n) { int i = 0; again: if (i++ < n) goto again; if (n > 100) goto out; i *= 2; out: return i; }
static inline __attribute__((always_inline)) int inlined(int x) { return x > 3 ? x : -x; }
static int chain(int a, int b, int c) { return a && (b || c) ? a ? b : c : !c; }
__attribute__((noreturn)) static void end(int c) { printf("ending\n"); exit(c); }
int main(int argc, char **argv) {
  for (int i = -3; i < 6; i++) printf("%d", dense(i + argc - 1));
  long v[] = {1, 1000, 1000000, -5000000000, 1L << 40, 77, 2};
  for (int i = 0; i < 7; i++) printf(" %d", sparse(v[i] * argc));
  for (const char *c = "afgz\n\xc8"; *c; c++) printf(" %d", letters(*c));
  for (int i = 0; i < 6; i++) printf(" %d", through(i));
  printf("\n%d\n", threaded("\1\1\2\3\2\4"));
  printf("%d %d\n", catcher(argc), sig());
  printf("%d %d %d %d\n", loop(argc + 20), gotos(argc + 5), inlined(argc), inlined(argc + 5));
  for (int i = 0; i < 8; i++) printf("%d", chain(i & 1, i & 2, i & 4));
  int comma = (argc++, argc); printf(" %d\n", comma);
  if (__builtin_expect(argc > 100, 0)) return 1;
  end(17);
}
