// Calls: structures small and large by value, variadic functions, pointers to functions, K&R, recursion.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct small { int a, b; };
struct mixed { double d; int i; };
struct floats { float x, y, z; };
struct large { long v[9]; char name[16]; };
struct one { char c[3]; };
static struct small swap(struct small s) { struct small t = {s.b, s.a}; return t; }
static struct mixed twice(struct mixed m) { m.d *= 2; m.i *= 2; return m; }
static struct floats turn(struct floats f) { struct floats t = {f.y, f.z, f.x}; return t; }
static struct large change(struct large l, int k) { l.v[k] += k; strcat(l.name, "!"); return l; }
static struct one up(struct one o) { o.c[1]++; return o; }
static long sum(int n, ...) {
  va_list ap, again; va_start(ap, n); va_copy(again, ap);
  long s = 0;
  for (int i = 0; i < n; i++) s = s * 3 + va_arg(ap, int);
  for (int i = 0; i < n; i++) s += va_arg(again, int);
  va_end(ap); va_end(again);
  return s;
}
static double mix(const char *f, ...) {
  va_list ap; va_start(ap, f); double s = 0;
  for (; *f; f++) switch (*f) {
    case 'i': s += va_arg(ap, int); break;
    case 'd': s += va_arg(ap, double) * 2; break;
    case 'l': s += va_arg(ap, long) * 3; break;
    case 's': s += strlen(va_arg(ap, char *)); break;
    case 'S': { struct small t = va_arg(ap, struct small); s += t.a * 5 + t.b; break; }
    case 'M': { struct mixed t = va_arg(ap, struct mixed); s += t.d + t.i; break; }
    case 'L': { struct large t = va_arg(ap, struct large); s += t.v[3] + strlen(t.name); break; }
    case 'D': s += (double)va_arg(ap, long double); break;
    case 'w': s += (double)(long)va_arg(ap, __int128); break;
  }
  va_end(ap); return s;
}
static void say(const char *f, ...) { char buffer[100]; va_list ap; va_start(ap, f); vsnprintf(buffer, sizeof buffer, f, ap); va_end(ap); puts(buffer); }
static int up_order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int down_order(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }
static int add(int a, int b) { return a + b; }
static int mul(int a, int b) { return a * b; }
typedef int (*op)(int, int);
static op pick(int c) { return c == '+' ? add : mul; }
int kandr(a, b) int a; char b; { return a * 10 + b; }
int unknown();
int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, double j, float k) { return a - b + c - d + e - f + g - h + i + (int)(j * k); }
static int even(unsigned n); static int odd(unsigned n) { return n ? even(n - 1) : 0; } static int even(unsigned n) { return n ? odd(n - 1) : 1; }
static __int128 wide(__int128 a, int b) { return a * b; }
static void twist(int **p, int *q) { *p = q; }
int main(int argc, char **argv) {
  int k = argc + 2;
  struct small s = swap((struct small){k, 7}); printf("%d %d\n", s.a, s.b);
  struct mixed m = twice((struct mixed){k / 2.0, k}); printf("%g %d\n", m.d, m.i);
  struct floats f = turn((struct floats){k, 2, 3}); printf("%g %g %g\n", f.x, f.y, f.z);
  struct large l = {{1, 2, 3, 4}, "large"}; l = change(l, k); printf("%ld %s\n", l.v[k], l.name);
  struct one o = up((struct one){{'a', 'b', 'c'}}); printf("%c%c%c\n", o.c[0], o.c[1], o.c[2]);
  printf("%ld %ld\n", sum(10, 1, 2, 3, k, 5, 6, 7, 8, 9, k), sum(1, k));
  printf("%g\n", mix("iiiiiiiidddddddddd", 1, 2, 3, k, 5, 6, 7, 8, 1., 2., 3., 4., 5., 6., 7., 8., 9., k * 1.0));
  printf("%g\n", mix("idlsSMLDiwi", k, 1.5, 9L, "text", s, m, l, 2.5L, 3, (__int128)k, 4));
  say("%d %s %g %c", k, "said", 2.5, 'x');
  int a[] = {5, k, 9, 1, 7}; qsort(a, 5, sizeof *a, up_order); for (int i = 0; i < 5; i++) printf("%d ", a[i]);
  qsort(a, 5, sizeof *a, down_order); for (int i = 0; i < 5; i++) printf("%d ", a[i]);
  printf("\n%d %d\n", pick('+')(k, 4), pick('*')(k, 4));
  op table[] = {add, mul}; printf("%d\n", table[k & 1](6, k));
  printf("%d %d\n", kandr(k, 'c'), unknown(k, 2));
  printf("%d\n", many(1, 2, 3, 4, 5, 6, k, 8, 9, 1.5, 2.5f));
  printf("%d %d\n", even(k), odd(k));
  printf("%ld\n", (long)wide(k, 1000));
  int x = 1, y = 2, *p = &x; twist(&p, &y); *p = k; printf("%d %d\n", x, y);
  int (*print)(const char *, ...) = printf; print("by pointer %d\n", k);
  int *found = bsearch(&k, a, 5, sizeof *a, down_order); printf("%d\n", found ? *found : -1);
  return k;
}
int unknown(int a, int b) { return a << b; }
