import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Inserts the rows of entries in one transaction; on the index thread. Each entry succeeds or fails alone.
  func insert(_ entries: [NewEntry], opened: OpenDirectory) -> [Result<CacheRecord, CacheError>] {
    if entries.isEmpty { return [] }
    do throws(CacheError) {
      try limitLog(opened)
      emptyLogForFileSystem(opened)
      return try insertTogether(entries, opened).map { .success($0) }
    } catch {
      // One entry may have made the transaction fail, so try each alone; but not while another process is writing.
      if entries.count > 1, error.code != .busy { return entries.flatMap { insert([$0], opened: opened) } }
      return entries.map { _ in .failure(error) }
    }
  }

  private func insertTogether(
    _ entries: [NewEntry], _ opened: OpenDirectory
  ) throws(CacheError) -> [CacheRecord] {
    let taken = batch.take()
    let (insertions, space): ([Insertion], DiskSpace)
    do throws(CacheError) {
      (insertions, space) = try opened.write { (connection) throws(CacheError) in
        try applyBatch(taken, opened.hashes, connection)
        var space = try measuredSpace(connection, opened)
        var insertions: [Insertion] = []
        for entry in entries { insertions.append(try insert(entry, &space, connection, opened)) }
        try space.state.save(connection)
        return (insertions, space)
      }
    } catch {
      batch.putBack(taken)
      throw error
    }
    for insertion in insertions {
      after(insertion.removals, in: opened)
      after(insertion.evictions, in: opened)
    }
    // Publish the limit after the files are deleted and before the reservations of the entries are released.
    publishLimit(space, opened)
    return zip(insertions, entries).map { conclude($0, of: $1, in: opened) }
  }

  /// The changes to the index for one entry.
  private struct Insertion: Sendable {
    var id: Int64
    /// The record as it is in the index.
    var record: CacheRecord
    var removals: Removals
    var evictions = Evictions()
  }

  /// Completes the insertion of an entry, after the commit.
  private func conclude(
    _ result: Insertion, of entry: NewEntry, in opened: OpenDirectory
  ) -> CacheRecord {
    // The free-space estimate already includes the body file.
    freeSpace.didUse(max(0, entry.size - entry.cost))
    opened.generations.bump([opened.hashes.hash(of: entry.record.key)])
    let stored = result.record.with(sequence: UInt64(bitPattern: result.id))
    opened.didCommit(result.id, stored)
    if let priority = result.evictions.refusedPriority {
      didRefuse(priority: priority)
      if let name = entry.file { opened.deleteBody(name, bytes: entry.cost) }
    }
    // A writer that goes on releases what its row counts.
    if entry.purpose != .unfinished { entry.writer.reserve(0) }
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
    let stored = try StoredEntry.find(
      StoredEntry.ofHash, [.hash(opened.hashes.hash(of: key))], connection
    ).entries
    let replaced = Self.replaced(by: entry, stored)
    let record = Self.compared(entry.record, in: opened)
    var removals = Removals()
    try Self.deletePredecessor(of: entry, &removals, connection)
    try Self.requireNotSuperseded(record, by: stored, in: opened)
    if entry.purpose == .unfinished { try Self.requireOnlyWriter(entry, replaced, in: opened) }
    // The replaced entries are out of date, even if the new entry is not stored.
    for row in replaced where row.id != entry.predecessor?.id {
      try removals.delete(row, connection)
    }
    space.state.subtract(removals)
    var insertion = Insertion(id: space.state.nextSequence(), record: record, removals: removals)
    if entry.purpose == .refused { return insertion }
    var withEntry = space
    withEntry.expect(entry)
    if entry.purpose == .finished {
      if !entry.record.isPinned { insertion.evictions.candidate = (opened.hashes.hash(of: key), entry.size) }
      try evict(&insertion.evictions, &withEntry, connection, opened)
      if insertion.evictions.refusedPriority != nil { return insertion }
      guard insertion.evictions.isEnough else {
        // A large excess, for example after a change of the capacity, is evicted in the background.
        trimInBackground()
        throw CacheError(.noSpace, noRoomReason(in: opened), key: key)
      }
    }
    try entry.insert(
      connection, opened.hashes, id: insertion.id, now: clock.now,
      priority: priority(of: entry, space.state, opened), isInvalidated: record.response.isInvalidated)
    withEntry.didInsert()
    space = withEntry
    return insertion
  }

  /// - Throws: `CacheError.closed` if the writer of a body has ended, `CacheError.superseded` if another writer is
  ///   writing a partial body that the row would replace.
  private static func requireOnlyWriter(
    _ entry: NewEntry, _ replaced: [EntryRow], in opened: OpenDirectory
  ) throws(CacheError) {
    guard entry.writer.isOpen else {
      throw CacheError(.closed, "the writer gave up", key: entry.record.key)
    }
    let isWritten = replaced.contains { $0.file.map { opened.directory.isLocked($0) } ?? false }
    if isWritten { throw CacheError(.superseded, "another writer has a part of it", key: entry.record.key) }
  }

  private func priority(of entry: NewEntry, _ state: IndexState, _ opened: OpenDirectory) -> Double {
    policy.expect(entries: Int(clamping: state.entries))
    return policy.admissionBound(ofHash: opened.hashes.hash(of: entry.record.key), size: entry.size)
  }
}
