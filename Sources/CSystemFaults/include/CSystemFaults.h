#ifndef C_SYSTEM_FAULTS_H
#define C_SYSTEM_FAULTS_H

#include <stdint.h>

/// Stands in for the C library's file calls in the program it is linked into, for all libraries of the
/// process, SQLite's among them, and passes them on unless a plan for their directory says otherwise.

/// Kinds of calls, to be combined.
enum faults_calls {
  FAULTS_OPEN = 1,
  FAULTS_READ = 2,
  FAULTS_WRITE = 4,
  FAULTS_TRUNCATE = 8,
  FAULTS_ALLOCATE = 16,
  FAULTS_RENAME = 32,
  FAULTS_LINK = 64,
  FAULTS_UNLINK = 128,
  FAULTS_SYNC = 256,
  FAULTS_MAKE_DIRECTORY = 512,
};

enum faults_actions {
  /// The call fails with an error number.
  FAULTS_FAIL = 1,
  /// At most so many bytes are read or written, and the call says so.
  FAULTS_SHORT = 2,
  /// At most so many bytes are written, and the call fails with EIO.
  FAULTS_TEAR = 3,
  /// The process is killed before the call.
  FAULTS_KILL = 4,
  /// The process is killed in the middle of the call, if it writes; else before.
  FAULTS_KILL_WITHIN = 5,
};

enum faults_changes {
  FAULTS_CREATED = 1,
  FAULTS_WRITTEN = 2,
  FAULTS_TRUNCATED = 3,
  FAULTS_ALLOCATED = 4,
  FAULTS_RENAMED = 5,
  FAULTS_LINKED = 6,
  FAULTS_UNLINKED = 7,
  FAULTS_DIRECTORY_MADE = 8,
  FAULTS_DIRECTORY_REMOVED = 9,
  FAULTS_SYNCED = 10,
  FAULTS_DIRECTORY_SYNCED = 11,
};

/// Something that a call changed. Pointers are valid until the plan is ended.
struct faults_change {
  int kind;
  /// Which file, counted from 1.
  int64_t file;
  int64_t offset;
  int64_t length;
  /// The written bytes.
  const void *bytes;
  /// Below the plan's directory.
  const char *path;
  /// Where it was renamed or linked from.
  const char *from;
};

struct faults_plan;

/// Whether calls can be caught on this platform.
int faults_are_available(void);

/// Watches a directory, an absolute path without symbolic links, and everything below it that is opened
/// from now on. NULL if there are too many plans.
struct faults_plan *faults_begin(const char *directory, int records);

/// Lets all calls pass again and forgets what was recorded.
void faults_end(struct faults_plan *plan);

/// Makes calls of some kinds on files whose path ends in `suffix` (empty for all) do something else,
/// from the `first`th such call from now to the `last`th. 0 if there are too many rules.
int faults_add(
  struct faults_plan *plan, uint32_t calls, const char *suffix, int64_t first, int64_t last, int action,
  int64_t value);

/// Forgets the rules.
void faults_heal(struct faults_plan *plan);

/// How many calls of some kinds there were.
int64_t faults_count(struct faults_plan *plan, uint32_t calls);

/// How many changes were recorded.
int64_t faults_change_count(struct faults_plan *plan);

/// One of them.
struct faults_change faults_change_at(struct faults_plan *plan, int64_t index);

#endif
