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
    if !parts.room.hasJoined {
      let capacity = currentLimits.capacity
      try await fileQueue.run { [parts] in parts.joinRoom(capacity: capacity) }
      indexQueue.submit { [weak self, parts] in self?.noteCapacity(in: parts) }
    }
    let record = record.knowing(invalidations: parts.invalidations(of: record.key))
    if record.storedRanges != nil {
      return try DiskPartWriter(
        store: self, parts: parts, record: record, variantLimit: max(1, variantLimit),
        limit: limit)
    }
    return DiskBodyWriter(
      store: self, parts: parts, record: record, variantLimit: max(1, variantLimit),
      limit: limit)
  }

  /// Gives a body its row.
  ///
  /// - Throws: `CacheError`; the row is then not there.
  func insert(_ entry: NewEntry, into parts: StoreParts) async throws(CacheError) -> CacheRecord {
    try await onIndex { [self] (current) throws(CacheError) in
      try requireCurrent(parts, current, key: entry.record.key)
      return try insert(entry, parts: parts)
    }
  }

  private struct Insertion: Sendable {
    var id: Int64
    /// The record as it was stored.
    var record: CacheRecord
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
    try limitLog(parts)
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
    if entry.cost == 0 { freeSpace.didUse(entry.size) } else { freeSpace.askAgain() }
    after(result.removals, in: parts)
    after(result.evictions, in: parts)
    parts.generations?.bump([key.hash])
    if let bound = result.refusedBound {
      // As if it had been stored and evicted at once.
      policy.withLock { $0.evicted(priority: bound) }
      count(CacheCounts(evictions: 1))
      if case .file(let name) = entry.body { parts.directory.removeBody(name) }
    }
    return result.record.with(sequence: UInt64(bitPattern: result.id))
  }

  private func insert(
    _ entry: NewEntry, _ connection: SQLiteConnection, _ parts: StoreParts
  ) throws(CacheError) -> Insertion {
    let hash = entry.record.key.hash
    var state = try IndexState(connection)
    // What it replaces is out of date, whether it is stored itself or not.
    var removals = Removals()
    try Self.deletePredecessor(of: entry, &removals, connection)
    try Self.deleteReplaced(by: entry, &removals, connection)
    state.subtract(removals)
    let id = state.nextSequence()
    let record = Self.overtaken(entry.record, in: parts)
    var evictions = Evictions(limit: Self.evictionLimit, protected: id)
    if case .refused(let bound) = try admission(of: entry, state, connection, parts) {
      try state.save(connection)
      return Insertion(
        id: id, record: record, removals: removals, evictions: evictions, refusedBound: bound)
    }
    let priority = policy.withLock { policy in
      policy.expect(entries: Int(clamping: state.entries))
      return policy.admissionBound(candidateHash: hash, size: entry.size)
    }
    try entry.insert(
      connection, id: id, now: clock.now, priority: priority,
      isInvalidated: record.response.isInvalidated)
    state.entries += 1
    state.bodies += entry.cost
    try evict(&evictions, &state, connection, parts)
    guard evictions.isEnough else {
      // What is far too much, as after a change of the capacity, goes a part at a time.
      trimInBackground()
      throw CacheError(.noSpace, noRoomReason(in: parts), key: entry.record.key)
    }
    try state.save(connection)
    return Insertion(id: id, record: record, removals: removals, evictions: evictions)
  }

  /// Takes out the row that the same body had before; its file stays if it has it still.
  private static func deletePredecessor(
    of entry: NewEntry, _ removals: inout Removals, _ connection: SQLiteConnection
  ) throws(CacheError) {
    guard let predecessor = entry.predecessor else { return }
    let row = try EntryRow.find(
      "id = ? AND partial = 1", [.integer(predecessor.id)], connection
    ).first
    guard let row else {
      guard predecessor.isRequired else { return }
      throw CacheError(.unavailable, "the part is not stored any more", key: entry.record.key)
    }
    try row.delete(connection)
    removals.add(row, keeping: entry.file)
  }

  /// Takes out what an entry replaces, and the oldest ones beyond its limit. A part of a body leaves the
  /// whole of its variant alone.
  private static func deleteReplaced(
    by entry: NewEntry, _ removals: inout Removals, _ connection: SQLiteConnection
  ) throws(CacheError) {
    let key = entry.record.key
    let variant = SQLiteValue.hash(RecordCodec.variantHash(of: entry.record))
    let isWhole = entry.record.isComplete
    var replaced = try EntryRow.find(
      "hash = ? AND variant = ?" + (isWhole ? "" : " AND partial = 1"),
      [.hash(key.hash), variant], connection)
    let clause = SelectionClause(.key(key))
    let others = try EntryRow.find(
      "\(clause.sql) AND variant <> ? ORDER BY id DESC", clause.values + [variant], connection)
    let twins =
      isWhole
      ? 0
      : try connection.number(
        "SELECT count(*) FROM entry WHERE hash = ? AND variant = ? AND partial = 0",
        [.hash(key.hash), variant]) ?? 0
    replaced += others.dropFirst(max(0, entry.variantLimit - 1 - Int(clamping: twins)))
    for row in replaced {
      try row.delete(connection)
      removals.add(row)
    }
  }
}
