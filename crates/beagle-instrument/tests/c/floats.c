// Floating point: operators, conversions, comparisons with NaN, builtins, long double.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static float half(float x) { return x / 2; }
static long double stretch(long double x) { return x * 1.5L + 1; }
int main(int argc, char **argv) {
  double a = strtod(argc > 1 ? argv[1] : "-3.75", 0), b = argc + 0.5, n = NAN, i = INFINITY;
  float f = a;
  printf("%g %g %g %g %g\n", a + b, a - b, a * b, a / b, fmod(a, b));
  printf("%g %g %g\n", -a, half(f), f * f + b);
  printf("%d %d %d %d %d %d\n", a < b, a <= b, a > b, a >= b, a == b, a != b);
  printf("%d %d %d %d %d %d\n", a < n, a <= n, a > n, a >= n, n == n, n != n);
  printf("%d %d\n", isunordered(a, n), islessgreater(a, b));
  printf("%d %u %ld %lu\n", (int)a, (unsigned)b, (long)(a * 1e9), (unsigned long)(b * 1e9));
  printf("%d %d\n", (signed char)b, (unsigned char)b);
  printf("%g %g %g %g\n", (double)argc, (double)(unsigned)argc, (float)(long)argc, (double)(unsigned long)-1);
  printf("%g %g %g %g %g %g %g\n", floor(a), ceil(a), trunc(a), round(a), rint(a), nearbyint(a), fabs(a));
  printf("%g %g %g %g\n", __builtin_floor(a), __builtin_ceil(a), __builtin_trunc(a), __builtin_round(a));
  printf("%g %g %g %g\n", __builtin_fabs(a), __builtin_sqrt(b), __builtin_copysign(b, a), __builtin_fmax(a, b));
  printf("%g %g %g\n", sqrt(b), fmin(a, n), copysign(1, a));
  printf("%d %d %d %d %d\n", isnan(n), isinf(i), isfinite(a), isnormal(a), signbit(a) != 0);
  printf("%d %d %d\n", isnan(a), isinf(a), fpclassify(0.0) == FP_ZERO);
  printf("%d\n", __builtin_isfpclass(f, 0x3) + 2 * __builtin_isfpclass(f, 0x78));
  long double l = stretch(a); l = l < 0 ? -l : l;
  printf("%Lg %g %d %d\n", l, (double)l, (int)l, l > b);
  double sum = 0; for (int k = 0; k < 100; k++) sum += a * k / (k + b);
  printf("%.17g\n", sum);
  float x = 16777216.0f; x += 1; printf("%g\n", x);
  union { double d; unsigned long u; } u = {a}; printf("%lx\n", u.u);
  union { float d; unsigned u; } v = {f}; printf("%x\n", v.u);
  _Complex double z = a + b * 1.0i; z = z * z; printf("%g %g\n", __real__ z, __imag__ z);
  return (int)fabs(a);
}
