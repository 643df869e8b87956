#ifndef CSYSTEMSHIMS_H
#define CSYSTEMSHIMS_H

// Things that Swift cannot import: function-like macros, variadic C functions, calls that only some
// systems have, and atomics on memory that is shared between processes.

#include <stddef.h>
#include <stdint.h>

/// open(2) with a mode; retries on EINTR. Returns the descriptor or -errno.
int shim_open(const char *path, int flags, unsigned int mode);

/// openat(2) with a mode; retries on EINTR. Returns the descriptor or -errno.
int shim_openat(int directory, const char *name, int flags, unsigned int mode);

/// Shares the blocks of `source` with `destination` (FICLONE on Linux). Returns 0 or -errno;
/// -EOPNOTSUPP where the system has no such call.
int shim_clone_descriptor(int destination, int source);

/// 1 if files below a folder can share blocks (Btrfs, XFS, Bcachefs, ZFS); 0 if not, or if that is unknown.
int shim_can_clone(const char *folder);

/// Copies up to `count` bytes at `*offset` of `source` to the place where `destination` stands, within
/// the kernel (copy_file_range on Linux), and advances both. Returns the number of bytes, 0 at the
/// end, or -errno; -EOPNOTSUPP where the system has no such call.
int64_t shim_copy_range(int destination, int source, int64_t *offset, size_t count);

/// Reads what is in the page cache and never waits for a disk (preadv2 with RWF_NOWAIT on Linux).
/// Returns the number of bytes or -errno; -EAGAIN where it would have to wait, -EOPNOTSUPP where the
/// system has no such call.
int64_t shim_read_cached(int descriptor, void *buffer, size_t count, int64_t offset);

/// Writes all bytes at `offset`; retries on EINTR. Returns 0 or -errno.
int shim_write(int descriptor, const void *bytes, size_t count, int64_t offset);

/// Reserves blocks for the first `length` bytes of a file. Returns 0 or -errno.
int shim_allocate(int descriptor, int64_t length);

/// 1 if the open file lies on a network file system, where memory is not shared between machines;
/// 0 if not; -errno if that cannot be found out.
int shim_is_on_network(int descriptor);

/// Takes (or, with `exclusive` 0, shares) the advisory lock of an open file, without waiting.
/// Returns 0 or -errno; -EWOULDBLOCK if another process has it.
int shim_try_lock(int descriptor, int exclusive);

/// Takes the advisory lock of a whole file alone, and waits for it without a limit. Returns 0 or -errno.
int shim_lock(int descriptor);

/// Releases the advisory lock of a file.
void shim_unlock(int descriptor);

#endif
