import HTTPCacheSemantics
import HTTPCacheStore

extension DiskStore {
  /// What a response takes the place of is out of date, also if that one is not worth what would have to go
  /// for it, and is not stored.
  ///
  /// - Returns: the record, as if it had been stored and evicted at once.
  /// - Throws: `CacheError`; `CacheError.superseded` if what is stored is more recent.
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
          try row.delete(connection)
          removals.add(row)
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

  /// Refuses a body that completes a part, or adds to one, whose row is gone.
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

  /// Takes out the row that the same body had before; its file stays if it has it still.
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

  /// What an entry replaces, and the oldest ones beyond its limit and that of other keys with its hash. A part
  /// of a body leaves the whole of its variant alone.
  static func replaced(
    by entry: NewEntry, _ hashes: RowHashes, _ connection: SQLiteConnection
  ) throws(CacheError) -> [EntryRow] {
    let isWhole = entry.record.isComplete
    var replaced: [EntryRow] = []
    // Of other variants, the latest first, and the whole of the same.
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
