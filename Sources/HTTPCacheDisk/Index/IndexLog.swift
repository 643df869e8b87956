import CSQLite
import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore

/// The log of the index. Its bytes count as usage.
extension OpenDirectory {
  /// The size of the log now.
  var logBytes: Int64 { directory.size(of: CacheDirectory.databaseName + "-wal") }

  /// Keeps the log within its limit; on the index thread.
  ///
  /// - Throws: `CacheError.busy` if the log is far above its limit and can only grow, because a process reads
  ///   an old state of the index.
  func limitLog() throws(CacheError) {
    guard logBytes > Schema.logLimit else { return }
    try index.truncateLog(waiting: false)
    guard logBytes > Schema.logLimit + Schema.logSlack else { return }
    throw CacheError(.busy, "a process reads an old state of the index, so its log has \(logBytes) bytes")
  }

  /// Sets the length of the log at which a checkpoint is made. It is shorter for a small capacity, because
  /// the log counts as usage.
  func setLogLength(capacity: Int64) {
    let pages = Int(max(16, min(Int64(Schema.logPages), capacity / 64 / PageCount.pageSize)))
    index.setLogPages(pages)
    let limit = min(Schema.logLimit, Int64(pages + 24) * PageCount.pageSize)
    _ = try? index.execute("PRAGMA journal_size_limit = \(limit)")
  }

  /// Makes checkpoints until the log is empty; on a thread of the store. Other processes may write to the log
  /// meanwhile, so it may not stay empty.
  ///
  /// - Throws: `CacheError.busy` if a process has read an old state of the index for seconds.
  func emptyLog(_ clock: any CacheClock) throws(CacheError) {
    let end = clock.uptime + Self.logPatience
    repeat {
      if try index.truncateLog(waiting: true) { return }
      // SQLite waits for readers and writers, but fails at once while another process makes a checkpoint: as when
      // several processes open a directory at the same time. Nothing tells when that checkpoint ends.
      sqlite3_sleep(10)
    } while clock.uptime < end
    throw CacheError(.busy, "a process reads an old state of the index, so its log stays for now")
  }

  /// The time to wait for processes that read an old state of the index, or that make a checkpoint.
  private static let logPatience = Duration.seconds(10)

  /// Empties the log if too little is free on the file system: evicting rows alone frees nothing on disk,
  /// because the index gets shorter at a checkpoint. On the index thread.
  ///
  /// - Parameter extra: bytes to free in addition to the shortage.
  /// - Returns: whether there was a log to empty.
  @discardableResult
  func emptyLogForFileSystem(extra: Int64 = 0) -> Bool {
    guard let shortage = freeSpace.shortage(in: directory.root), shortage.saturatingAdd(extra) > 0 else {
      return false
    }
    let hasLog = logBytes > 0
    if hasLog { _ = try? index.truncateLog(waiting: false) }
    freeSpace.askAgain()
    return hasLog
  }

  /// Makes a checkpoint if the index has no entries; on the index thread. Its file then gets short, if a process
  /// removed everything and ended before its checkpoint. Waits, for some seconds at most, for connections that read
  /// an old state, such as that of the sweep after opening.
  func shortenIfEmpty() throws(CacheError) {
    guard logBytes > 0, try index.withWriter(IndexState.init).entries == 0 else { return }
    try index.truncateLog(waiting: true)
  }
}
