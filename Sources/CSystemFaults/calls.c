#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#undef _FORTIFY_SOURCE

#include "internal.h"

#if defined(__linux__) && defined(__GLIBC__)

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// They run before any sanitizer is ready.
#pragma clang attribute push(__attribute__((no_sanitize("thread", "address"))), apply_to = function)

int faults_are_available(void) { return 1; }

// The C library's own, found at the first use.
#define REAL(result, name, ...)                                             \
  typedef result (*name##_type)(__VA_ARGS__);                               \
  static name##_type real_##name(void) {                                    \
    static _Atomic(name##_type) found;                                      \
    name##_type known = found;                                              \
    if (known == NULL) found = known = (name##_type)dlsym(RTLD_NEXT, #name); \
    return known;                                                           \
  }

REAL(int, openat, int, const char *, int, ...)
REAL(int, close, int)
REAL(int, closedir, DIR *)
REAL(int, fclose, FILE *)
REAL(ssize_t, read, int, void *, size_t)
REAL(ssize_t, pread, int, void *, size_t, off_t)
REAL(ssize_t, preadv2, int, const struct iovec *, int, off_t, int)
REAL(ssize_t, write, int, const void *, size_t)
REAL(ssize_t, pwrite, int, const void *, size_t, off_t)
REAL(ssize_t, writev, int, const struct iovec *, int)
REAL(int, ftruncate, int, off_t)
REAL(int, fallocate, int, int, off_t, off_t)
REAL(int, posix_fallocate, int, off_t, off_t)
REAL(int, renameat, int, const char *, int, const char *)
REAL(int, linkat, int, const char *, int, const char *, int)
REAL(int, unlinkat, int, const char *, int)
REAL(int, fsync, int)
REAL(int, fdatasync, int)
REAL(int, mkdirat, int, const char *, mode_t)

static int fails(struct verdict *verdict) {
  if (verdict->action != FAULTS_FAIL) return 0;
  errno = (int)verdict->value;
  return 1;
}

static int open_below(int directory, const char *path, int flags, mode_t mode) {
  struct verdict verdict;
  if (!enter_path(directory, path, FAULTS_OPEN, &verdict)) {
    int opened = real_openat()(directory, path, flags, mode);
    // The C library may have closed an earlier file with this number by a call of its own.
    if (opened >= 0) forget_descriptor(opened);
    return opened;
  }
  int result = -1;
  if (!fails(&verdict)) {
    struct stat status;
    int was_there = (flags & O_CREAT) && fstatat(directory, path, &status, 0) == 0;
    result = real_openat()(directory, path, flags, mode);
    if (result >= 0) {
      remember_descriptor(result, &verdict);
      record_open(&verdict, result, flags, was_there);
    }
  }
  leave(&verdict);
  return result;
}

static mode_t mode_of(int flags, va_list arguments) {
  return flags & (O_CREAT | __O_TMPFILE) ? (mode_t)va_arg(arguments, int) : 0;
}

#define OPEN(name)                                       \
  int name(const char *path, int flags, ...) {           \
    va_list arguments;                                   \
    va_start(arguments, flags);                          \
    mode_t mode = mode_of(flags, arguments);             \
    va_end(arguments);                                   \
    return open_below(AT_FDCWD, path, flags, mode);      \
  }
#define OPEN_AT(name)                                         \
  int name(int directory, const char *path, int flags, ...) { \
    va_list arguments;                                        \
    va_start(arguments, flags);                               \
    mode_t mode = mode_of(flags, arguments);                  \
    va_end(arguments);                                        \
    return open_below(directory, path, flags, mode);          \
  }
OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)

int close(int descriptor) {
  forget_descriptor(descriptor);
  return real_close()(descriptor);
}

int closedir(DIR *folder) {
  forget_descriptor(dirfd(folder));
  return real_closedir()(folder);
}

int fclose(FILE *file) {
  forget_descriptor(fileno(file));
  return real_fclose()(file);
}

static ssize_t read_at(int descriptor, void *buffer, size_t count, off_t offset, int has_offset) {
  struct verdict verdict;
  if (!enter_file(descriptor, FAULTS_READ, &verdict)) {
    return has_offset ? real_pread()(descriptor, buffer, count, offset)
                      : real_read()(descriptor, buffer, count);
  }
  ssize_t result = -1;
  if (!fails(&verdict)) {
    if (verdict.action == FAULTS_SHORT && (int64_t)count > verdict.value) count = (size_t)verdict.value;
    result = has_offset ? real_pread()(descriptor, buffer, count, offset)
                        : real_read()(descriptor, buffer, count);
  }
  leave(&verdict);
  return result;
}

ssize_t read(int descriptor, void *buffer, size_t count) {
  return read_at(descriptor, buffer, count, 0, 0);
}
ssize_t pread(int descriptor, void *buffer, size_t count, off_t offset) {
  return read_at(descriptor, buffer, count, offset, 1);
}
ssize_t pread64(int descriptor, void *buffer, size_t count, off64_t offset) {
  return read_at(descriptor, buffer, count, offset, 1);
}

static ssize_t read_vector(int descriptor, const struct iovec *vector, int count, off_t offset, int flags) {
  struct verdict verdict;
  if (!enter_file(descriptor, FAULTS_READ, &verdict)) {
    return real_preadv2()(descriptor, vector, count, offset, flags);
  }
  ssize_t result = -1;
  if (!fails(&verdict)) {
    struct iovec first = vector[0];
    int is_short = verdict.action == FAULTS_SHORT && (int64_t)first.iov_len > verdict.value;
    if (is_short) first.iov_len = (size_t)verdict.value;
    result = real_preadv2()(descriptor, is_short ? &first : vector, is_short ? 1 : count, offset, flags);
  }
  leave(&verdict);
  return result;
}
ssize_t preadv2(int descriptor, const struct iovec *vector, int count, off_t offset, int flags) {
  return read_vector(descriptor, vector, count, offset, flags);
}
ssize_t preadv64v2(int descriptor, const struct iovec *vector, int count, off64_t offset, int flags) {
  return read_vector(descriptor, vector, count, offset, flags);
}

static ssize_t write_at(int descriptor, const void *buffer, size_t count, off_t offset, int has_offset) {
  struct verdict verdict;
  if (!enter_file(descriptor, FAULTS_WRITE, &verdict)) {
    return has_offset ? real_pwrite()(descriptor, buffer, count, offset)
                      : real_write()(descriptor, buffer, count);
  }
  ssize_t result = -1;
  if (!fails(&verdict)) {
    off_t start = has_offset ? offset : lseek(descriptor, 0, SEEK_CUR);
    size_t part = count;
    if (verdict.action == FAULTS_SHORT || verdict.action == FAULTS_TEAR) {
      if ((int64_t)part > verdict.value) part = (size_t)verdict.value;
    }
    if (verdict.action == FAULTS_KILL_WITHIN) part = count / 2;
    result = has_offset ? real_pwrite()(descriptor, buffer, part, offset)
                        : real_write()(descriptor, buffer, part);
    if (result > 0) record_file(&verdict, FAULTS_WRITTEN, descriptor, start, result, buffer);
    if (verdict.action == FAULTS_KILL_WITHIN) die();
    if (verdict.action == FAULTS_TEAR) {
      result = -1;
      errno = EIO;
    }
  }
  leave(&verdict);
  return result;
}

ssize_t write(int descriptor, const void *buffer, size_t count) {
  return write_at(descriptor, buffer, count, 0, 0);
}
ssize_t pwrite(int descriptor, const void *buffer, size_t count, off_t offset) {
  return write_at(descriptor, buffer, count, offset, 1);
}
ssize_t pwrite64(int descriptor, const void *buffer, size_t count, off64_t offset) {
  return write_at(descriptor, buffer, count, offset, 1);
}

ssize_t writev(int descriptor, const struct iovec *vector, int count) {
  struct verdict verdict;
  if (!enter_file(descriptor, FAULTS_WRITE, &verdict)) return real_writev()(descriptor, vector, count);
  ssize_t result = -1;
  if (!fails(&verdict)) {
    off_t start = lseek(descriptor, 0, SEEK_CUR);
    // One piece is as good a short write as any.
    result = count > 0 ? real_write()(descriptor, vector[0].iov_base, vector[0].iov_len) : 0;
    if (result > 0) record_file(&verdict, FAULTS_WRITTEN, descriptor, start, result, vector[0].iov_base);
  }
  leave(&verdict);
  return result;
}

static int truncate_file(int descriptor, off_t length) {
  struct verdict verdict;
  if (!enter_file(descriptor, FAULTS_TRUNCATE, &verdict)) return real_ftruncate()(descriptor, length);
  int result = fails(&verdict) ? -1 : real_ftruncate()(descriptor, length);
  if (result == 0) record_file(&verdict, FAULTS_TRUNCATED, descriptor, 0, length, NULL);
  leave(&verdict);
  return result;
}
int ftruncate(int descriptor, off_t length) { return truncate_file(descriptor, length); }
int ftruncate64(int descriptor, off64_t length) { return truncate_file(descriptor, length); }

static int allocate_file(int descriptor, int mode, off_t offset, off_t length, int is_posix) {
  struct verdict verdict;
  if (!enter_file(descriptor, FAULTS_ALLOCATE, &verdict)) {
    return is_posix ? real_posix_fallocate()(descriptor, offset, length)
                    : real_fallocate()(descriptor, mode, offset, length);
  }
  int result;
  if (fails(&verdict)) {
    result = is_posix ? (int)verdict.value : -1;
  } else {
    result = is_posix ? real_posix_fallocate()(descriptor, offset, length)
                      : real_fallocate()(descriptor, mode, offset, length);
    if (result == 0) record_file(&verdict, FAULTS_ALLOCATED, descriptor, 0, offset + length, NULL);
  }
  leave(&verdict);
  return result;
}
int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  return allocate_file(descriptor, mode, offset, length, 0);
}
int fallocate64(int descriptor, int mode, off64_t offset, off64_t length) {
  return allocate_file(descriptor, mode, offset, length, 0);
}
int posix_fallocate(int descriptor, off_t offset, off_t length) {
  return allocate_file(descriptor, 0, offset, length, 1);
}
int posix_fallocate64(int descriptor, off64_t offset, off64_t length) {
  return allocate_file(descriptor, 0, offset, length, 1);
}

