import HTTPCacheSemantics
public import HTTPCacheStore

extension DiskStore {
  /// Replaces the record of a stored response and keeps its body.
  ///
  /// - Returns: whether the response was still there.
  /// - Throws: `CacheError`.
  @discardableResult
  public func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    try await onIndex { [self] (opened) throws(CacheError) in
      let updated = try opened.write { (connection) throws(CacheError) in
        let updated = try update(Self.compared(record, in: opened), in: opened, connection)
        if record.response.isInvalidated { opened.noteInvalidation(.key(record.key)) }
        if updated != nil || record.response.isInvalidated { opened.bumpGenerations(.key(record.key)) }
        return updated
      }
      if updated != nil || record.response.isInvalidated { opened.bumpGenerations(.key(record.key)) }
      guard let updated else { return false }
      opened.didCommit(updated.mark, record)
      // An entry that is no longer pinned may have to be evicted.
      if updated.wasPinned, !record.isPinned { trimInBackground() }
      after(updated.removals, in: opened)
      return true
    }
  }

  /// The rows that an update replaced, the number of the change, and whether the entry was pinned before.
  private typealias Updated = (removals: Removals, mark: Int64, wasPinned: Bool)

  /// Updates the row of a record. Returns nil if the response is no longer stored, or was freshened by a more
  /// recent response.
  private func update(
    _ record: CacheRecord, in opened: OpenDirectory, _ connection: SQLiteConnection
  ) throws(CacheError) -> Updated? {
    let found = try StoredEntry.find(
      StoredEntry.ofID, [.integer(Int64(bitPattern: record.sequence))], connection
    ).entries.first
    guard let found, let stored = found.record, stored.key == record.key else { return nil }
    if Self.isSuperseded(record, by: found, in: opened) {
      if record.response.isInvalidated { try Self.mark(found.row.id, connection) }
      return nil
    }
    var record = record
    if record.ticket == nil, stored.response.isInvalidated, !record.response.isInvalidated {
      record = record.with(response: record.response.invalidated)
    }
    // A writer may have added to a partial body since the caller read the record.
    let kept = record.storing(
      stored.storedRanges, bodyLength: found.row.isPartial ? stored.bodyLength : found.row.length)
    var state = try IndexState(connection)
    let removals = try rewrite(found.row, kept, &state, opened.hashes, connection)
    state.subtract(removals)
    try state.save(connection)
    return (removals, state.sequence, found.row.isPinned)
  }

  /// Writes a record into an existing row.
  ///
  /// - Returns: rows of the same variant, which were replaced. The caller subtracts them from `state`.
  private func rewrite(
    _ found: EntryRow, _ record: CacheRecord, _ state: inout IndexState, _ hashes: RowHashes,
    _ connection: SQLiteConnection
  ) throws(CacheError) -> Removals {
    let encoded = try RecordCodec.encode(record)
    let variant = RecordCodec.variant(of: record)
    var removals = Removals()
    // The freshened response may now have the same variant as another row.
    let stored = try StoredEntry.find(StoredEntry.ofHash, [.hash(found.hash)], connection).entries
    for twin in stored
    where twin.row.id != found.id && twin.row.isPartial == found.isPartial && twin.isOf(record.key)
      && twin.isOf(variant: variant)
    {
      try removals.delete(twin.row, connection)
    }
    let groups = Array(Set(record.groups))
    let size = NewEntry.size(encoded: encoded.count, length: found.length, cost: found.cost)
    try connection.run(
      """
      UPDATE entry SET record = ?, variant = ?, mark = ?, invalid = ?, stored = ?, pinned = ?,
      groups = ?, size = ? WHERE id = ?
      """,
      [
        .blob(encoded), .hash(hashes.hash(ofVariant: variant)), .integer(state.nextSequence()),
        .integer(record.response.isInvalidated ? 1 : 0),
        .integer(record.response.responseTime.seconds), .integer(record.isPinned ? 1 : 0),
        .integer(Int64(groups.count)), .integer(size), .integer(found.id),
      ])
    if found.groups > 0 || !groups.isEmpty {
      try connection.run("DELETE FROM membership WHERE entry = ?", [.integer(found.id)])
      try NewEntry.insertGroups(groups, origin: record.key.origin, id: found.id, connection)
    }
    return removals
  }
}
