#include "sqlite_log.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// The write-ahead log is a header of 32 bytes and frames: 24 bytes, then a page. SQLite writes each of both
// on its own. Here they wait until the frame that commits is whole, which it is before SQLite tells anybody
// of the transaction through the shared index of the log; so nobody can look for what is not in the file.
// What is written anywhere else than behind all that was written is never held back: that is how SQLite
// mends frames of the same transaction, header by header, after the frame that commits.
//
// What is held when the right to write is given back belongs to a transaction that was not committed: it is
// forgotten before others can get that right, since they will write to the same place. SQLite gives it back
// with xShmLock of the database's file, however the transaction ends; its rollback hook is not called for
// each (not for a VACUUM that fails while it copies back). So that one method of that file is replaced, too.

// SQLite's way to write takes less than 128 KiB.
enum { HEADER = 24, MOST_HELD = 256 << 10, MOST_AT_ONCE = 64 << 10 };
// The lock in the shared index of the log that is the right to write.
enum { WRITE_LOCK = 0 };

typedef struct Database Database;

typedef struct {
  sqlite3_file base;
  sqlite3_file *real;
  unsigned char *held;
  int length;
  int capacity;
  // Where what is held begins in the file.
  sqlite3_int64 start;
  // Behind all frames of the latest transaction here.
  sqlite3_int64 end;
  // Whether the last that is held is a header, and whether its frame commits.
  int awaits_page;
  int commits;
  // Behind a header that was not held; -1 for none.
  sqlite3_int64 after_header;
  Database *database;
} Log;

// Lies behind the system's own object for the file of a database.
struct Database {
  // Those of the system, but for xShmLock.
  sqlite3_io_methods methods;
  int (*shm_lock)(sqlite3_file *, int, int, int);
  Log *log;
};

static sqlite3_vfs *system_vfs;
static sqlite3_vfs log_vfs;

// What cannot be written stays: SQLite believes that it was, and the transaction may go on after an error.
static int flush(Log *log) {
  for (int done = 0; done < log->length; done += MOST_AT_ONCE) {
    int count = log->length - done < MOST_AT_ONCE ? log->length - done : MOST_AT_ONCE;
    int result = log->real->pMethods->xWrite(log->real, log->held + done, count, log->start + done);
    if (result != SQLITE_OK) return result;
  }
  log->length = 0;
  log->awaits_page = 0;
  return SQLITE_OK;
}

static void forget(Log *log) {
  log->length = 0;
  log->awaits_page = 0;
  log->after_header = -1;
}

static int hold(Log *log, const void *bytes, int count, sqlite3_int64 offset) {
  int needed = log->length + count;
  if (needed > log->capacity) {
    int capacity = log->capacity > 0 ? log->capacity : 32 << 10;
    while (capacity < needed) capacity *= 2;
    unsigned char *larger = realloc(log->held, (size_t)capacity);
    if (!larger) return 0;
    log->held = larger;
    log->capacity = capacity;
  }
  if (log->length == 0) log->start = offset;
  memcpy(log->held + log->length, bytes, (size_t)count);
  log->length = needed;
  return 1;
}

static int write_through(Log *log, const void *bytes, int count, sqlite3_int64 offset) {
  int result = flush(log);
  if (result != SQLITE_OK) return result;
  result = log->real->pMethods->xWrite(log->real, bytes, count, offset);
  if (count == HEADER) {
    log->after_header = offset + count;
  } else {
    // A whole frame that begins before the end: somebody else has begun the log anew.
    int is_frame = log->after_header == offset;
    sqlite3_int64 end = offset + count;
    if (offset == 0 || is_frame || end > log->end) log->end = end;
    log->after_header = -1;
  }
  return result;
}

static int log_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  Log *log = (Log *)file;
  int continues = log->length > 0 && offset == log->start + log->length;
  if (log->awaits_page && continues && count != HEADER) {
    int commits = log->commits;
    if (!hold(log, bytes, count, offset)) return write_through(log, bytes, count, offset);
    log->awaits_page = 0;
    log->end = offset + count;
    return commits || log->length >= MOST_HELD ? flush(log) : SQLITE_OK;
  }
  if (count == HEADER && offset >= log->end && offset > 0) {
    if (log->length > 0 && (!continues || log->awaits_page)) {
      int result = flush(log);
      if (result != SQLITE_OK) return result;
    }
    if (hold(log, bytes, count, offset)) {
      static const unsigned char none[4] = {0, 0, 0, 0};
      // The size of the database after the transaction, if this is its last frame.
      log->commits = memcmp((const unsigned char *)bytes + 4, none, 4) != 0;
      log->awaits_page = 1;
      log->after_header = -1;
      return SQLITE_OK;
    }
  }
  return write_through(log, bytes, count, offset);
}

static int log_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  Log *log = (Log *)file;
  if (log->length > 0 && offset + count > log->start) {
    if (offset >= log->start && offset + count <= log->start + log->length) {
      memcpy(bytes, log->held + (offset - log->start), (size_t)count);
      return SQLITE_OK;
    }
    int result = flush(log);
    if (result != SQLITE_OK) return result;
  }
  return log->real->pMethods->xRead(log->real, bytes, count, offset);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size) {
  Log *log = (Log *)file;
  int result = flush(log);
  if (result != SQLITE_OK) return result;
  if (log->end > size) log->end = size;
  log->after_header = -1;
  return log->real->pMethods->xTruncate(log->real, size);
}

