#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
static int deep(int n) { volatile char b[1000]; b[n] = n; return deep((n + 1) % 1000) + b[n]; }
int main(int argc, char **argv) { char *p = (char *)0x610000001000 + argc; printf("before\n"); fflush(stdout); return *p; }
