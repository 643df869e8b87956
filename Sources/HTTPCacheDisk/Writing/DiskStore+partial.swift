import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The bytes that were added to a partial body since its row was last updated.
struct PartialGrowth: Sendable {
  let id: Int64
  let file: BodyName
  let pieces: StoredPieces
  /// The range in which these pieces differ from the pieces of the row.
  let changed: Range<Int64>
}

extension DiskStore {
  /// Inserts the row of a body that is not finished. Evicts nothing for it, and never replaces a partial body
  /// that another writer is writing.
  ///
  /// - Parameter file: the file of the body. No row is inserted after its writer has ended.
  /// - Returns: the id of the row; nil if another writer is writing a partial body of the same variant.
  /// - Throws: `CacheError`.
  func insertUnfinished(
    _ entry: NewEntry, in file: BodyFile, into opened: OpenDirectory
  ) async throws(CacheError) -> Int64? {
    try await onIndex { [self] (current) throws(CacheError) in
      try requireCurrent(opened, current, key: entry.record.key)
      guard !file.hasEnded else {
        throw CacheError(.unavailable, "the writer gave up", key: entry.record.key)
      }
      try limitLog(opened)
      let inserted = try opened.index.write { (connection) throws(CacheError) in
        var state = try IndexState(connection)
        var removals = Removals()
        let rows = try HashRow.find(entry, opened.hashes, connection)
        for row in rows where row.isSameVariant && row.row.isPartial {
          if let file = row.row.file, opened.directory.isLocked(file) { return (0 as Int64, removals) }
        }
        for row in rows where row.isSameVariant && row.row.isPartial {
          try removals.delete(row.row, connection)
        }
        for row in rows.surplus {
          try removals.delete(row, connection)
        }
        state.subtract(removals)
        let id = state.nextSequence()
        let priority = policy.withLock {
          $0.admissionBound(candidateHash: opened.hashes.hash(of: entry.record.key), size: entry.size)
        }
        try entry.insert(
          connection, opened.hashes, id: id, now: clock.now, priority: priority,
          isInvalidated: Self.compared(entry.record, in: opened).response.isInvalidated)
        state.entries += 1
        state.bodies += entry.cost
        try state.save(connection)
        return (id, removals)
      }
      after(inserted.1, in: opened)
      didGrow(opened)
      return inserted.0 == 0 ? nil : inserted.0
    }
  }

  /// Updates the row of a partial body with the bytes that were added.
  ///
  /// - Throws: `CacheError`; with `unavailable` if the row is gone.
  func grow(_ growth: PartialGrowth, in opened: OpenDirectory) async throws(CacheError) {
    try await onIndex { [self] (current) throws(CacheError) in
      try requireCurrent(opened, current, key: nil)
      try limitLog(opened)
      try opened.index.write { (connection) throws(CacheError) in
        guard let row = try EntryRow.partial(growth.id, file: growth.file, connection),
          try RowMark(of: row.id, connection)?.isRemoved == false
        else { throw CacheError(.unavailable, "the part is not stored any more") }
        let stored = try Self.record(of: row.id, connection)
        let ranges = growth.pieces.ranges
        let encoded = try RecordCodec.encode(stored.storing(ranges, bodyLength: stored.bodyLength))
        let (length, cost) = (StoredRanges.count(ranges), NewEntry.fileCost(ranges))
        try connection.run(
          "UPDATE entry SET record = ?, length = ?, cost = ?, size = ? WHERE id = ?",
          [
            .blob(encoded), .integer(length), .integer(cost),
            .integer(NewEntry.size(encoded: encoded.count, length: length, cost: cost)),
            .integer(row.id),
          ])
        try growth.pieces.save(connection, entry: row.id, changed: growth.changed)
        var state = try IndexState(connection)
        state.bodies = max(0, state.bodies + cost - row.cost)
        try state.save(connection)
      }
      didGrow(opened)
    }
  }

  /// The record of a row.
  static func record(of id: Int64, _ connection: SQLiteConnection) throws(CacheError) -> CacheRecord {
    var record: CacheRecord?
    try connection.query("SELECT record FROM entry WHERE id = ?", [.integer(id)]) {
      (row) throws(CacheError) in
      record = try RecordCodec.decode(row.blob(0), sequence: UInt64(bitPattern: id))
      return false
    }
    guard let record else { throw CacheError(.unavailable, "the entry was removed") }
    return record
  }

  /// Removes the row of a body that its writer discards, if there is one; on the index thread.
  func removePartial(file: BodyName, in opened: OpenDirectory) {
    _ = try? removeRows(
      in: opened, "SELECT \(EntryRow.columns) FROM entry WHERE file = ? AND partial = 1",
      [.text(file.path)])
  }

  func requireCurrent(
    _ opened: OpenDirectory, _ current: OpenDirectory, key: CacheKey?
  ) throws(CacheError) {
    guard current === opened else {
      throw CacheError(.unavailable, "the index was replaced", key: key)
    }
  }
}
