import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// What came to a partial body.
struct PartialGrowth: Sendable {
  let id: Int64
  let file: BodyName
  let pieces: [StoredPiece]
  /// The record as it is to be, whatever its ranges; nil keeps the one there is, while more comes.
  let record: CacheRecord?
  /// What holds room for it until the row counts it; nil for a row that is told now and then.
  var reservation: WriterPhase?
}

extension DiskStore {
  /// Gives a body that is not finished its row. Nothing is evicted for it, and it never takes the place
  /// of a part that somebody else is writing.
  ///
  /// - Parameter file: what it is written into; once its writer has ended, it gets no row.
  /// - Returns: its id; nil if somebody else is writing one.
  /// - Throws: `CacheError`.
  func insertUnfinished(
    _ entry: NewEntry, in file: BodyFile, into parts: StoreParts
  ) async throws(CacheError) -> Int64? {
    try await onIndex { [self] (current) throws(CacheError) in
      try requireCurrent(parts, current, key: entry.record.key)
      guard !file.hasEnded else {
        throw CacheError(.unavailable, "the writer gave up", key: entry.record.key)
      }
      try limitLog(parts)
      let inserted = try parts.index.write { (connection) throws(CacheError) in
        var state = try IndexState(connection)
        var removals = Removals()
        let rows = try HashRow.find(entry, parts.hashes, connection)
        for row in rows where row.isSameVariant && row.row.isPartial {
          if let file = row.row.file, parts.directory.isLocked(file) { return (0 as Int64, removals) }
        }
        for row in rows where row.isSameVariant && row.row.isPartial {
          try row.row.delete(connection)
          removals.add(row.row)
        }
        for row in rows.surplus {
          try row.delete(connection)
          removals.add(row)
        }
        state.subtract(removals)
        let id = state.nextSequence()
        let priority = policy.withLock {
          $0.admissionBound(candidateHash: parts.hashes.hash(of: entry.record.key), size: entry.size)
        }
        try entry.insert(
          connection, parts.hashes, id: id, now: clock.now, priority: priority,
          isInvalidated: Self.compared(entry.record, in: parts).response.isInvalidated)
        state.entries += 1
        state.bodies += entry.cost
        try state.save(connection)
        return (id, removals)
      }
      after(inserted.1, in: parts)
      didGrow(parts)
      return inserted.0 == 0 ? nil : inserted.0
    }
  }

  /// Adds what came to the row of a partial body.
  ///
  /// - Returns: the record as stored; nil if the row is gone.
  /// - Throws: `CacheError`.
  func grow(
    _ growth: PartialGrowth, in parts: StoreParts
  ) async throws(CacheError) -> CacheRecord? {
    try await onIndex { [self] (current) throws(CacheError) in
      try requireCurrent(parts, current, key: growth.record?.key)
      try limitLog(parts)
      var evictions = Evictions(protected: growth.id)
      let grown = try parts.index.write { (connection) throws(CacheError) in
        try grow(growth, &evictions, connection, parts)
      }
      guard let grown else { return nil }
      after(grown.removals, in: parts)
      after(evictions, in: parts)
      didGrow(parts)
      growth.reservation?.reserve(0)
      if growth.record != nil { parts.generations?.bump([parts.hashes.hash(of: grown.record.key)]) }
      return grown.record
    }
  }

  private func grow(
    _ growth: PartialGrowth, _ evictions: inout Evictions, _ connection: SQLiteConnection,
    _ parts: StoreParts
  ) throws(CacheError) -> (record: CacheRecord, removals: Removals)? {
    guard let row = try EntryRow.partial(growth.id, file: growth.file, connection),
      try RowMark(of: row.id, connection)?.isRemoved == false
    else { return nil }
    let stored = try Self.record(of: row.id, connection)
    let ranges = StoredRanges.union(
      (stored.storedRanges ?? []) + growth.pieces.map { $0.start..<$0.end })
    let wanted = growth.record.map { Self.compared($0, in: parts) } ?? stored
    let record = wanted.storing(ranges, bodyLength: wanted.bodyLength).with(
      sequence: UInt64(bitPattern: row.id))
    try StoredPieces.insert(growth.pieces, entry: row.id, connection)
    var space = try measuredSpace(connection, parts)
    space.counted = growth.reservation?.reserved ?? 0
    let (length, cost) = (StoredRanges.count(ranges), NewEntry.fileCost(ranges))
    var removals = Removals()
    if growth.record != nil {
      removals = try Self.rewrite(
        row, record, length: length, cost: cost, &space.state, parts.hashes, connection)
    } else {
      let encoded = try RecordCodec.encode(record)
      try connection.run(
        "UPDATE entry SET record = ?, length = ?, cost = ?, size = ? WHERE id = ?",
        [
          .blob(encoded), .integer(length), .integer(cost),
          .integer(NewEntry.size(encoded: encoded.count, length: length, cost: cost)),
          .integer(row.id),
        ])
    }
    space.addFile(cost - row.cost)
    space.state.subtract(removals)
    if growth.record != nil {
      try evict(&evictions, &space, connection, parts)
      try giveBackPages(&evictions, &space, connection, parts)
      guard evictions.isEnough else {
        throw CacheError(.noSpace, "no room beside the index and what is pinned", key: record.key)
      }
    }
    try space.state.save(connection)
    return (record, removals)
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

  /// Removes the row of a body that its writer gives up, if it has got one; on the index's thread.
  func removePartial(file: BodyName, in parts: StoreParts) {
    _ = try? removeRows(
      in: parts, "SELECT \(EntryRow.columns) FROM entry WHERE file = ? AND partial = 1",
      [.text(file.path)])
  }

  func requireCurrent(
    _ parts: StoreParts, _ current: StoreParts, key: CacheKey?
  ) throws(CacheError) {
    guard current === parts else {
      throw CacheError(.unavailable, "the index was replaced", key: key)
    }
  }
}
