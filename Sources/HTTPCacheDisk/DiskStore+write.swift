import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Begins to store a response; does no input or output yet.
  ///
  /// - Throws: `CacheError.tooLarge`; `CacheError.invalidRequest` for a record that must stay in
  ///   memory.
  public func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter {
    guard !record.isMemoryOnly else {
      throw CacheError(.invalidRequest, "the record must not go to disk", key: record.key)
    }
    let limit = currentLimits.longestBody
    let stored =
      record.storedRanges.map { $0.reduce(0) { $0.saturatingAdd($1.upperBound - $1.lowerBound) } }
      ?? record.bodyLength ?? 0
    guard stored <= limit else {
      throw CacheError(
        .tooLarge, "\(stored) bytes, at most \(limit) are stored", key: record.key)
    }
    return DiskBodyWriter(
      store: self, parts: try partsToRead(), record: record, variantLimit: max(1, variantLimit),
      limit: limit)
  }

  /// Gives a complete body its row.
  ///
  /// - Throws: `CacheError`; the row is then not there.
  func insert(_ entry: NewEntry, into parts: StoreParts) async throws(CacheError) -> CacheRecord {
    try await onIndex { [self] (current) throws(CacheError) in
      guard current === parts else {
        throw CacheError(.unavailable, "the index was replaced", key: entry.record.key)
      }
      return try insert(entry, parts: parts)
    }
  }

  private func insert(_ entry: NewEntry, parts: StoreParts) throws(CacheError) -> CacheRecord {
    let key = entry.record.key
    let now = clock.now
    let priority = policy.withLock { policy in
      policy.priority(
        bucket: policy.bucket(frequency: policy.frequency(of: key.hash), size: entry.size))
    }
    let taken = batch.withLock { $0.take() }
    let madeShards = parts.directory.takeMadeShards()
    let result: (id: Int64, removals: Removals, evictions: Evictions)
    do throws(CacheError) {
      result = try parts.index.write { (connection) throws(CacheError) in
        try applyBatch(taken, connection)
        var state = try IndexState(connection)
        state.bodies += Int64(madeShards) * PageCount.pageSize
        var removals = try Self.deleteReplaced(by: entry, connection)
        let id = state.nextSequence()
        try entry.insert(connection, id: id, now: now, priority: priority)
        state.entries += 1
        state.bodies += entry.cost
        state.subtract(removals)
        var evictions = Evictions(limit: .max, protected: id)
        evictions.candidate = (key.hash, entry.size)
        try evict(&evictions, &state, connection, parts)
        guard evictions.isEnough else {
          throw CacheError(.noSpace, "it does not fit into the capacity", key: key)
        }
        removals.count += evictions.removals.count
        try state.save(connection)
        return (id, removals, evictions)
      }
    } catch {
      batch.withLock { $0.putBack(taken) }
      parts.directory.putBackMadeShards(madeShards)
      throw error
    }
    after(result.removals, in: parts)
    after(result.evictions, in: parts)
    parts.generations?.bump([key.hash])
    return entry.record.with(sequence: UInt64(bitPattern: result.id))
  }

  /// Takes out the variant that an entry replaces, and the oldest ones beyond its limit.
  private static func deleteReplaced(
    by entry: NewEntry, _ connection: SQLiteConnection
  ) throws(CacheError) -> Removals {
    var removals = Removals()
    let key = entry.record.key
    let variant = RecordCodec.variantHash(of: entry.record)
    var replaced: [EntryRow] = []
    try connection.query(
      "SELECT \(EntryRow.columns) FROM entry WHERE hash = ? AND variant = ?",
      [.hash(key.hash), .hash(variant)]
    ) { row in
      replaced.append(EntryRow(row))
      return true
    }
    let clause = SelectionClause(.key(key))
    var others = 0
    try connection.query(
      """
      SELECT \(EntryRow.columns) FROM entry WHERE \(clause.sql) AND variant <> ? ORDER BY id DESC
      """, clause.values + [.hash(variant)]
    ) { row in
      others += 1
      if others >= entry.variantLimit { replaced.append(EntryRow(row)) }
      return true
    }
    for row in replaced {
      try row.delete(connection)
      removals.add(row)
    }
    return removals
  }

  /// Replaces the record of a stored response and keeps its body.
  ///
  /// - Returns: whether the response was still there.
  /// - Throws: `CacheError`.
  @discardableResult
  public func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    let now = clock.now
    return try await onIndex { (parts) throws(CacheError) in
      let updated = try parts.index.write { (connection) throws(CacheError) in
        try Self.update(record, now: now, connection)
      }
      if updated { parts.generations?.bump([record.key.hash]) }
      return updated
    }
  }

  private static func update(
    _ record: CacheRecord, now: Timestamp, _ connection: SQLiteConnection
  ) throws(CacheError) -> Bool {
    let id = Int64(bitPattern: record.sequence)
    var found: (length: Int64, cost: Int64, groups: Int64)?
    try connection.query(
      "SELECT length, cost, groups FROM entry WHERE id = ? AND hash = ? AND variant = ?",
      [.integer(id), .hash(record.key.hash), .hash(RecordCodec.variantHash(of: record))]
    ) { row in
      found = (row.integer(0), row.integer(1), row.integer(2))
      return false
    }
    guard let found else { return false }
    let kept = record.storedRanges == nil ? record.with(bodyLength: found.length) : record
    let encoded = try RecordCodec.encode(kept)
    var state = try IndexState(connection)
    let groups = Array(Set(record.groups))
    try connection.run(
      """
      UPDATE entry SET record = ?, mark = ?, invalid = ?, stored = ?, pinned = ?, groups = ?, size = ?
      WHERE id = ?
      """,
      [
        .blob(encoded), .integer(state.nextSequence()),
        .integer(record.response.isInvalidated ? 1 : 0), .integer(now.seconds),
        .integer(record.isPinned ? 1 : 0), .integer(Int64(groups.count)),
        .integer(NewEntry.size(encoded: encoded.count, length: found.length, cost: found.cost)),
        .integer(id),
      ])
    if found.groups > 0 || !groups.isEmpty {
      try connection.run("DELETE FROM membership WHERE entry = ?", [.integer(id)])
      try NewEntry.insertGroups(groups, origin: record.key.origin, id: id, connection)
    }
    try state.save(connection)
    return true
  }
}
