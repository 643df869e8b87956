#include "CAllocationCount.h"

#include <errno.h>
#include <stddef.h>

static __thread uint64_t count;

uint64_t allocation_count(void) { return count; }

#if defined(__linux__) && defined(__GLIBC__)

int allocation_count_is_available(void) { return 1; }

// An executable's own malloc goes before that of the C library, for every library of the process.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t size) {
  count++;
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count++;
  return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
  count++;
  return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
  count++;
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count++;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  count++;
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}

void free(void *block) { __libc_free(block); }

#else

int allocation_count_is_available(void) { return 0; }

#endif
