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
      let (updated, wasPinned) = try opened.index.write { (connection) throws(CacheError) in
        let id = Int64(bitPattern: record.sequence)
        let wasPinned = try connection.number(Self.pinned, [.integer(id)]) == 1
        let compared = Self.compared(record, in: opened)
        var updated: Updated?
        if try Self.isSuperseded(update: compared, in: opened, connection) {
          if record.response.isInvalidated { try Self.mark(id, connection) }
        } else {
          updated = try Self.update(compared, opened.hashes, connection)
        }
        if record.response.isInvalidated { opened.noteInvalidation(.key(record.key)) }
        if updated != nil || record.response.isInvalidated { opened.bumpGenerations(.key(record.key)) }
        return (updated, wasPinned)
      }
      guard let (removals, mark) = updated else {
        if record.response.isInvalidated { opened.bumpGenerations(.key(record.key)) }
        return false
      }
      opened.didCommit(mark, record)
      // An entry that is no longer pinned may have to be evicted.
      if wasPinned, !record.isPinned { trimInBackground() }
      after(removals, in: opened)
      opened.bumpGenerations(.key(record.key))
      return true
    }
  }

  private static let pinned = "SELECT pinned FROM entry WHERE id = ?"

  /// The record as it must be stored: invalidated if any process invalidated or removed a matching selection
  /// after the request was sent (RFC 9111 §4.4). Call this within the transaction that stores the record.
  static func compared(_ record: CacheRecord, in opened: OpenDirectory) -> CacheRecord {
    guard !record.response.isInvalidated, let ticket = record.ticket,
      opened.isOvertaken(record.key, groups: record.groups, since: ticket)
    else { return record }
    return record.with(response: record.response.invalidated)
  }

  /// The rows that an update replaced, and the number of the change.
  private typealias Updated = (removals: Removals, mark: Int64)

  /// Updates the row of a record. Returns nil if the response is no longer stored.
  private static func update(
    _ record: CacheRecord, _ hashes: RowHashes, _ connection: SQLiteConnection
  ) throws(CacheError) -> Updated? {
    let id = Int64(bitPattern: record.sequence)
    let clause = SelectionClause(.key(record.key), hashes)
    let found = try EntryRow.find(
      "id = ? AND \(clause.sql)", [.integer(id)] + clause.values, connection
    ).first
    guard let found, let mark = try RowMark(of: id, connection), !mark.isRemoved else { return nil }
    var record = record
    if record.ticket == nil, mark.isInvalidated, !record.response.isInvalidated {
      record = record.with(response: record.response.invalidated)
    }
    var kept = record.storing(nil, bodyLength: found.length)
    if found.isPartial {
      // A writer may have added to the body since the caller read the record.
      let stored = try Self.record(of: id, connection)
      kept = record.storing(stored.storedRanges, bodyLength: stored.bodyLength)
    }
    var state = try IndexState(connection)
    let removals = try rewrite(found, kept, &state, hashes, connection)
    state.subtract(removals)
    try state.save(connection)
    return (removals, state.sequence)
  }

  /// Writes a record into an existing row.
  ///
  /// - Returns: rows of the same variant, which were replaced. The caller subtracts them from `state`.
  private static func rewrite(
    _ found: EntryRow, _ record: CacheRecord, _ state: inout IndexState, _ hashes: RowHashes,
    _ connection: SQLiteConnection
  ) throws(CacheError) -> Removals {
    let id = found.id
    let encoded = try RecordCodec.encode(record)
    // The freshened response may now have the same variant as another row.
    var removals = Removals()
    for row in try HashRow.twins(
      of: record, isPartial: found.isPartial, except: id, hashes, connection)
    {
      try removals.delete(row, connection)
    }
    let groups = Array(Set(record.groups))
    let size = NewEntry.size(encoded: encoded.count, length: found.length, cost: found.cost)
    try connection.run(
      """
      UPDATE entry SET record = ?, variant = ?, mark = ?, invalid = ?, stored = ?, pinned = ?,
      groups = ?, size = ? WHERE id = ?
      """,
      [
        .blob(encoded), .hash(hashes.variantHash(of: record)), .integer(state.nextSequence()),
        .integer(record.response.isInvalidated ? 1 : 0),
        .integer(record.response.responseTime.seconds), .integer(record.isPinned ? 1 : 0),
        .integer(Int64(groups.count)), .integer(size), .integer(id),
      ])
    if found.groups > 0 || !groups.isEmpty {
      try connection.run("DELETE FROM membership WHERE entry = ?", [.integer(id)])
      try NewEntry.insertGroups(groups, origin: record.key.origin, id: id, connection)
    }
    return removals
  }
}
