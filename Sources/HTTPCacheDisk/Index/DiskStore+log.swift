import HTTPCacheStore

/// The index's log, which counts like everything else in the directory.
extension DiskStore {
  /// Keeps the log within its limit; on the index's thread.
  ///
  /// - Throws: `CacheError.busy` if a process reads an old state of the index, so that its log can only
  ///   grow, and it is far too large already.
  func limitLog(_ opened: OpenDirectory) throws(CacheError) {
    guard opened.logBytes > Schema.logLimit else { return }
    try opened.index.truncateLog(waiting: false)
    guard opened.logBytes > Schema.logLimit + Schema.logSlack else { return }
    throw CacheError(.busy, "somebody holds the index's log, which has \(opened.logBytes) bytes")
  }

  /// How large the log gets before it is played into the database: less where it would take much of the
  /// capacity.
  func setLogLength(of opened: OpenDirectory) {
    let pages = Int(max(16, min(Int64(Schema.logPages), currentLimits.capacity / 64 / PageCount.pageSize)))
    opened.index.setLogPages(pages)
    let limit = min(Schema.logLimit, Int64(pages + 24) * PageCount.pageSize)
    _ = try? opened.index.withWriter { (connection) throws(CacheError) in
      try connection.execute("PRAGMA journal_size_limit = \(limit)")
    }
  }

  /// Gives all pages that the index does not use back to the file system; on the index's thread.
  func giveBackAllPages(of opened: OpenDirectory) throws(CacheError) {
    try opened.index.withWriter { (connection) throws(CacheError) in try connection.giveBackAllPages() }
  }

  /// Plays the log into the database until nothing is left in it; on a thread of the store's own. What others
  /// write meanwhile is in the log as well, which is then not empty for long.
  ///
  /// - Parameter before: done before each try.
  /// - Throws: `CacheError.busy` if a process has read an old state of the index for seconds.
  func emptyLog(
    of opened: OpenDirectory, before: () throws(CacheError) -> Void = {}
  ) throws(CacheError) {
    for _ in 0..<5 {
      try before()
      try opened.index.truncateLog(waiting: true)
      if opened.logBytes == 0 { return }
    }
    throw CacheError(.busy, "somebody reads an old state of the index, so its log stays for now")
  }
}
