import HTTPCacheSemantics
import HTTPCacheStore

extension DiskStore {
  /// Removes the entries that a refused response would have replaced: they are out of date even if the
  /// response is not stored.
  ///
  /// - Returns: the record, as if it had been stored and evicted at once.
  /// - Throws: `CacheError`; `CacheError.superseded` if a stored response is more recent.
  func removeReplaced(
    by entry: NewEntry, in opened: OpenDirectory
  ) async throws(CacheError) -> CacheRecord {
    try await onIndex { [self] (current) throws(CacheError) in
      try requireCurrent(opened, current, key: entry.record.key)
      let (id, removals) = try opened.index.write { (connection) throws(CacheError) in
        try Self.requireNotSuperseded(Self.compared(entry.record, in: opened), in: opened, connection)
        var removals = Removals()
        try Self.deletePredecessor(of: entry, &removals, connection)
        for row in try Self.replaced(by: entry, opened.hashes, connection) {
          try removals.delete(row, connection)
        }
        var state = try IndexState(connection)
        state.subtract(removals)
        let id = state.nextSequence()
        try state.save(connection)
        return (id, removals)
      }
      after(removals, in: opened)
      opened.generations?.bump([opened.hashes.hash(of: entry.record.key)])
      return entry.record.with(sequence: UInt64(bitPattern: id))
    }
  }

  /// Refuses a body that completes or extends a partial body whose row was removed.
  ///
  /// - Throws: `CacheError.unavailable`.
  static func requirePredecessor(
    of entry: NewEntry, _ connection: SQLiteConnection
  ) throws(CacheError) {
    guard let predecessor = entry.predecessor, predecessor.isRequired else { return }
    let rows = try EntryRow.find("id = ? AND partial = 1", [.integer(predecessor.id)], connection)
    let mark = try RowMark(of: predecessor.id, connection)
    if rows.isEmpty || mark?.isRemoved != false {
      throw CacheError(.unavailable, "the part is not stored any more", key: entry.record.key)
    }
  }

  /// Removes the row that the same body has had until now. The file stays if the new entry has the same file.
  static func deletePredecessor(
    of entry: NewEntry, _ removals: inout Removals, _ connection: SQLiteConnection
  ) throws(CacheError) {
    guard let predecessor = entry.predecessor else { return }
    let row = try EntryRow.find(
      "id = ? AND partial = 1", [.integer(predecessor.id)], connection
    ).first
    guard let row else { return try requirePredecessor(of: entry, connection) }
    try row.delete(connection)
    removals.add(row, keeping: entry.file)
  }

  /// The rows that an entry replaces, and the oldest rows beyond two limits: of variants, and of other keys
  /// with the same hash. A partial body does not replace the whole body of its variant.
  static func replaced(
    by entry: NewEntry, _ hashes: RowHashes, _ connection: SQLiteConnection
  ) throws(CacheError) -> [EntryRow] {
    let isWhole = entry.record.isComplete
    var replaced: [EntryRow] = []
    // Rows of other variants, newest first. A whole body of the same variant is counted in `twins`.
    var others: [EntryRow] = []
    var twins = 0
    let rows = try HashRow.find(entry, hashes, connection)
    for row in rows where row.isSameKey {
      if !row.isSameVariant {
        others.append(row.row)
      } else if isWhole || row.row.isPartial {
        replaced.append(row.row)
      } else {
        twins += 1
      }
    }
    return replaced + rows.surplus + others.dropFirst(max(0, entry.variantLimit - 1 - twins))
  }
}
