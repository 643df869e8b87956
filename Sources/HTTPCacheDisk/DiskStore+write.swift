import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Begins to store a response; writes nothing yet.
  ///
  /// - Throws: `CacheError.tooLarge`; `CacheError.invalidRequest` for a record that must stay in
  ///   memory; `CacheError.unavailable` if the directory vanished and cannot be made again.
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
    var parts = currentParts
    if !parts.isCurrent {
      parts = try await indexQueue.run { [self] () throws(CacheError) in try partsToWrite() }
    }
    return DiskBodyWriter(
      store: self, parts: parts, record: record, variantLimit: max(1, variantLimit),
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

  private struct Insertion: Sendable {
    var id: Int64
    var removals: Removals
    var evictions: Evictions
    /// The priority below which nothing would have had to go; nil if it is stored.
    var refusedBound: Double?
  }

  private func insert(_ entry: NewEntry, parts: StoreParts) throws(CacheError) -> CacheRecord {
    let key = entry.record.key
    let capacity = currentLimits.capacity
    guard entry.size <= capacity else {
      throw CacheError(.tooLarge, "\(entry.size) bytes, of \(capacity) in all", key: key)
    }
    let taken = batch.withLock { $0.take() }
    let result: Insertion
    do throws(CacheError) {
      result = try parts.index.write { (connection) throws(CacheError) in
        try applyBatch(taken, connection)
        return try insert(entry, connection, parts)
      }
    } catch {
      batch.withLock { $0.putBack(taken) }
      throw error
    }
    after(result.removals, in: parts)
    after(result.evictions, in: parts)
    parts.generations?.bump([key.hash])
    if let bound = result.refusedBound {
      // As if it had been stored and evicted at once.
      policy.withLock { $0.evicted(priority: bound) }
      count(CacheCounts(evictions: 1))
      if case .file(let name) = entry.body { parts.directory.removeBody(name) }
    }
    return entry.record.with(sequence: UInt64(bitPattern: result.id))
  }

  private func insert(
    _ entry: NewEntry, _ connection: SQLiteConnection, _ parts: StoreParts
  ) throws(CacheError) -> Insertion {
    let hash = entry.record.key.hash
    var state = try IndexState(connection)
    // What it replaces is out of date, whether it is stored itself or not.
    let removals = try Self.deleteReplaced(by: entry, connection)
    state.subtract(removals)
    let id = state.nextSequence()
    var evictions = Evictions(limit: .max, protected: id)
    if case .refused(let bound) = try admission(of: entry, state, connection, parts) {
      try state.save(connection)
      return Insertion(id: id, removals: removals, evictions: evictions, refusedBound: bound)
    }
    let priority = policy.withLock { $0.admissionBound(candidateHash: hash, size: entry.size) }
    try entry.insert(connection, id: id, now: clock.now, priority: priority)
    state.entries += 1
    state.bodies += entry.cost
    try evict(&evictions, &state, connection, parts)
    guard evictions.isEnough else {
      throw CacheError(.noSpace, "everything else is pinned", key: entry.record.key)
    }
    try state.save(connection)
    return Insertion(id: id, removals: removals, evictions: evictions)
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
    try await onIndex { [self] (parts) throws(CacheError) in
      let removals = try parts.index.write { (connection) throws(CacheError) in
        try Self.update(record, connection)
      }
      guard let removals else { return false }
      after(removals, in: parts)
      parts.generations?.bump([record.key.hash])
      return true
    }
  }

  /// Returns nil if the response is not stored any more.
  private static func update(
    _ record: CacheRecord, _ connection: SQLiteConnection
  ) throws(CacheError) -> Removals? {
    let id = Int64(bitPattern: record.sequence)
    let clause = SelectionClause(.key(record.key))
    var found: EntryRow?
    try connection.query(
      "SELECT \(EntryRow.columns) FROM entry WHERE id = ? AND \(clause.sql)",
      [.integer(id)] + clause.values
    ) { row in
      found = EntryRow(row)
      return false
    }
    guard let found else { return nil }
    let kept = record.storedRanges == nil ? record.with(bodyLength: found.length) : record
    let encoded = try RecordCodec.encode(kept)
    let variant = RecordCodec.variantHash(of: kept)
    var state = try IndexState(connection)
    // A freshened response may have become the same variant as another one.
    var removals = Removals()
    var same: [EntryRow] = []
    try connection.query(
      "SELECT \(EntryRow.columns) FROM entry WHERE hash = ? AND variant = ? AND id <> ?",
      [.hash(record.key.hash), .hash(variant), .integer(id)]
    ) { row in
      same.append(EntryRow(row))
      return true
    }
    for row in same {
      try row.delete(connection)
      removals.add(row)
    }
    let groups = Array(Set(record.groups))
    try connection.run(
      """
      UPDATE entry SET record = ?, variant = ?, mark = ?, invalid = ?, stored = ?, pinned = ?,
      groups = ?, size = ? WHERE id = ?
      """,
      [
        .blob(encoded), .hash(variant), .integer(state.nextSequence()),
        .integer(record.response.isInvalidated ? 1 : 0),
        .integer(record.response.responseTime.seconds), .integer(record.isPinned ? 1 : 0),
        .integer(Int64(groups.count)),
        .integer(NewEntry.size(encoded: encoded.count, length: found.length, cost: found.cost)),
        .integer(id),
      ])
    if found.groups > 0 || !groups.isEmpty {
      try connection.run("DELETE FROM membership WHERE entry = ?", [.integer(id)])
      try NewEntry.insertGroups(groups, origin: record.key.origin, id: id, connection)
    }
    state.subtract(removals)
    try state.save(connection)
    return removals
  }
}
