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
      try? parts.becomeOwner()
      batch.withLock { $0.refusals = RecentRefusals(limit: 256) }
      return try makingRoom(
        in: parts, "SELECT \(EntryRow.columns) FROM entry WHERE file IS NOT NULL"
      ) {
        () throws(CacheError) in try removeAll(from: parts)
      }
    }
  }

  private func removeAll(from parts: StoreParts) throws(CacheError) -> Int {
    parts.noteInvalidation(.all)
    let last = try removeFiles(from: parts)
    let (count, removals) = try removeRows(after: last, from: parts)
    parts.bumpGenerations(.all)
    recentRecords.removeAll()
    after(removals, in: parts)
    // All is removed. If the file cannot get shorter now, it does when the directory is opened next.
    try? shortenIfRemoved(parts)
    return count
  }

  /// Removes all rows.
  ///
  /// - Parameter last: the highest id of a row of a whole body whose file is gone.
  /// - Returns: how many there were, and which files are to go now.
  private func removeRows(
    after last: Int64, from parts: StoreParts
  ) throws(CacheError) -> (count: Int, removals: Removals) {
    do throws(CacheError) {
      return try parts.index.write { (connection) throws(CacheError) in
        var removals = Removals()
        try connection.query(
          """
          SELECT file, partial, cost FROM entry
          WHERE file IS NOT NULL AND (id > ? OR partial = 1)
          """, [.integer(last)]
        ) { row in
          guard let name = row.text(0).flatMap({ BodyName(path: $0) }) else { return true }
          removals.add(name, cost: EntryRow.bounded(row.integer(2)), isPartial: row.integer(1) != 0)
          return true
        }
        var state = try IndexState(connection)
        let count = Int(clamping: state.entries)
        try Self.deleteAllRows(connection, number: state.nextSequence())
        state.entries = 0
        state.bodies = 0
        try state.save(connection)
        parts.noteInvalidation(.all)
        parts.bumpGenerations(.all)
        return (count, removals)
      }
    } catch {
      // As it was, for this connection as well.
      try? parts.index.withWriter { (connection) throws(CacheError) in
        try connection.execute(Self.keepingPages)
      }
      throw error
    }
  }

  /// Deletes the files of whole bodies. They go before their rows: a row without its file is a miss, but a
  /// file without a row would lie there, uncounted, if the process ended between the two.
  ///
  /// - Returns: the highest id of a row whose file went.
  private func removeFiles(from parts: StoreParts) throws(CacheError) -> Int64 {
    let last = try parts.index.withWriter { (connection) throws(CacheError) in
      try IndexState(connection).sequence
    }
    var path = ""
    while true {
      let files = try parts.index.read { (connection) throws(CacheError) in
        var files: [String] = []
        try connection.query(
          """
          SELECT file FROM entry WHERE file IS NOT NULL AND file > ? AND partial = 0
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

  /// Deletes all rows, and leaves all their pages out of the database with the same commit: overwriting them,
  /// or taking them off the list of free ones, would put all of them into the log. The file gets shorter when the
  /// log is played into it; until then a flag says so, however the process ends.
  ///
  /// - Parameter number: another one each time, so that nobody takes the flag of another removal away.
  private static func deleteAllRows(
    _ connection: SQLiteConnection, number: Int64
  ) throws(CacheError) {
    // Somebody may have made an index of it that cannot give pages back; there they are overwritten.
    let givesBack = try connection.number("PRAGMA auto_vacuum") ?? 0 > 0
    // When such a statement is prepared, it is done.
    defer { if givesBack { try? connection.execute("PRAGMA secure_delete = ON") } }
    if givesBack { try connection.execute("PRAGMA secure_delete = FAST; PRAGMA auto_vacuum = FULL") }
    for table in ["entry", "block", "membership", "epoch", "refusal"] {
      try connection.run("DELETE FROM \(table)")
    }
    try connection.run("INSERT OR REPLACE INTO meta VALUES ('removed', ?)", [.integer(number)])
  }

  /// What the index does with pages that become free: nothing, until it is told to.
  static let keepingPages = "PRAGMA auto_vacuum = INCREMENTAL"

  /// Plays the log into the file, which gets shorter by that, if everything was removed; on the index's thread.
  func shortenIfRemoved(_ parts: StoreParts) throws(CacheError) {
    let flag = try parts.index.withWriter { (connection) throws(CacheError) in
      try connection.number("SELECT value FROM meta WHERE name = 'removed'")
    }
    guard let flag else { return }
    try parts.index.withWriter { (connection) throws(CacheError) in
      // Who was killed in between left it otherwise.
      try connection.execute(Self.keepingPages)
      try connection.truncateLog(waiting: true)
    }
    // Somebody reads what was there before.
    guard parts.logBytes == 0 else { return }
    _ = try parts.index.write { (connection) throws(CacheError) in
      try connection.run("DELETE FROM meta WHERE name = 'removed' AND value = ?", [.integer(flag)])
    }
    try parts.index.withWriter { (connection) throws(CacheError) in
      try connection.truncateLog(waiting: false)
    }
  }
}
