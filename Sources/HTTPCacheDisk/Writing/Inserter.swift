import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// Inserts the rows of new entries: one transaction for all entries that wait while the index thread is busy.
final class Inserter: Sendable {
  /// An entry whose writer waits for the row.
  private final class Waiting: Sendable {
    let entry: NewEntry
    let opened: OpenDirectory
    /// Nil until the entry was in a transaction.
    let result = Mutex<Result<CacheRecord, CacheError>?>(nil)

    init(_ entry: NewEntry, in opened: OpenDirectory) {
      self.entry = entry
      self.opened = opened
    }
  }

  /// The changes to the index for one entry.
  private struct Insertion: Sendable {
    var id: Int64
    /// The record as it is in the index.
    var record: CacheRecord
    var evictions = Evictions()
  }

  // The most entries of one transaction, so that the log stays below its limit.
  private static let mostAtOnce = 32

  private let thread: IndexThread
  private let batch: ChangeBatch
  private let policy: DiskEvictionPolicy
  private let limits: DiskLimits
  private let evictor: Evictor
  private let trimmer: Trimmer
  private let clock: any CacheClock
  private let waiting = Mutex<[Waiting]>([])

  init(
    thread: IndexThread, batch: ChangeBatch, policy: DiskEvictionPolicy, limits: DiskLimits,
    evictor: Evictor, trimmer: Trimmer, clock: any CacheClock
  ) {
    self.thread = thread
    self.batch = batch
    self.policy = policy
    self.limits = limits
    self.evictor = evictor
    self.trimmer = trimmer
    self.clock = clock
  }

  /// Inserts the row of an entry, in one transaction with other entries that wait for their rows while the index
  /// thread is busy.
  ///
  /// - Throws: `CacheError`; no row is inserted then.
  func insert(_ entry: NewEntry, in opened: OpenDirectory) async throws(CacheError) -> CacheRecord {
    let new = Waiting(entry, in: opened)
    waiting.withLock { $0.append(new) }
    return try await thread.queue.run { [self] () throws(CacheError) in
      while true {
        // The job of an earlier entry may have inserted this one, too.
        if let result = new.result.withLock({ $0 }) { return try result.get() }
        insertWaiting()
      }
    }
  }

  private func insertWaiting() {
    let some = waiting.withLock { waiting in
      let some = Array(waiting.prefix(Self.mostAtOnce))
      waiting.removeFirst(some.count)
      return some
    }
    do throws(CacheError) {
      let current = try thread.directoryToWrite()
      let fitting = some.filter { $0.opened === current }
      let results = insertEach(fitting.map(\.entry), in: current)
      for result in results {
        if case .failure(let error) = result { thread.handleIndexError(error, of: current) }
      }
      for (insertion, result) in zip(fitting, results) { insertion.result.withLock { $0 = result } }
      for insertion in some where insertion.opened !== current {
        let error = IndexThread.replaced(for: insertion.entry.record.key)
        insertion.result.withLock { $0 = .failure(error) }
      }
    } catch {
      for insertion in some { insertion.result.withLock { $0 = .failure(error) } }
    }
  }

  /// Inserts the rows of entries in one transaction. Each entry succeeds or fails alone.
  private func insertEach(
    _ entries: [NewEntry], in opened: OpenDirectory
  ) -> [Result<CacheRecord, CacheError>] {
    if entries.isEmpty { return [] }
    do throws(CacheError) {
      try opened.limitLog()
      opened.emptyLogForFileSystem()
      return try insertInOneTransaction(entries, in: opened).map { .success($0) }
    } catch {
      // One entry may have made the transaction fail, so try each alone; but not while another process is writing.
      if entries.count > 1, error.code != .busy { return entries.flatMap { insertEach([$0], in: opened) } }
      return entries.map { _ in .failure(error) }
    }
  }

  private func insertInOneTransaction(
    _ entries: [NewEntry], in opened: OpenDirectory
  ) throws(CacheError) -> [CacheRecord] {
    let (insertions, space, state) = try batch.transaction(in: opened) { (transaction) throws(CacheError) in
      var space = try DiskSpace(of: opened, transaction.state, on: transaction.connection)
      var insertions: [Insertion] = []
      for entry in entries { insertions.append(try insertRow(of: entry, into: &space, in: &transaction)) }
      return (insertions, space, transaction.state)
    }
    for insertion in insertions { evictor.didEvict(insertion.evictions) }
    // Publish the limit after the files are deleted and before the reservations of the entries are released.
    evictor.publishLimit(space, state)
    return zip(insertions, entries).map { conclude($0, of: $1, in: opened) }
  }