static int log_sync(sqlite3_file *file, int flags) {
  Log *log = (Log *)file;
  int result = flush(log);
  return result == SQLITE_OK ? log->real->pMethods->xSync(log->real, flags) : result;
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size) {
  Log *log = (Log *)file;
  int result = flush(log);
  return result == SQLITE_OK ? log->real->pMethods->xFileSize(log->real, size) : result;
}

// What is held then belongs to a transaction that was not committed.
static int log_close(sqlite3_file *file) {
  Log *log = (Log *)file;
  log->database->log = NULL;
  free(log->held);
  log->held = NULL;
  log->length = log->capacity = 0;
  return log->real->pMethods->xClose(log->real);
}

static int log_lock(sqlite3_file *file, int kind) {
  Log *log = (Log *)file;
  return log->real->pMethods->xLock(log->real, kind);
}

static int log_unlock(sqlite3_file *file, int kind) {
  Log *log = (Log *)file;
  return log->real->pMethods->xUnlock(log->real, kind);
}

static int log_check_lock(sqlite3_file *file, int *result) {
  Log *log = (Log *)file;
  return log->real->pMethods->xCheckReservedLock(log->real, result);
}

static int log_control(sqlite3_file *file, int operation, void *argument) {
  Log *log = (Log *)file;
  return log->real->pMethods->xFileControl(log->real, operation, argument);
}

static int log_sector_size(sqlite3_file *file) {
  Log *log = (Log *)file;
  return log->real->pMethods->xSectorSize(log->real);
}

static int log_characteristics(sqlite3_file *file) {
  Log *log = (Log *)file;
  return log->real->pMethods->xDeviceCharacteristics(log->real);
}

static const sqlite3_io_methods methods = {
  .iVersion = 1,
  .xClose = log_close,
  .xRead = log_read,
  .xWrite = log_write,
  .xTruncate = log_truncate,
  .xSync = log_sync,
  .xFileSize = log_size,
  .xLock = log_lock,
  .xUnlock = log_unlock,
  .xCheckReservedLock = log_check_lock,
  .xFileControl = log_control,
  .xSectorSize = log_sector_size,
  .xDeviceCharacteristics = log_characteristics,
};

static size_t rounded(size_t size) { return (size + 15) & ~(size_t)15; }

static Database *database_of(sqlite3_file *file) {
  return (Database *)((char *)file + rounded((size_t)system_vfs->szOsFile));
}

static int database_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  Database *database = database_of(file);
  if (offset == WRITE_LOCK && (flags & SQLITE_SHM_UNLOCK) && database->log) forget(database->log);
  return database->shm_lock(file, offset, count, flags);
}

static int open_database(const char *name, sqlite3_file *file, int flags, int *out_flags) {
  int result = system_vfs->xOpen(system_vfs, name, file, flags, out_flags);
  if (result != SQLITE_OK || file->pMethods->iVersion < 2 || !file->pMethods->xShmLock) return result;
  Database *database = database_of(file);
  database->log = NULL;
  database->methods = *file->pMethods;
  if (database->methods.iVersion > 3) database->methods.iVersion = 3;
  database->shm_lock = database->methods.xShmLock;
  database->methods.xShmLock = database_shm_lock;
  file->pMethods = &database->methods;
  return result;
}

static int log_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
  (void)vfs;
  if (flags & SQLITE_OPEN_MAIN_DB) return open_database(name, file, flags, out_flags);
  sqlite3_file *owner = flags & SQLITE_OPEN_WAL && name ? sqlite3_database_file_object(name) : NULL;
  // Without knowledge of its locks nothing can be held.
  if (!owner || !owner->pMethods || owner->pMethods->iVersion < 2
    || owner->pMethods->xShmLock != database_shm_lock) {
    return system_vfs->xOpen(system_vfs, name, file, flags, out_flags);
  }
  Log *log = (Log *)file;
  memset(log, 0, sizeof *log);
  log->after_header = -1;
  log->real = (sqlite3_file *)((char *)file + rounded(sizeof(Log)));
  int result = system_vfs->xOpen(system_vfs, name, log->real, flags, out_flags);
  log->base.pMethods = log->real->pMethods ? &methods : NULL;
  log->database = database_of(owner);
  if (log->base.pMethods) log->database->log = log;
  return result;
}

static int is_registered;

static void register_vfs(void) {
  system_vfs = sqlite3_vfs_find(NULL);
  // Of one that the application has put in its place nothing is known.
  if (!system_vfs || strcmp(system_vfs->zName, "unix") != 0) return;
  // All but opening is that of the system's, with the data it needs for it.
  log_vfs = *system_vfs;
  if (log_vfs.iVersion > 3) log_vfs.iVersion = 3;
  log_vfs.zName = "http-cache-log";
  size_t more = rounded(sizeof(Log)) > sizeof(Database) ? rounded(sizeof(Log)) : sizeof(Database);
  log_vfs.szOsFile = (int)(rounded((size_t)system_vfs->szOsFile) + more);
  log_vfs.pNext = NULL;
  log_vfs.xOpen = log_open;
  is_registered = sqlite3_vfs_register(&log_vfs, 0) == SQLITE_OK;
}

const char *sqlite_log_vfs(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_vfs);
  return is_registered ? log_vfs.zName : NULL;
}
