#ifndef C_ALLOCATION_COUNT_H
#define C_ALLOCATION_COUNT_H

#include <stdint.h>

/// How many blocks this thread has allocated since it started (malloc, calloc, realloc and the like).
uint64_t allocation_count(void);

/// How many blocks all threads have allocated since the first call of this function.
uint64_t allocation_count_of_all_threads(void);

/// Whether allocations are counted on this system.
int allocation_count_is_available(void);

#endif
