#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "CSystemShims.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#elif defined(__APPLE__)
#include <sys/mount.h>
#include <sys/param.h>
#endif

int shim_open(const char *path, int flags, unsigned int mode) {
  return shim_openat(AT_FDCWD, path, flags, mode);
}

int shim_openat(int directory, const char *name, int flags, unsigned int mode) {
  int descriptor;
  do {
    descriptor = openat(directory, name, flags, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor < 0 ? -errno : descriptor;
}

int shim_clone_descriptor(int destination, int source) {
#if defined(FICLONE)
  return ioctl(destination, FICLONE, source) == 0 ? 0 : -errno;
#else
  (void)destination;
  (void)source;
  return -EOPNOTSUPP;
#endif
}

int shim_can_clone(const char *folder) {
#if defined(FICLONE)
  struct statfs status;
  if (statfs(folder, &status) != 0) return 0;
  switch ((uint32_t)status.f_type) {
    case 0x9123683E:  // Btrfs
    case 0x58465342:  // XFS
    case 0xCA451A4E:  // Bcachefs
    case 0x2FC12FC1:  // ZFS
      return 1;
  }
#else
  (void)folder;
#endif
  return 0;
}

int64_t shim_copy_range(int destination, int source, int64_t *offset, size_t count) {
#if defined(__linux__) && defined(__GLIBC__)
  off64_t position = *offset;
  ssize_t copied;
  do {
    copied = copy_file_range(source, &position, destination, NULL, count, 0);
  } while (copied < 0 && errno == EINTR);
  if (copied < 0) return -errno;
  *offset = position;
  return copied;
#else
  (void)destination;
  (void)source;
  (void)offset;
  (void)count;
  return -EOPNOTSUPP;
#endif
}

int64_t shim_read_cached(int descriptor, void *buffer, size_t count, int64_t offset) {
#if defined(RWF_NOWAIT)
  struct iovec vector = {buffer, count};
  ssize_t length;
  do {
    length = preadv2(descriptor, &vector, 1, offset, RWF_NOWAIT);
  } while (length < 0 && errno == EINTR);
  return length < 0 ? -errno : length;
#else
  (void)descriptor;
  (void)buffer;
  (void)count;
  (void)offset;
  return -EOPNOTSUPP;
#endif
}

int shim_write(int descriptor, const void *bytes, size_t count, int64_t offset) {
  // At most 64 KiB in one call: Linux gives a longer write larger pieces of memory, and a virtual machine may have
  // returned those to its host, which then takes several times as long.
  const size_t limit = 64 << 10;
  while (count > 0) {
    ssize_t written = pwrite(descriptor, bytes, count < limit ? count : limit, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? -errno : -EIO;
    bytes = (const char *)bytes + written;
    count -= (size_t)written;
    offset += written;
  }
  return 0;
}

int shim_allocate(int descriptor, int64_t length) {
#if defined(__linux__)
  int error;
  do {
    error = posix_fallocate(descriptor, 0, length);
  } while (error == EINTR);
  return -error;
#else
  // No such call: writing zeros to an empty file has the same effect.
  static const char zeros[4096];
  off_t end = lseek(descriptor, 0, SEEK_END);
  if (end < 0) return -errno;
  while (end < length) {
    size_t part = length - end < (off_t)sizeof zeros ? (size_t)(length - end) : sizeof zeros;
    ssize_t written = pwrite(descriptor, zeros, part, end);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? -errno : -EIO;
    end += written;
  }
  return 0;
#endif
}

int shim_is_on_network(int descriptor) {
  struct statfs info;
  if (fstatfs(descriptor, &info) != 0) return -errno;
#if defined(__linux__)
  switch ((uint32_t)info.f_type) {
  case 0x6969u:      // NFS
  case 0x517Bu:      // SMB
  case 0xFF534D42u:  // CIFS
  case 0xFE534D42u:  // SMB2
  case 0x65735546u:  // FUSE, which may be anything
  case 0x01021997u:  // 9P
  case 0x00C36400u:  // Ceph
  case 0x5346414Fu:  // AFS
    return 1;
  default:
    return 0;
  }
#elif defined(__APPLE__)
  return (info.f_flags & MNT_LOCAL) ? 0 : 1;
#else
  return 0;
#endif
}

int shim_try_lock(int descriptor, int exclusive) {
  int result;
  do {
    result = flock(descriptor, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB);
  } while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : 0;
}

int shim_lock(int descriptor) {
  int result;
  do {
    result = flock(descriptor, LOCK_EX);
  } while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : 0;
}

void shim_unlock(int descriptor) { flock(descriptor, LOCK_UN); }
