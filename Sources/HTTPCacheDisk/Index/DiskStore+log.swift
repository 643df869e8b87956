import CSQLite
import HTTPCacheStore

/// The log of the index. Its bytes count as usage.
extension DiskStore {
  /// Keeps the log within its limit; on the index thread.
  ///
  /// - Throws: `CacheError.busy` if the log is far above its limit and can only grow, because a process reads
  ///   an old state of the index.
  func limitLog(_ opened: OpenDirectory) throws(CacheError) {
    guard opened.logBytes > Schema.logLimit else { return }
    try opened.index.truncateLog(waiting: false)
    guard opened.logBytes > Schema.logLimit + Schema.logSlack else { return }
    throw CacheError(
      .busy, "a process reads an old state of the index, so its log has \(opened.logBytes) bytes")
  }

  /// Sets the length of the log at which a checkpoint is made. It is shorter for a small capacity, because
  /// the log counts as usage.
  func setLogLength(of opened: OpenDirectory) {
    let pages = Int(max(16, min(Int64(Schema.logPages), currentLimits.capacity / 64 / PageCount.pageSize)))
    opened.index.setLogPages(pages)
    let limit = min(Schema.logLimit, Int64(pages + 24) * PageCount.pageSize)
    _ = try? opened.index.withWriter { (connection) throws(CacheError) in
      try connection.execute("PRAGMA journal_size_limit = \(limit)")
    }
  }

  /// Makes checkpoints until the log is empty; on a thread of the store. Other processes may write to the log
  /// meanwhile, so it may not stay empty.
  ///
  /// - Throws: `CacheError.busy` if a process has read an old state of the index for seconds.
  func emptyLog(of opened: OpenDirectory) throws(CacheError) {
    let end = clock.uptime + Self.logPatience
    repeat {
      if try opened.index.truncateLog(waiting: true) { return }
      // SQLite waits for readers and writers, but fails at once while another process makes a checkpoint: as when
      // several processes open a directory at the same time. Nothing tells when that checkpoint ends.
      sqlite3_sleep(10)
    } while clock.uptime < end
    throw CacheError(.busy, "a process reads an old state of the index, so its log stays for now")
  }

  /// The time to wait for processes that read an old state of the index, or that make a checkpoint.
  private static let logPatience = Duration.seconds(10)
}
