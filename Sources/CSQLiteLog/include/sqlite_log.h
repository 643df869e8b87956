#ifndef SQLITE_LOG_H
#define SQLITE_LOG_H

/// The name of a VFS that does what SQLite's own does, but writes the frames of a transaction to the
/// write-ahead log with one system call instead of two for each page. For connections with
/// `synchronous = NORMAL` alone: with `FULL`, SQLite cuts frames in two around a sync.
///
/// Returns NULL if there is no such VFS; SQLite's own is to be used then.
const char *sqlite_log_vfs(void);

#endif
