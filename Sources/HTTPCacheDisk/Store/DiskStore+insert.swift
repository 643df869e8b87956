import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Inserts the row of an entry, in one transaction with all entries that wait for their rows.
  ///
  /// - Throws: `CacheError`; no row is inserted then.
  func insert(_ entry: NewEntry, into opened: OpenDirectory) async throws(CacheError) -> CacheRecord {
    try await waitingInsertions.wait(for: entry, in: opened, of: self)
  }

  /// Inserts the rows of entries in one transaction; on the index thread. Each entry succeeds or fails alone.
  func insert(_ entries: [NewEntry], opened: OpenDirectory) -> [Result<CacheRecord, CacheError>] {
    do throws(CacheError) { try limitLog(opened) } catch { return entries.map { _ in .failure(error) } }
    giveBackForFileSystem(opened)
    let taken = batch.withLock { $0.take() }
    do throws(CacheError) {
      let (results, space) = try opened.index.write { (connection) throws(CacheError) in
        try applyBatch(taken, opened.hashes, connection)
        var space = try measuredSpace(connection, opened)
        let results = try insert(entries, &space, connection, opened)
        try space.state.save(connection)
        return (results, space)
      }
      for case .success(let insertion) in results {
        after(insertion.removals, in: opened)
        after(insertion.evictions, in: opened)
      }
      // Publish the limit after the files are deleted and before the reservations of the entries are released.
      publishLimit(space, opened)
      return zip(entries, results).map { entry, result in
        result.map { conclude($0, of: entry, in: opened) }
      }
    } catch {
      batch.withLock { $0.putBack(taken) }
      // One entry may have made the transaction fail, so try each alone; but not while another process is writing.
      if entries.count > 1, error.code != .busy { return entries.flatMap { insert([$0], opened: opened) } }
      return entries.map { _ in .failure(error) }
    }
  }

  private func insert(
    _ entries: [NewEntry], _ space: inout DiskSpace, _ connection: SQLiteConnection, _ opened: OpenDirectory
  ) throws(CacheError) -> [Result<Insertion, CacheError>] {
    if entries.count == 1 { return [.success(try insert(entries[0], &space, connection, opened))] }
    var results: [Result<Insertion, CacheError>] = []
    for entry in entries {
      var inner = space
      do throws(CacheError) {
        let insertion = try connection.savepoint { () throws(CacheError) in
          try insert(entry, &inner, connection, opened)
        }
        space = inner
        results.append(.success(insertion))
      } catch {
        guard connection.isInTransaction else { throw error }
        results.append(.failure(error))
      }
    }
    return results
  }

  /// The changes to the index for one entry.
  private struct Insertion: Sendable {
    var id: Int64
    /// The record as it is in the index.
    var record: CacheRecord
    var removals: Removals
    var evictions = Evictions()
    /// The priority that the entry would have had; nil if the entry is stored.
    var refusedPriority: Double?
  }

  /// Completes the insertion of an entry, after the commit.
  private func conclude(
    _ result: Insertion, of entry: NewEntry, in opened: OpenDirectory
  ) -> CacheRecord {
    // The free-space estimate already includes the body file.
    freeSpace.didUse(max(0, entry.size - entry.cost))
    opened.generations?.bump([opened.hashes.hash(of: entry.record.key)])
    let stored = result.record.with(sequence: UInt64(bitPattern: result.id))
    opened.didCommit(result.id, stored)
    if let priority = result.refusedPriority {
      didRefuse(priority: priority)
      if let name = entry.file { opened.deleteBody(name, bytes: entry.cost) }
    }
    entry.reservation?.reserve(0)
    return stored
  }

  private func insert(
    _ entry: NewEntry, _ space: inout DiskSpace, _ connection: SQLiteConnection, _ opened: OpenDirectory
  ) throws(CacheError) -> Insertion {
    let key = entry.record.key
    let capacity = capacity(by: space.state)
    guard entry.size <= capacity else {
      throw CacheError(.tooLarge, "\(entry.size) bytes, of \(capacity) in all", key: key)
    }
    let replaced = try Self.replaced(by: entry, opened.hashes, connection)
    let record = Self.compared(entry.record, in: opened)
    if !replaced.isEmpty || !record.isComplete {
      try Self.requirePredecessor(of: entry, connection)
      try Self.requireNotSuperseded(record, in: opened, connection)
    }
    // The replaced entries are out of date, even if the new entry is not stored.
    var removals = Removals()
    try Self.deletePredecessor(of: entry, &removals, connection)
    for row in replaced where row.id != entry.predecessor?.id {
      try removals.delete(row, connection)
    }
    space.state.subtract(removals)
    var insertion = Insertion(id: space.state.nextSequence(), record: record, removals: removals)
    var refused: Double?
    var withEntry = space
    withEntry.expect(entry)
    try evict(&insertion.evictions, &withEntry, connection, opened) { victims in
      guard !entry.record.isPinned else { return true }
      refused = refusedPriority(of: opened.hashes.hash(of: key), size: entry.size, over: victims)
      return refused == nil
    }
    insertion.refusedPriority = refused
    if refused != nil { return insertion }
    guard insertion.evictions.isEnough else {
      // A large excess, for example after a change of the capacity, is evicted in the background.
      trimInBackground()
      throw CacheError(.noSpace, noRoomReason(in: opened), key: key)
    }
    try entry.insert(
      connection, opened.hashes, id: insertion.id, now: clock.now,
      priority: priority(of: entry, space.state, opened), isInvalidated: record.response.isInvalidated)
    withEntry.didInsert()
    try giveBackPages(&insertion.evictions, &withEntry, connection, opened)
    space = withEntry
    return insertion
  }

  private func priority(of entry: NewEntry, _ state: IndexState, _ opened: OpenDirectory) -> Double {
    policy.withLock { policy in
      policy.expect(entries: Int(clamping: state.entries))
      return policy.admissionBound(
        candidateHash: opened.hashes.hash(of: entry.record.key), size: entry.size)
    }
  }
}
