// Memory: pointers, arrays of arrays, unions, VLAs, alloca, string functions, structure copies, static data.
#include <alloca.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { int value; struct node *next; char tag; };
struct inner { short s[3]; struct { int x, y; } p; };
struct outer { char c; struct inner in[2]; double d; };
static int grid[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
static const char *words[] = {"zero", "one", "two", "three"};
static struct outer global = {'g', {{{1, 2, 3}, {4, 5}}, {{6, 7, 8}, {9, 10}}}, 1.5};
_Thread_local int mine = 5;
static int count(void) { static int n; return ++n; }
static int vla(int n) { int a[n], s = 0; for (int i = 0; i < n; i++) a[i] = i * i; for (int i = 0; i < n; i++) s += a[i]; return s; }
static int nested(int n) { int t = 0; for (int i = 1; i < n; i++) { char b[i * 3]; memset(b, i, sizeof b); t += b[i] + (int)sizeof b; } return t; }
static long align(int n) { char *p = alloca(n); memset(p, n, n); return p[n - 1] + ((unsigned long)p & 7); }
typedef union { int i; float f; unsigned char b[8]; } pun;
int main(int argc, char **argv) {
  int k = argc > 1 ? 1 : 2;
  struct node *head = 0;
  for (int i = 0; i < 5; i++) { struct node *n = malloc(sizeof *n); *n = (struct node){i * k, head, 'a' + i}; head = n; }
  for (struct node *n = head; n; n = n->next) printf("%d%c ", n->value, n->tag);
  while (head) { struct node *n = head; head = n->next; free(n); }
  printf("\n%d %d %s\n", grid[k][k + 1], *(&grid[0][0] + k * 2), words[k]);
  global.in[1].p.y += k; global.in[0].s[k] = 99;
  struct outer copy = global; copy.c = 'c';
  printf("%c%c %d %d %g %zu\n", global.c, copy.c, copy.in[1].p.y, copy.in[0].s[2], copy.d, offsetof(struct outer, d));
  printf("%d %d %ld\n", vla(k + 5), nested(k + 5), align(k + 9));
  pun u; u.f = 1.5f * k; printf("%x %d\n", u.i, u.b[3]);
  mine += k; printf("%d %d %d\n", mine, count(), count());
  char text[64]; strcpy(text, "hello"); strcat(text, " world"); text[0] ^= 32;
  printf("%s %zu %d %s\n", text, strlen(text), strcmp(text, "Hello"), strchr(text, 'w'));
  char *dup = strdup(text); dup = realloc(dup, 200); memmove(dup + 2, dup, 6); printf("%.8s\n", dup); free(dup);
  int *p = calloc(10, sizeof(int)); p[3] = k; int *q = p + 3; printf("%d %ld %d\n", *q, q - p, q > p); free(p);
  int uninitialised; int *w = &uninitialised; *w = 4; printf("%d\n", uninitialised);
  char big[5000]; memset(big, 'x', sizeof big); big[4999] = 0; printf("%zu\n", strlen(big));
  volatile int v = 3; v += k; printf("%d\n", v);
  char *env = getenv("NO_SUCH_VARIABLE"); printf("%s\n", env ? env : "none");
  int m[2][2] = {{k, 1}, {0, k}}, (*row)[2] = m + 1; printf("%d %d\n", (*row)[1], row[-1][0]);
  struct { unsigned char a; unsigned long b; } __attribute__((packed)) packed = {1, 0x1122334455667788}; printf("%lx %zu\n", packed.b, sizeof packed);
  printf("%d\n", memcmp("abc", "abd", 3) < 0);
  return 0;
}
