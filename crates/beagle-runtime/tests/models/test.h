/* Shared by the differential tests of the models: chance, and the report of a difference. */
#ifndef BEAGLE_MODEL_TEST_H
#define BEAGLE_MODEL_TEST_H

#include <stddef.h>

/* A number below the bound. */
unsigned below(unsigned bound);
/* One of the characters. */
char one_of(const char *set);
/* Prints what differs and ends the test. */
void differ(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* A text with what is not printable escaped; four of them live at a time. */
const char *shown(const char *text, size_t len);

void test_getopt(long cases);
void test_strings(long cases);
void test_sorting(long cases);
void test_lines(long cases);
void test_scanf(long cases);

#endif
