#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
static int deep(int n) { volatile char b[1000]; b[n] = n; return deep((n + 1) % 1000) + b[n]; }
int main(int argc, char **argv) { printf("before\n"); fflush(stdout); abort(); }
