#ifndef SQLITE_LOG_H
#define SQLITE_LOG_H

struct sqlite3;

/// The name of a VFS that does what SQLite's own does, but writes the frames of a transaction to the
/// write-ahead log with one system call instead of two for each page. For connections with
/// `synchronous = NORMAL` alone: with `FULL`, SQLite cuts frames in two around a sync.
///
/// Returns NULL if there is no such VFS; SQLite's own is to be used then.
const char *sqlite_log_vfs(void);

/// To be called with each connection that was opened with that VFS, before it writes: sees to it that frames
/// of a transaction that is rolled back are never written, since others may have written there by then.
void sqlite_log_watch(struct sqlite3 *connection);

#endif
