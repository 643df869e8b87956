import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Gives a body its row: on the calling thread if that waits for nobody and nothing has to go for it, else
  /// on the index's, together with all others that wait for theirs.
  ///
  /// - Throws: `CacheError`; the row is then not there.
  func insert(_ entry: NewEntry, into parts: StoreParts) async throws(CacheError) -> CacheRecord {
    if let record = try insertIfFree(entry, parts: parts) { return record }
    return try await waitingInsertions.wait(for: entry, in: parts, of: self)
  }

  /// - Returns: nil if it has to be done on the index's thread.
  func insertIfFree(_ entry: NewEntry, parts: StoreParts) throws(CacheError) -> CacheRecord? {
    guard entry.predecessor == nil, parts === currentParts, parts.hasSharedCounters else { return nil }
    let inserted: Insertion?
    do throws(CacheError) {
      inserted = try parts.index.writeIfFree { (connection, known) throws(CacheError) -> Insertion? in
        guard try hasRoom(for: entry, counted: entry.reserved, &known, connection, parts),
          let state = known?.state, entry.record.isComplete,
          state.unlisted < 4 * Self.mostUnlisted,
          try Self.replaced(by: entry, parts.hashes, connection).isEmpty
        else { return nil }
        return try append(entry, state, &known, connection, parts)
      }
    } catch {
      noteDamage(error, of: parts)
      throw error
    }
    guard let inserted else { return nil }
    if parts.index.hasLongLog { scheduleUpkeep(of: parts) }
    return conclude(inserted, of: entry, in: parts)
  }

  /// Does, on the index's thread, what commits leave undone: takes in the new rows, and shortens the log.
  private func scheduleUpkeep(of parts: StoreParts) {
    indexQueue.submit { [weak self] in
      guard let self, parts === currentParts else { return }
      _ = try? parts.index.listNew()
      parts.index.checkpointIfLong()
    }
  }

  /// Gives bodies their rows in one transaction; on the index's thread. Each succeeds or fails alone.
  func insert(_ entries: [NewEntry], parts: StoreParts) -> [Result<CacheRecord, CacheError>] {
    do throws(CacheError) { try limitLog(parts) } catch { return entries.map { _ in .failure(error) } }
    giveBackForFileSystem(parts)
    let taken = batch.withLock { $0.take() }
    do throws(CacheError) {
      let results = try parts.index.writeKnowing(mayGiveUp: true) { (connection, known) throws(CacheError) in
        try applyBatch(taken, parts.hashes, connection)
        // What was batched takes room, too.
        if !taken.isEmpty { known = nil }
        var results: [Result<Insertion, CacheError>] = []
        // What is reserved for entries that have their rows stays so until the commit.
        var counted: Int64 = 0
        for entry in entries {
          do throws(CacheError) {
            let reserved = entry.reserved
            let insertion = try insert(
              entry, counted: counted + reserved, alone: entries.count == 1, &known, connection, parts)
            if insertion.refusedBound == nil { counted += reserved }
            results.append(.success(insertion))
          } catch {
            known = nil
            guard entries.count > 1, connection.isInTransaction else { throw error }
            results.append(.failure(error))
          }
        }
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
    _ entry: NewEntry, counted: Int64, alone: Bool, _ known: inout KnownIndex?,
    _ connection: SQLiteConnection, _ parts: StoreParts
  ) throws(CacheError) -> Insertion {
    if alone { return try insert(entry, counted: counted, &known, connection, parts) }
    var inner = known
    let insertion = try connection.savepoint { () throws(CacheError) in
      try insert(entry, counted: counted, &inner, connection, parts)
    }
    known = inner
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
    /// How many rows are new.
    var unlisted: Int64 = 0

    /// The same, at the end of the transaction.
    func holding(in parts: StoreParts) -> Insertion {
      var insertion = self
      insertion.removals.hold(in: parts)
      insertion.evictions.removals.hold(in: parts)
      return insertion
    }
  }

  /// So many new rows are taken in at once, unless somebody needs it before.
  private static let mostUnlisted: Int64 = 64
  /// By how much taking in a row can make the database larger.
  private static let mostBytesToList: Int64 = 16 << 10

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
    if result.unlisted > 0, result.unlisted % Self.mostUnlisted == 0 { scheduleUpkeep(of: parts) }
    if let bound = result.refusedBound {
      // As if it had been stored and evicted at once.
      policy.withLock { $0.evicted(priority: bound) }
      count(CacheCounts(evictions: 1))
      if case .file(let name) = entry.body { parts.deleteRowless(name, bytes: entry.cost) }
    }
    entry.reservation?.reserve(0)
    return stored
  }

  private func insert(
    _ entry: NewEntry, counted: Int64, _ known: inout KnownIndex?, _ connection: SQLiteConnection,
    _ parts: StoreParts
  ) throws(CacheError) -> Insertion {
    let key = entry.record.key
    let hasRoom = try hasRoom(for: entry, counted: counted, &known, connection, parts)
    let capacity = currentLimits.capacity
    guard entry.size <= capacity else {
      throw CacheError(.tooLarge, "\(entry.size) bytes, of \(capacity) in all", key: key)
    }
    let replaced = try Self.replaced(by: entry, parts.hashes, connection)
    let record = Self.compared(entry.record, in: parts)
    if !replaced.isEmpty || !record.isComplete {
      try Self.requirePredecessor(of: entry, connection)
      try Self.requireNotSuperseded(record, in: parts, connection)
    }
    if hasRoom, let state = known?.state, replaced.isEmpty, entry.predecessor == nil {
      return try append(entry, state, &known, connection, parts)
    }
    known = nil
    var state = try IndexState(listing: connection)
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
    if !hasRoom,
      case .refused(let bound) = try admission(
        of: entry, counted: counted, state, connection, parts)
    {
      try state.save(connection)
      return Insertion(
        id: id, record: record, removals: removals, evictions: evictions, refusedBound: bound)
    }
    try entry.insert(
      connection, parts.hashes, id: id, now: clock.now, priority: priority(of: entry, state, parts),
      isInvalidated: record.response.isInvalidated)
    spend(entry, parts)
    state.entries += 1
    state.bodies += entry.cost
    if !hasRoom {
      try evict(&evictions, &state, connection, parts)
      guard evictions.isEnough else {
        // What is far too much, as after a change of the capacity, goes a part at a time.
        trimInBackground()
        throw CacheError(.noSpace, noRoomReason(in: parts), key: key)
      }
    }
    try state.save(connection)
    return Insertion(id: id, record: record, removals: removals, evictions: evictions)
  }

  /// Adds a row that takes the place of none, and that needs no other to go: it is listed with the next ones.
  private func append(
    _ entry: NewEntry, _ before: IndexState, _ known: inout KnownIndex?,
    _ connection: SQLiteConnection, _ parts: StoreParts
  ) throws(CacheError) -> Insertion {
    var state = before
    let id = state.nextSequence()
    let record = Self.compared(entry.record, in: parts)
    try entry.insert(
      connection, parts.hashes, id: id, now: clock.now, priority: priority(of: entry, state, parts),
      isInvalidated: record.response.isInvalidated, isListed: false)
    spend(entry, parts)
    state.entries += 1
    state.bodies += entry.cost
    state.unlisted += 1
    known?.state = state
    known?.room -= entry.mostBytes
    return Insertion(
      id: id, record: record, removals: Removals(), evictions: Evictions(limit: 0, protected: id),
      unlisted: state.unlisted)
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

  /// Whether an entry fits whatever it takes, so that nobody has to look at how large the database is
  /// before and after it.
  ///
  /// - Parameter counted: bytes that are reserved for it, and for what this transaction has stored already.
  private func hasRoom(
    for entry: NewEntry, counted: Int64, _ known: inout KnownIndex?, _ connection: SQLiteConnection,
    _ parts: StoreParts
  ) throws(CacheError) -> Bool {
    let reserved = claimedBytes(on: parts) - counted
    if let known, known.capacity == capacity(by: known.state), known.room - reserved >= entry.mostBytes,
      !freeSpace.isDue
    {
      return true
    }
    let state = if let known { known.state } else { try IndexState(connection) }
    let log = max(parts.logBytes, parts.index.mostLogBytes)
    let used = try PageCount(connection).bytes + state.bodies + parts.fixedBytes + log
    let capacity = capacity(by: state)
    var room = capacity - used - state.unlisted * Self.mostBytesToList
    if let shortage = freeSpace.shortage(in: parts.directory.root) {
      room = min(room, reserved - shortage)
    }
    known = KnownIndex(state: state, room: room, capacity: capacity)
    return room - reserved >= entry.mostBytes
  }
}
