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
    let (count, removals) = try parts.index.write { (connection) throws(CacheError) in
      var removals = Removals()
      try connection.query("SELECT file, partial FROM entry WHERE file IS NOT NULL AND listed = 1") { row in
        guard let name = row.text(0).flatMap({ BodyName(path: $0) }) else { return true }
        if row.integer(1) != 0 {
          removals.partialFiles.append(name)
        } else {
          removals.files.append(name)
        }
        return true
      }
      var state = try IndexState(connection)
      let cost =
        try connection.number("SELECT total(cost) FROM entry WHERE file IS NOT NULL AND listed = 1") ?? 0
      let count = Int(clamping: state.entries)
      try Self.deleteAllRows(connection)
      state.entries = 0
      state.bodies = max(0, state.bodies.saturatingSubtract(cost))
      try state.save(connection)
      parts.bumpInvalidations(.all)
      return (count, removals)
    }
    parts.bumpInvalidations(.all)
    parts.generations?.bumpAll()
    after(removals, in: parts)
    try makeAnewIfRemoved(parts)
    try parts.index.withWriter { (connection) throws(CacheError) in
      try connection.truncateLog(waiting: true)
    }
    return count
  }

  /// Deletes all rows. The pages that they leave are not overwritten, which would put all of them into the log:
  /// the file is made anew after that, and until then a flag says so, however the process ends.
  private static func deleteAllRows(_ connection: SQLiteConnection) throws(CacheError) {
    // When such a statement is prepared, it is done.
    try connection.execute("PRAGMA secure_delete = FAST")
    defer { try? connection.execute("PRAGMA secure_delete = ON") }
    for table in ["entry", "block", "piece", "membership", "epoch", "refusal"] {
      try connection.run("DELETE FROM \(table)")
    }
    try connection.run("INSERT OR REPLACE INTO meta VALUES ('removed', 1)")
  }

  /// Copies what is in the index to new pages, and gives all others back, if everything was removed from it;
  /// on the index's thread.
  func makeAnewIfRemoved(_ parts: StoreParts) throws(CacheError) {
    let flag = try parts.index.readLatest { (connection) throws(CacheError) in
      try connection.number("SELECT value FROM meta WHERE name = 'removed'")
    }
    guard flag == 1 else { return }
    try parts.index.withWriter { (connection) throws(CacheError) in try connection.execute("VACUUM") }
    _ = try parts.index.write { (connection) throws(CacheError) in
      try connection.run("DELETE FROM meta WHERE name = 'removed'")
    }
  }
}
