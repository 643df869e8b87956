import HTTPCacheSemantics
public import HTTPCacheStore

extension DiskStore {
  /// What begins the targets of all sealed responses, and the text after all of these.
  private static let (mark, afterMark) = ("sealed-", "sealed.")
  private static let mostCounted = 10_000

  /// Removes for good whatever lies in the directory in the clear, as far as files can be overwritten:
  /// rows and what SQLite keeps of removed ones, body files, indexes that were set aside. Where it was
  /// done before and nothing came since, it costs two look-ups. On the calling thread.
  ///
  /// - Returns: how many responses there were, 10,000 at most.
  /// - Throws: `CacheError`; with `busy` if another process reads the index, and something may be left in
  ///   its log.
  package func removePlain() throws(CacheError) -> Int {
    let parts = currentParts
    try parts.index.listNew()
    let (count, wasClean) = try parts.index.withWriter { (connection) throws(CacheError) in
      let count = try Self.count("target < ?", [.text(Self.mark)], connection)
      let more = try Self.count("target >= ?", [.text(Self.afterMark)], connection)
      let flag = try connection.number("SELECT value FROM meta WHERE name = 'sealed'")
      return (count + more, flag == 1)
    }
    if count == 0, wasClean { return 0 }
    for plain in ["target < '\(Self.mark)'", "target >= '\(Self.afterMark)'"] {
      let sql = "SELECT \(EntryRow.columns) FROM entry WHERE \(plain) AND listed = 1 LIMIT 256"
      while try !removeRows(in: parts, sql, []).isEmpty {}
    }
    try parts.index.write { (connection) throws(CacheError) in
      try connection.run("DELETE FROM refusal")
      try connection.run(
        """
        DELETE FROM epoch WHERE kind <> 0
        AND (scope < '\(Self.mark)' OR scope >= '\(Self.afterMark)')
        """)
    }
    parts.generations?.bumpAll()
    // Removed rows leave their bytes in the pages that they were in.
    try parts.index.withWriter { (connection) throws(CacheError) in
      try connection.execute("VACUUM")
      try connection.query("PRAGMA wal_checkpoint(TRUNCATE)") { _ in true }
    }
    _ = parts.removeSetAside()
    guard parts.logBytes == 0 else {
      throw CacheError(.busy, "the index is in use, so its log may hold what was removed")
    }
    try setSealed(true, in: parts)
    return min(count, Self.mostCounted)
  }

  /// Takes note that from now on what is stored may lie in the clear. On the calling thread.
  ///
  /// - Throws: `CacheError`.
  package func mayStorePlain() throws(CacheError) {
    let parts = currentParts
    let flag = try parts.index.read { (connection) throws(CacheError) in
      try connection.number("SELECT value FROM meta WHERE name = 'sealed'")
    }
    if flag == 1 { try setSealed(false, in: parts) }
  }

  /// How many responses lie in the directory that were sealed (`SealedStore`); 10,000 at most.
  ///
  /// - Parameter cipher: what this one sealed does not count.
  /// - Throws: `CacheError`.
  public func countSealed(except cipher: (any CacheCipher)? = nil) throws(CacheError) -> Int {
    let prefix = cipher.map { SealedStore.prefix(of: $0) }
    let parts = try partsToRead()
    try parts.index.listNew()
    return try reading(parts) { (connection) throws(CacheError) in
      guard let prefix else {
        return try Self.count(
          "target >= ? AND target < ?", [.text(Self.mark), .text(Self.afterMark)], connection)
      }
      let before = try Self.count(
        "target >= ? AND target < ?", [.text(Self.mark), .text(prefix)], connection)
      let after = try Self.count(
        "target >= ? AND target < ?", [.text(prefix + "\u{10FFFF}"), .text(Self.afterMark)],
        connection)
      return min(before + after, Self.mostCounted)
    }
  }

  private func setSealed(_ isSealed: Bool, in parts: StoreParts) throws(CacheError) {
    _ = try parts.index.write { (connection) throws(CacheError) in
      try connection.run(
        "INSERT OR REPLACE INTO meta VALUES ('sealed', ?)", [.integer(isSealed ? 1 : 0)])
    }
  }

  private static func count(
    _ condition: String, _ values: [SQLiteValue], _ connection: SQLiteConnection
  ) throws(CacheError) -> Int {
    let sql =
      "SELECT count(*) FROM (SELECT 1 FROM entry WHERE \(condition) AND listed = 1 LIMIT \(mostCounted))"
    return Int(clamping: try connection.number(sql, values) ?? 0)
  }
}