int renameat(int source, const char *from, int destination, const char *to) {
  struct verdict verdict;
  if (!enter_path(destination, to, FAULTS_RENAME, &verdict)) {
    return real_renameat()(source, from, destination, to);
  }
  char old[PATH_MAX];
  int result = fails(&verdict) ? -1 : real_renameat()(source, from, destination, to);
  if (result == 0 && below_plan(verdict.plan, source, from, old)) {
    record_path(&verdict, FAULTS_RENAMED, old);
  }
  leave(&verdict);
  return result;
}
int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int linkat(int source, const char *from, int destination, const char *to, int flags) {
  struct verdict verdict;
  if (!enter_path(destination, to, FAULTS_LINK, &verdict)) {
    return real_linkat()(source, from, destination, to, flags);
  }
  char old[PATH_MAX];
  int result = fails(&verdict) ? -1 : real_linkat()(source, from, destination, to, flags);
  if (result == 0 && below_plan(verdict.plan, source, from, old)) {
    record_path(&verdict, FAULTS_LINKED, old);
  }
  leave(&verdict);
  return result;
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int directory, const char *path, int flags) {
  struct verdict verdict;
  if (!enter_path(directory, path, FAULTS_UNLINK, &verdict)) {
    return real_unlinkat()(directory, path, flags);
  }
  int result = fails(&verdict) ? -1 : real_unlinkat()(directory, path, flags);
  if (result == 0) {
    record_path(&verdict, flags & AT_REMOVEDIR ? FAULTS_DIRECTORY_REMOVED : FAULTS_UNLINKED, NULL);
  }
  leave(&verdict);
  return result;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

static int sync_file(int descriptor, int is_data) {
  struct verdict verdict;
  if (!enter_file(descriptor, FAULTS_SYNC, &verdict)) {
    return is_data ? real_fdatasync()(descriptor) : real_fsync()(descriptor);
  }
  int result = fails(&verdict) ? -1 : is_data ? real_fdatasync()(descriptor) : real_fsync()(descriptor);
  if (result == 0) record_file(&verdict, FAULTS_SYNCED, descriptor, 0, 0, NULL);
  leave(&verdict);
  return result;
}
int fsync(int descriptor) { return sync_file(descriptor, 0); }
int fdatasync(int descriptor) { return sync_file(descriptor, 1); }

int mkdirat(int directory, const char *path, mode_t mode) {
  struct verdict verdict;
  if (!enter_path(directory, path, FAULTS_MAKE_DIRECTORY, &verdict)) {
    return real_mkdirat()(directory, path, mode);
  }
  int result = fails(&verdict) ? -1 : real_mkdirat()(directory, path, mode);
  if (result == 0) record_path(&verdict, FAULTS_DIRECTORY_MADE, NULL);
  leave(&verdict);
  return result;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

#pragma clang attribute pop

#else

int faults_are_available(void) { return 0; }

#endif
