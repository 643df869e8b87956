import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Updates the row of a partial body with the bytes that were added.
  ///
  /// - Parameters:
  ///   - pieces: all pieces of the body.
  ///   - changed: the range in which these pieces differ from the pieces of the row.
  /// - Throws: `CacheError`; with `unavailable` if the row is gone.
  func grow(
    _ id: Int64, _ file: BodyName, to pieces: StoredPieces, changed: Range<Int64>, in opened: OpenDirectory
  ) async throws(CacheError) {
    try await onIndex { [self] (current) throws(CacheError) in
      try requireCurrent(opened, current, key: nil)
      try limitLog(opened)
      try opened.index.write { (connection) throws(CacheError) in
        let part = try StoredEntry.find(StoredEntry.ofID, [.integer(id)], connection).entries.first
        guard let row = part?.row, row.isPartial, row.file == file, let stored = part?.record else {
          throw CacheError(.unavailable, "the part is not stored any more")
        }
        let ranges = pieces.ranges
        let encoded = try RecordCodec.encode(stored.storing(ranges, bodyLength: stored.bodyLength))
        let (length, cost) = (StoredRanges.count(ranges), NewEntry.fileCost(ranges))
        try connection.run(
          "UPDATE entry SET record = ?, length = ?, cost = ?, size = ? WHERE id = ?",
          [
            .blob(encoded), .integer(length), .integer(cost),
            .integer(NewEntry.size(encoded: encoded.count, length: length, cost: cost)),
            .integer(row.id),
          ])
        try pieces.save(connection, entry: row.id, changed: changed)
        var state = try IndexState(connection)
        state.bodies = max(0, state.bodies + cost - row.cost)
        try state.save(connection)
      }
      didGrow(opened)
    }
  }

  /// Removes the row of a body that its writer discards, if there is one; on the index thread.
  func removePartial(file: BodyName, in opened: OpenDirectory) {
    _ = try? removeRows(in: opened, "file = ? AND partial = 1", [.text(file.fileName)])
  }

  func requireCurrent(
    _ opened: OpenDirectory, _ current: OpenDirectory, key: CacheKey?
  ) throws(CacheError) {
    guard current === opened else {
      throw CacheError(.unavailable, "the index was replaced", key: key)
    }
  }
}
