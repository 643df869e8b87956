import HTTPCacheStore

extension DiskStore {
  /// Removes rows. Where the disk is so full that not even the log has room for that, the files of
  /// their bodies go first: a row whose file is gone is a miss.
  ///
  /// - Parameters:
  ///   - sql: finds the rows, with `EntryRow.columns`.
  ///   - work: removes them; done again once there is room.
  func makingRoom<Value>(
    in opened: OpenDirectory, _ sql: String, _ values: [SQLiteValue] = [],
    _ work: () throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    do throws(CacheError) { return try work() } catch {
      guard error.code == .noSpace else { throw error }
      let files = try opened.index.read { (connection) throws(CacheError) in
        var removals = Removals()
        try connection.query(sql, values) { row in
          removals.add(EntryRow(row))
          return true
        }
        return removals.files.map(\.name)
      }
      for file in files { opened.directory.removeBody(file) }
      // What the log has got so far is not needed twice.
      _ = try? opened.index.truncateLog(waiting: true)
      return try work()
    }
  }
}
