import HTTPCacheFiles
import HTTPCacheStore

extension DiskStore {
  /// Removes rows. If the disk is too full even for the log of this change, deletes the body files of the
  /// rows first: a row without its file is a miss.
  ///
  /// - Parameters:
  ///   - condition: finds the rows.
  ///   - work: removes the rows; called again once there is space.
  func makingRoom<Value>(
    in opened: OpenDirectory, _ condition: String, _ values: [SQLiteValue] = [],
    _ work: () throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    do throws(CacheError) { return try work() } catch {
      guard error.code == .noSpace else { throw error }
      let files = try opened.index.read { (connection) throws(CacheError) in
        try EntryRow.find(condition, values, connection).filter { !$0.isPartial }.compactMap(\.file)
      }
      for file in files { opened.directory.removeBody(file) }
      // A checkpoint frees the space of the log.
      _ = try? opened.index.truncateLog(waiting: true)
      return try work()
    }
  }
}
