import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The uses, counts and refusals of one store that are not in its index yet. One transaction writes them together,
/// never one by one.
final class ChangeBatch: Sendable {
  /// The time after which a use is written although it does not change the priority, in seconds. An entry that is
  /// used all the time would be written with each batch otherwise.
  private static let touchInterval: Int64 = 60

  private let thread: IndexThread
  private let policy: DiskEvictionPolicy
  private let pending = Mutex(PendingChanges())

  init(thread: IndexThread, policy: DiskEvictionPolicy) {
    self.thread = thread
    self.policy = policy
  }

  // MARK: Adding

  /// Counts uses of keys, given as their hashes.
  ///
  /// - Parameter time: the time of the last use, in seconds.
  func touch(_ uses: some Sequence<(hash: UInt64, time: Int64)>) {
    add { pending in
      for use in uses { pending.touches[use.hash] = max(pending.touches[use.hash] ?? 0, use.time) }
    }
  }

  /// Adds to the persistent counters.
  func count(_ counts: CacheCounts) {
    add { pending in
      pending.counts += counts
      pending.countedSince += 1
    }
  }

  func note(_ refusal: RefusalNote) {
    let ticket = thread.currentDirectory.changes.ticket()
    add { pending in
      pending.refusals.add(refusal)
      if pending.refusalTicket == nil { pending.refusalTicket = ticket }
    }
  }

  // Has the index thread write the batch if it is large.
  private func add(_ change: (inout PendingChanges) -> Void) {
    let isDue = pending.withLock { pending in
      change(&pending)
      return pending.shouldSchedule()
    }
    guard isDue else { return }
    thread.queue.submit { [weak self] in
      guard let self else { return }
      _ = try? write(in: thread.currentDirectory)
      pending.withLock { $0.isScheduled = false }
    }
  }

  /// The refusals of a key that are not written, latest first.
  func refusals(of key: CacheKey) -> [RefusalNote] { pending.withLock { $0.refusals.of(key) } }

  /// Forgets all refusals that are not written.
  func forgetRefusals() { pending.withLock { $0.refusals = RecentRefusals() } }

  /// Forgets the uses of keys.
  func forgetUses() { pending.withLock { $0.touches = [:] } }

  // MARK: Writing

  /// Writes the batch; on the index thread.
  func write(in opened: OpenDirectory) throws(CacheError) {
    let taken = pending.withLock { $0.take() }
    guard !taken.isEmpty else { return }
    do throws(CacheError) {
      try opened.index.write { (connection) throws(CacheError) in
        try write(taken, in: opened, on: connection)
      }
    } catch {
      pending.withLock { $0.putBack(taken) }
      throw error
    }
  }

  /// Makes a transaction for other changes that writes the batch at its beginning; on the index thread.
  func transaction<Value: Sendable>(
    in opened: OpenDirectory, _ body: (inout Transaction) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    let taken = pending.withLock { $0.take() }
    do throws(CacheError) {
      return try opened.write { (transaction) throws(CacheError) in
        try write(taken, in: opened, on: transaction.connection)
        return try body(&transaction)
      }
    } catch {
      pending.withLock { $0.putBack(taken) }
      throw error
    }
  }

  private func write(
    _ taken: PendingChanges, in opened: OpenDirectory, on connection: SQLiteConnection
  ) throws(CacheError) {
    for (hash, time) in taken.touches {
      let rows = try connection.rows(where: "hash = ? LIMIT \(StoredEntry.mostOfHash)", [.hash(hash)])
      for row in rows {
        let priority = policy.priority(ofHash: hash, size: row.size)
        guard priority != row.priority || row.touched <= time - Self.touchInterval else { continue }
        try connection.run(
          "UPDATE entry SET touched = max(touched, ?), priority = ? WHERE id = ?",
          [.integer(time), .real(priority), .integer(row.id)])
      }
    }
    // Another process may have wiped the partition of a note since.
    let refusals = taken.refusals.notes.filter { note in
      !(taken.refusalTicket.map { opened.changes.isWiped(note.key, since: $0) } ?? false)
    }
    try connection.insert(refusals, hashes: opened.hashes)
    if taken.countedSince > 0 { try connection.add(taken.counts) }
  }
}

/// Uses, counts and refusals that are not in the index yet.
private struct PendingChanges: Sendable {
  /// The last use of each key, by the hash of the key.
  var touches: [UInt64: Int64] = [:]
  var counts = CacheCounts()
  var countedSince = 0
  var refusals = RecentRefusals()
  /// Taken before the first of the refusals; nil without any.
  var refusalTicket: InvalidationTicket?
  /// Whether a job that writes the batch is queued.
  var isScheduled = false

  private static let touchLimit = 1_024
  private static let countLimit = 1_024
  private static let refusalLimit = 128

  var isEmpty: Bool { touches.isEmpty && countedSince == 0 && refusals.notes.isEmpty }

  /// Whether a batch must be scheduled now. Returns true once until the batch is written.
  mutating func shouldSchedule() -> Bool {
    let isMuch =
      touches.count >= Self.touchLimit || countedSince >= Self.countLimit
      || refusals.notes.count >= Self.refusalLimit
    guard !isScheduled, isMuch else { return false }
    isScheduled = true
    return true
  }

  /// Returns the changes and removes them from here.
  mutating func take() -> PendingChanges {
    let taken = self
    self = PendingChanges()
    return taken
  }

  /// Puts changes back that could not be written. Newer changes win.
  mutating func putBack(_ other: PendingChanges) {
    touches.merge(other.touches) { newer, _ in newer }
    counts += other.counts
    countedSince += other.countedSince
    refusals.putBack(other.refusals.notes)
    refusalTicket = other.refusalTicket ?? refusalTicket
  }
}
