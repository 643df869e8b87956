import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Removes everything: all rows in one transaction, then the body files, then the free pages of the index.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError`.
  func removeAll() async throws(CacheError) -> Int {
    try await onIndex { [self] (opened) throws(CacheError) in
      // If this process ends before it raises the counters, the next process finds its free owner lock.
      try? opened.becomeOwner()
      batch.withLock { $0.refusals = RecentRefusals(limit: 256) }
      opened.noteInvalidation(.all)
      let bodies = "SELECT \(EntryRow.columns) FROM entry WHERE file IS NOT NULL"
      let (count, removals) = try makingRoom(in: opened, bodies) { () throws(CacheError) in
        try removeAllRows(from: opened)
      }
      opened.bumpGenerations(.all)
      recentRecords.removeAll()
      after(removals, in: opened)
      // The responses are removed already. If the index cannot shrink now, it shrinks when it is opened next.
      try? shrinkIfEmpty(opened)
      return count
    }
  }

  /// Removes all rows. Their pages become free but are not overwritten: overwriting would put all of them
  /// into the log. `shrinkIfEmpty` cuts the pages off.
  private func removeAllRows(
    from opened: OpenDirectory
  ) throws(CacheError) -> (count: Int, removals: Removals) {
    try opened.index.withWriter { (connection) throws(CacheError) in
      try connection.execute("PRAGMA secure_delete = FAST")
    }
    defer {
      try? opened.index.withWriter { (connection) throws(CacheError) in
        try connection.execute("PRAGMA secure_delete = ON")
      }
    }
    return try opened.index.write { (connection) throws(CacheError) in
      var removals = Removals()
      try connection.query("SELECT file, partial, cost FROM entry WHERE file IS NOT NULL") { row in
        guard let name = row.text(0).flatMap({ BodyName(path: $0) }) else { return true }
        removals.add(name, cost: EntryRow.bounded(row.integer(2)), isPartial: row.integer(1) != 0)
        return true
      }
      var state = try IndexState(connection)
      let count = Int(clamping: state.entries)
      for table in ["entry", "block", "membership", "epoch", "refusal"] {
        try connection.run("DELETE FROM \(table)")
      }
      _ = state.nextSequence()
      state.entries = 0
      state.bodies = 0
      try state.save(connection)
      opened.noteInvalidation(.all)
      opened.bumpGenerations(.all)
      return (count, removals)
    }
  }

  /// Gives the free pages of an index without entries back to the file system, including the bytes of removed
  /// rows in them; on the index thread. Waits, for some seconds at most, for connections that read an old state, such
  /// as that of the sweep after opening.
  func shrinkIfEmpty(_ opened: OpenDirectory) throws(CacheError) {
    try opened.index.withWriter { (connection) throws(CacheError) in
      guard try IndexState(connection).entries == 0 else { return }
      // Use `VACUUM`, because little is left. Giving the pages back one by one takes seconds for 100,000 rows.
      if try PageCount(connection).free > 0 { try connection.makeAnew() }
      // The file gets shorter only at a checkpoint.
      if opened.logBytes > 0 { try connection.truncateLog(waiting: true) }
    }
  }
}