  /// Completes the insertion of an entry, after the commit.
  private func conclude(
    _ result: Insertion, of entry: NewEntry, in opened: OpenDirectory
  ) -> CacheRecord {
    // The free-space estimate already includes the body file.
    opened.freeSpace.didUse(max(0, entry.size - entry.cost))
    let stored = result.record.with(sequence: UInt64(bitPattern: result.id))
    opened.didCommit(result.id, stored)
    let refusedPriority = result.evictions.refusedPriority
    let hasRow = refusedPriority == nil && entry.purpose != .refused
    opened.raise([opened.hashes.hash(of: entry.record.key)], hasRow ? .inserted : .updated)
    if let refusedPriority {
      evictor.didRefuse(priority: refusedPriority)
      if let name = entry.file { opened.deleteBody(name, bytes: entry.cost) }
    }
    // A writer that goes on releases what its row counts.
    if entry.purpose != .unfinished { entry.bodyFile.reserve(0) }
    return hasRow ? stored : stored.with(sequence: 0)
  }

  private func insertRow(
    of entry: NewEntry, into space: inout DiskSpace, in transaction: inout Transaction
  ) throws(CacheError) -> Insertion {
    let (key, opened) = (entry.record.key, transaction.opened)
    let hash = opened.hashes.hash(of: key)
    let capacity = limits.capacity(by: transaction.state)
    guard entry.size <= capacity else {
      throw CacheError(.tooLarge, "\(entry.size) bytes, of \(capacity) in all", key: key)
    }
    // Within the transaction: it ends before that of a wipe begins, which then finds the row, or sees that the wipe is noted.
    if let ticket = entry.record.ticket, opened.changes.isWiped(key, since: ticket) { throw .wiped(key) }
    let rivals = Rivals(of: entry, stored: try transaction.connection.entries(ofHash: hash))
    let record = opened.invalidatedIfOvertaken(entry.record)
    try deletePredecessor(of: entry, in: &transaction)
    try rivals.requireNoneSupersedes(record, in: opened)
    if entry.purpose == .unfinished { try rivals.requireNoWriter(in: opened) }
    // The replaced entries are out of date, even if the new entry is not stored.
    for row in rivals.replaced where row.id != entry.predecessor?.id { try transaction.delete(row) }
    var insertion = Insertion(id: transaction.state.nextSequence(), record: record)
    if entry.purpose == .refused { return insertion }
    var withEntry = space
    withEntry.expect(entry)
    if entry.purpose == .finished {
      if !entry.record.isPinned { insertion.evictions.candidate = (hash, entry.size) }
      try evictor.evict(&insertion.evictions, from: &withEntry, in: &transaction)
      if insertion.evictions.refusedPriority != nil { return insertion }
      guard insertion.evictions.isEnough else {
        // A large excess, for example after a change of the capacity, is evicted in the background.
        trimmer.trimInBackground()
        throw CacheError(.noSpace, limits.noRoomReason(in: opened), key: key)
      }
    }
    policy.expect(entries: Int(clamping: transaction.state.entries))
    try entry.insert(
      as: insertion.id, now: clock.now, priority: policy.priority(ofHash: hash, size: entry.size),
      state: EntryRow.state(of: record.response), in: &transaction)
    withEntry.didInsert()
    space = withEntry
    return insertion
  }

  /// Removes the row that the same body has had until now. The file stays if the new entry has the same file.
  ///
  /// - Throws: `CacheError.unavailable` if the row must still exist, and was removed.
  private func deletePredecessor(
    of entry: NewEntry, in transaction: inout Transaction
  ) throws(CacheError) {
    guard let predecessor = entry.predecessor else { return }
    var found = try transaction.connection.entry(predecessor.id)
    if found?.row.isPartial == false { found = nil }
    if predecessor.isRequired, found?.record == nil {
      throw CacheError(.unavailable, "the part is not stored any more", key: entry.record.key)
    }
    if let row = found?.row { try transaction.delete(row, keeping: entry.file) }
  }
}
