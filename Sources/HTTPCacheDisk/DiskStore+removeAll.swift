import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Removes everything. Nothing of it stays in the index, and the log gets next to nothing of it.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError`.
  func removeAll() async throws(CacheError) -> Int {
    try await onIndex { [self] (parts) throws(CacheError) in
      batch.withLock { $0.refusals = RecentRefusals(limit: 256) }
      return try makingRoom(
        in: parts, "SELECT \(EntryRow.columns) FROM entry WHERE file IS NOT NULL AND listed = 1"
      ) {
        () throws(CacheError) in try removeAll(from: parts)
      }
    }
  }

  private func removeAll(from parts: StoreParts) throws(CacheError) -> Int {
    let last = try removeFiles(from: parts)
    let (count, removals) = try parts.index.write { (connection) throws(CacheError) in
      var removals = Removals()
      try connection.query(
        """
        SELECT file, partial FROM entry
        WHERE file IS NOT NULL AND listed = 1 AND (id > ? OR partial = 1)
        """, [.integer(last)]
      ) { row in
        guard let name = row.text(0).flatMap({ BodyName(path: $0) }) else { return true }
        if row.integer(1) != 0 {
          removals.partialFiles.append(name)
        } else {
          removals.files.append(name)
        }
        return true
      }
      var state = try IndexState(connection)
      let count = Int(clamping: state.entries)
      try Self.deleteAllRows(connection, number: state.nextSequence())
      state.entries = 0
      state.bodies = 0
      try state.save(connection)
      parts.bumpInvalidations(.all)
      return (count, removals)
    }
    parts.bumpInvalidations(.all)
    parts.generations?.bumpAll()
    recentRecords.removeAll()
    after(removals, in: parts)
    // All is removed. If its pages cannot go now, they do when the directory is opened next.
    try? makeAnewIfRemoved(parts)
    _ = try? parts.index.withWriter { (connection) throws(CacheError) in
      try connection.truncateLog(waiting: true)
    }
    return count
  }

  /// Deletes the files of whole bodies. They go before their rows: a row without its file is a miss, but a
  /// file without a row would lie there, uncounted, if the process ended between the two.
  ///
  /// - Returns: the highest id of a row whose file went.
  private func removeFiles(from parts: StoreParts) throws(CacheError) -> Int64 {
    try parts.index.listNew()
    let last = try parts.index.readLatest { (connection) throws(CacheError) in
      try IndexState(connection).sequence
    }
    var path = ""
    while true {
      let files = try parts.index.read { (connection) throws(CacheError) in
        var files: [String] = []
        try connection.query(
          """
          SELECT file FROM entry WHERE file IS NOT NULL AND listed = 1 AND file > ? AND partial = 0
          AND id <= ? ORDER BY file LIMIT 512
          """, [.text(path), .integer(last)]
        ) { row in
          files.append(row.text(0) ?? "")
          return true
        }
        return files
      }
      guard let end = files.last, end > path else { return last }
      for file in files { if let name = BodyName(path: file) { parts.directory.removeBody(name) } }
      path = end
    }
  }

  /// Deletes all rows. The pages that they leave are not overwritten, which would put all of them into the log:
  /// the file is made anew after that, and until then a flag says so, however the process ends.
  ///
  /// - Parameter number: another one each time, so that nobody takes the flag of another removal away.
  private static func deleteAllRows(
    _ connection: SQLiteConnection, number: Int64
  ) throws(CacheError) {
    // When such a statement is prepared, it is done.
    try connection.execute("PRAGMA secure_delete = FAST")
    defer { try? connection.execute("PRAGMA secure_delete = ON") }
    for table in ["entry", "block", "piece", "membership", "epoch", "refusal"] {
      try connection.run("DELETE FROM \(table)")
    }
    try connection.run("INSERT OR REPLACE INTO meta VALUES ('removed', ?)", [.integer(number)])
  }

  /// Copies what is in the index to new pages, and gives all others back, if everything was removed from it;
  /// on the index's thread.
  func makeAnewIfRemoved(_ parts: StoreParts) throws(CacheError) {
    let flag = try parts.index.readLatest { (connection) throws(CacheError) in
      try connection.number("SELECT value FROM meta WHERE name = 'removed'")
    }
    guard let flag else { return }
    try parts.index.withWriter { (connection) throws(CacheError) in try connection.vacuum() }
    _ = try parts.index.write { (connection) throws(CacheError) in
      try connection.run("DELETE FROM meta WHERE name = 'removed' AND value = ?", [.integer(flag)])
    }
  }
}
