#include "CAllocationCount.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

static __thread uint64_t count;
static atomic_uint_fast64_t count_of_all;
// Off at first: all threads would write to one number, which would slow down what is timed.
static atomic_int counts_all;

uint64_t allocation_count(void) { return count; }

uint64_t allocation_count_of_all_threads(void) {
  atomic_store_explicit(&counts_all, 1, memory_order_relaxed);
  return atomic_load_explicit(&count_of_all, memory_order_relaxed);
}

#if defined(__linux__) && defined(__GLIBC__)

int allocation_count_is_available(void) { return 1; }

// An executable's own malloc goes before that of the C library, for every library of the process.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static void add(void) {
  count++;
  if (atomic_load_explicit(&counts_all, memory_order_relaxed))
    atomic_fetch_add_explicit(&count_of_all, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
  add();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  add();
  return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
  add();
  return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
  add();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  add();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  add();
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}

void free(void *block) { __libc_free(block); }

#else

int allocation_count_is_available(void) { return 0; }

#endif
