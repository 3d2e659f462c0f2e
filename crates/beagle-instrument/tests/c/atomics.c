// Atomic operations, threads, vector extensions, inline assembler.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
typedef int v4 __attribute__((vector_size(16)));
typedef float f4 __attribute__((vector_size(16)));
typedef unsigned char b16 __attribute__((vector_size(16)));
typedef short s4 __attribute__((vector_size(8)));
static atomic_int counter; static atomic_long total; static _Atomic double level;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; static int plain;
static void *work(void *arg) { for (int i = 0; i < 1000; i++) { atomic_fetch_add(&counter, 1); atomic_fetch_add(&total, (long)arg); pthread_mutex_lock(&lock); plain++; pthread_mutex_unlock(&lock); } return (void *)((long)arg * 2); }
static v4 add(v4 a, v4 b) { return a + b; }
int main(int argc, char **argv) {
  int k = argc + 4;
  atomic_int a = k; int e = k, old;
  old = atomic_fetch_add(&a, 3); printf("%d %d\n", old, a);
  old = atomic_fetch_sub(&a, 1); old += atomic_fetch_or(&a, 8); old += atomic_fetch_and(&a, 13); old += atomic_fetch_xor(&a, 5); printf("%d %d\n", old, a);
  printf("%d %d\n", atomic_compare_exchange_strong(&a, &e, 100), e);
  printf("%d %d\n", atomic_compare_exchange_strong(&a, &e, 100), a);
  printf("%d %d\n", atomic_exchange(&a, 7), atomic_load(&a));
  old = __atomic_fetch_nand(&e, 6, __ATOMIC_SEQ_CST); printf("%d %d\n", old, e);
  old = __atomic_fetch_max(&e, k, __ATOMIC_SEQ_CST); printf("%d %d\n", old, e);
  old = __atomic_fetch_min(&e, -k, __ATOMIC_SEQ_CST); printf("%d %d\n", old, e);
  level = 1.5; level += k; printf("%g\n", level);
  char c = 5; printf("%d %d\n", __sync_fetch_and_add(&c, 3), c);
  pthread_t t[4]; for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
  long got = 0; for (int i = 0; i < 4; i++) { void *r; pthread_join(t[i], &r); got += (long)r; }
  printf("%d %ld %d %ld\n", counter, total, plain, got);
  v4 x = {k, 2, 3, 4}, y = {10, 20, k, 40}, z = add(x, y) * x - y;
  printf("%d %d %d %d\n", z[0], z[1], z[2], z[k & 3]);
  z = x < y; printf("%d %d\n", z[0], z[3]); z[k & 3] = 9; printf("%d\n", z[1]);
  z = __builtin_shufflevector(x, y, 0, 4, 2, 7); printf("%d %d %d %d\n", z[0], z[1], z[2], z[3]);
  f4 f = {1, 2, 3, k}; f = f * f / 2; printf("%g %g\n", f[1], f[3]);
  b16 b = (b16)z; printf("%d %d\n", b[0], b[5]);
  s4 s = {1, -2, 3, (short)k}; s = s >> 1; printf("%d %d %lx\n", s[1], s[3], *(long *)&s);
  v4 over = y > 15; z = (over & x) | (~over & -x); printf("%d %d\n", z[0], z[1]); f = __builtin_convertvector(z, f4); printf("%g\n", f[2]);
  int r; __asm__("addl %2, %0" : "=r"(r) : "0"(k), "r"(3) : "cc"); printf("%d\n", r);
  __asm__ volatile("movl $5, %0" : "=m"(r)); printf("%d\n", r);
  unsigned lo; __asm__("mov %1, %0\n\tnot %0" : "=&r"(lo) : "r"(k)); printf("%u\n", lo);
  return 0;
}
