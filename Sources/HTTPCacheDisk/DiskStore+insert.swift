import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Gives a body its row, together with all others that wait for theirs.
  ///
  /// - Throws: `CacheError`; the row is then not there.
  func insert(_ entry: NewEntry, into parts: StoreParts) async throws(CacheError) -> CacheRecord {
    try await waitingInsertions.wait(for: entry, in: parts, of: self)
  }

  /// Gives bodies their rows in one transaction; on the index's thread. Each succeeds or fails alone.
  func insert(_ entries: [NewEntry], parts: StoreParts) -> [Result<CacheRecord, CacheError>] {
    do throws(CacheError) { try limitLog(parts) } catch { return entries.map { _ in .failure(error) } }
    giveBackForFileSystem(parts)
    let taken = batch.withLock { $0.take() }
    do throws(CacheError) {
      let results = try parts.index.write(mayGiveUp: true) { (connection) throws(CacheError) in
        try applyBatch(taken, parts.hashes, connection)
        var state = try IndexState(connection)
        var results: [Result<Insertion, CacheError>] = []
        // What is reserved for entries that have their rows stays so until the commit.
        var counted: Int64 = 0
        for entry in entries {
          do throws(CacheError) {
            let reserved = entry.reserved
            let insertion = try insert(
              entry, counted: counted + reserved, alone: entries.count == 1, &state, connection, parts)
            if insertion.refusedBound == nil { counted += reserved }
            results.append(.success(insertion))
          } catch {
            guard entries.count > 1, connection.isInTransaction else { throw error }
            results.append(.failure(error))
          }
        }
        try state.save(connection)
        return results.map { $0.map { $0.holding(in: parts) } }
      }
      return zip(entries, results).map { entry, result in
        result.map { conclude($0, of: entry, in: parts) }
      }
    } catch {
      batch.withLock { $0.putBack(taken) }
      // What failed may have been the fault of one of them, but not that somebody else writes.
      if entries.count > 1, error.code != .busy { return entries.flatMap { insert([$0], parts: parts) } }
      return entries.map { _ in .failure(error) }
    }
  }

  private func insert(
    _ entry: NewEntry, counted: Int64, alone: Bool, _ state: inout IndexState,
    _ connection: SQLiteConnection, _ parts: StoreParts
  ) throws(CacheError) -> Insertion {
    if alone { return try insert(entry, counted: counted, &state, connection, parts) }
    var inner = state
    let insertion = try connection.savepoint { () throws(CacheError) in
      try insert(entry, counted: counted, &inner, connection, parts)
    }
    state = inner
    return insertion
  }

  /// What has been done to the index for one entry.
  private struct Insertion: Sendable {
    var id: Int64
    /// The record as it was stored.
    var record: CacheRecord
    var removals: Removals
    var evictions: Evictions
    /// The priority below which nothing would have had to go; nil if it is stored.
    var refusedBound: Double?

    /// The same, at the end of the transaction.
    func holding(in parts: StoreParts) -> Insertion {
      var insertion = self
      insertion.removals.hold(in: parts)
      insertion.evictions.removals.hold(in: parts)
      return insertion
    }
  }

  /// After the commit.
  private func conclude(
    _ result: Insertion, of entry: NewEntry, in parts: StoreParts
  ) -> CacheRecord {
    // The rest was when it was written.
    freeSpace.didUse(max(0, entry.size - entry.cost))
    after(result.removals, in: parts)
    after(result.evictions, in: parts)
    parts.generations?.bump([parts.hashes.hash(of: entry.record.key)])
    let stored = result.record.with(sequence: UInt64(bitPattern: result.id))
    parts.didCommit(result.id, stored)
    if let bound = result.refusedBound {
      // As if it had been stored and evicted at once.
      policy.withLock { $0.evicted(priority: bound) }
      count(CacheCounts(evictions: 1))
      if let name = entry.file { parts.deleteRowless(name, bytes: entry.cost) }
    }
    entry.reservation?.reserve(0)
    return stored
  }

  private func insert(
    _ entry: NewEntry, counted: Int64, _ state: inout IndexState, _ connection: SQLiteConnection,
    _ parts: StoreParts
  ) throws(CacheError) -> Insertion {
    let key = entry.record.key
    let capacity = capacity(by: state)
    guard entry.size <= capacity else {
      throw CacheError(.tooLarge, "\(entry.size) bytes, of \(capacity) in all", key: key)
    }
    let replaced = try Self.replaced(by: entry, parts.hashes, connection)
    let record = Self.compared(entry.record, in: parts)
    if !replaced.isEmpty || !record.isComplete {
      try Self.requirePredecessor(of: entry, connection)
      try Self.requireNotSuperseded(record, in: parts, connection)
    }
    // What it replaces is out of date, whether it is stored itself or not.
    var removals = Removals()
    try Self.deletePredecessor(of: entry, &removals, connection)
    for row in replaced where row.id != entry.predecessor?.id {
      try row.delete(connection)
      removals.add(row)
    }
    state.subtract(removals)
    let id = state.nextSequence()
    var evictions = Evictions(limit: Self.evictionLimit, protected: id, counted: counted)
    if case .refused(let bound) = try admission(of: entry, counted: counted, state, connection, parts) {
      return Insertion(
        id: id, record: record, removals: removals, evictions: evictions, refusedBound: bound)
    }
    try entry.insert(
      connection, parts.hashes, id: id, now: clock.now, priority: priority(of: entry, state, parts),
      isInvalidated: record.response.isInvalidated)
    spend(entry, parts)
    state.entries += 1
    state.bodies += entry.cost
    try evict(&evictions, &state, connection, parts)
    guard evictions.isEnough else {
      // What is far too much, as after a change of the capacity, goes a part at a time.
      trimInBackground()
      throw CacheError(.noSpace, noRoomReason(in: parts), key: key)
    }
    return Insertion(id: id, record: record, removals: removals, evictions: evictions)
  }

  /// What goes into the index is taken off what may be written elsewhere; its body in a file was when it was
  /// written.
  private func spend(_ entry: NewEntry, _ parts: StoreParts) {
    parts.room.spend(max(0, entry.size - entry.cost))
  }

  private func priority(of entry: NewEntry, _ state: IndexState, _ parts: StoreParts) -> Double {
    policy.withLock { policy in
      policy.expect(entries: Int(clamping: state.entries))
      return policy.admissionBound(
        candidateHash: parts.hashes.hash(of: entry.record.key), size: entry.size)
    }
  }
}
