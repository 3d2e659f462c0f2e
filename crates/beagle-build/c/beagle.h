/* What a fuzz target may tell Beagle. Without Beagle it does nothing. */
#ifndef BEAGLE_H
#define BEAGLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes these bytes part of what the program shows: two versions that observe different bytes
   behave differently. */
__attribute__((weak)) void beagle_observe(const void *data, size_t size) {
    (void)data;
    (void)size;
}

#ifdef __cplusplus
}
#endif

#endif
