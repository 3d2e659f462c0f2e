/* Runs a fuzz target once, on standard input or on the file that the first argument names, of which
   it sees one mebibyte at most. What the target returns and observes is printed. A program with a main of its own keeps that. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
__attribute__((weak)) int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

void beagle_observe(const void *data, size_t size) {
    const unsigned char *bytes = data;
    printf("observed");
    for (size_t i = 0; i < size; i++) printf(i % 4 ? "%02x" : " %02x", bytes[i]);
    printf("\n");
}

__attribute__((weak)) int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : stdin;
    if (!file) {
        perror(argv[1]);
        return 2;
    }
    static unsigned char all[1 << 20];
    size_t size = fread(all, 1, sizeof all, file);
    /* A copy of just that size, so that reading past its end is found out. */
    unsigned char *data = malloc(size);
    if (!data) return 2;
    memcpy(data, all, size);
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
    int result = LLVMFuzzerTestOneInput ? LLVMFuzzerTestOneInput(data, size) : 0;
    printf("return %d\n", result);
    free(data);
    return 0;
}
