import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Removes everything: all rows in one transaction, then the body files.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError`.
  func removeAll() async throws(CacheError) -> Int {
    try await onIndex { [self] (opened) throws(CacheError) in
      batch.forgetRefusals()
      opened.noteInvalidation(.all)
      let (count, removals) = try makingRoom(in: opened, "file IS NOT NULL") { () throws(CacheError) in
        try removeAllRows(from: opened)
      }
      opened.bumpGenerations(.all)
      recentRecords.removeAll()
      after(removals, in: opened)
      // The responses are removed already. If the index cannot shrink now, it shrinks when it is opened next.
      try? shortenIfEmpty(opened)
      return count
    }
  }

  /// Removes all rows. Their pages are not overwritten: overwriting would put all of them into the log. The
  /// commit drops the pages from the index, and `shortenIfEmpty` from its file.
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
    return try opened.write { (connection) throws(CacheError) in
      var removals = Removals()
      try EntryRow.each("file IS NOT NULL", [], connection) { row in
        removals.add(row)
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

  /// Makes a checkpoint if the index has no entries; on the index thread. Its file then gets short, if a process
  /// removed everything and ended before its checkpoint. Waits, for some seconds at most, for connections that read
  /// an old state, such as that of the sweep after opening.
  func shortenIfEmpty(_ opened: OpenDirectory) throws(CacheError) {
    guard opened.logBytes > 0 else { return }
    try opened.index.withWriter { (connection) throws(CacheError) in
      if try IndexState(connection).entries == 0 { try connection.truncateLog(waiting: true) }
    }
  }
}
