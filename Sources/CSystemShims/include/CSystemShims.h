#ifndef CSYSTEMSHIMS_H
#define CSYSTEMSHIMS_H

// What Swift cannot import: function-like macros and variadic C functions.

#include <stdint.h>

/// open(2) with a mode; retries on EINTR. Returns the descriptor or -errno.
int shim_open(const char *path, int flags, unsigned int mode);

/// Shares the blocks of `source` with `destination` (FICLONE on Linux). Returns 0 or -errno;
/// -EOPNOTSUPP where the system has no such call.
int shim_clone_descriptor(int destination, int source);

#endif
