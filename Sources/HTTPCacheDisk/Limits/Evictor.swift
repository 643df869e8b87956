import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore

/// Evicts entries, the least valuable first, for what is stored and written.
struct Evictor: Sendable {
  // The most bytes that writers may reserve without asking the index thread for the usage.
  private static let mostUnasked: Int64 = 4 << 20
  /// The size of a log that is emptied before anything is evicted.
  static let longLog: Int64 = 128 << 10

  let thread: IndexThread
  let batch: ChangeBatch
  let policy: DiskEvictionPolicy
  let limits: DiskLimits

  // MARK: The excess

  /// The excess over the capacity or over the free-space limit in bytes; negative if there is slack.
  private func excess(_ space: DiskSpace, _ state: IndexState) -> Int64 {
    space.excess(state, capacity: limits.capacity(by: state))
  }

  /// Publishes how many bytes may be reserved before a writer has to ask; on the index thread, after the
  /// commit.
  ///
  /// - Returns: the excess.
  @discardableResult
  func publishLimit(_ space: DiskSpace, _ state: IndexState) -> Int64 {
    let reserved = space.reserved
    let excess = excess(space, state)
    space.opened.reservations.setLimit(reserved + min(Self.mostUnasked, -excess))
    return excess
  }

  /// Reads the usage and publishes the limit; on the index thread.
  ///
  /// - Returns: the excess.
  @discardableResult
  func publishLimit(in opened: OpenDirectory) throws(CacheError) -> Int64 {
    let (space, state) = try opened.index.withWriter { (connection) throws(CacheError) in
      let state = try IndexState(connection)
      return (try DiskSpace(of: opened, state, on: connection), state)
    }
    return publishLimit(space, state)
  }

  // MARK: Evicting

  /// Makes space for the next bytes of a body before they are written, if the body is worth more than the
  /// entries that must be evicted.
  ///
  /// - Parameters:
  ///   - record: the record of the body.
  ///   - bytes: the bytes about to be written. They are reserved already.
  ///   - length: the length of the whole body, as far as it is known.
  ///   - row: the row of the body's stored part, which is not evicted.
  /// - Throws: `CacheError.notAdmitted` if the entries to evict are worth more, `CacheError.noSpace` if no
  ///   more entries can be evicted.
  func makeSpace(
    for record: CacheRecord, bytes: Int64, length: Int64, sparing row: Int64?, in opened: OpenDirectory
  ) async throws(CacheError) {
    opened.freeSpace.didUse(bytes)
    if opened.reservations.areWithinLimit { return }
    try await thread.run(in: opened, for: record.key) { [self] () throws(CacheError) in
      var evictions = Evictions(protected: row ?? 0)
      if !record.isPinned { evictions.candidate = (opened.hashes.hash(of: record.key), length) }
      while true {
        try opened.limitLog()
        guard try publishLimit(in: opened) > 0 else { return }
        opened.emptyLogForFileSystem()
        let done = try evictSome(evictions, in: opened)
        if let priority = done.refusedPriority {
          didRefuse(priority: priority)
          throw CacheError(.notAdmitted, "what is stored is worth more", key: record.key)
        }
        if done.isEnough { return }
        evictions.candidate = nil
        guard done.count > 0 else {
          throw CacheError(.noSpace, limits.noRoomReason(in: opened), key: record.key)
        }
      }
    }
  }

  /// Evicts some of the excess; on the index thread.
  ///
  /// - Parameter wanted: what to evict for.
  func evictSome(_ wanted: Evictions, in opened: OpenDirectory) throws(CacheError) -> Evictions {
    let (evictions, space, state) = try opened.write { (transaction) throws(CacheError) in
      var space = try DiskSpace(of: opened, transaction.state, on: transaction.connection)
      var evictions = wanted
      // Limit the bytes: deleting rows makes the log longer, and the log counts as usage.
      evictions.byteLimit = max(Self.longLog, limits.capacity / 16)
      try evict(&evictions, from: &space, in: &transaction)
      return (evictions, space, transaction.state)
    }
    didEvict(evictions)
    publishLimit(space, state)
    if evictions.bytes - evictions.cost > Self.longLog {
      // The file gets shorter only at a checkpoint.
      try opened.index.truncateLog(waiting: false)
      opened.freeSpace.askAgain()
    }
    return evictions
  }

  /// Evicts entries until the usage is within the limits.
  func evict(
    _ evictions: inout Evictions, from space: inout DiskSpace, in transaction: inout Transaction
  ) throws(CacheError) {
    let opened = transaction.opened
    opened.retryDeletions()
    while true {
      let excess = excess(space, transaction.state).saturatingAdd(evictions.extra)
      evictions.isEnough = excess <= 0
      guard excess > 0, evictions.count < evictions.limit, evictions.bytes < evictions.byteLimit,
        // While files cannot be deleted, an eviction frees no space.
        !opened.reservations.hasPendingDeletions
      else { return }
      let wanted = min(excess, evictions.byteLimit - evictions.bytes)
      let victims = try victims(excess: wanted, sparing: evictions.protected, in: transaction)
      guard !victims.isEmpty else { return }
      if evictions.count == 0, let candidate = evictions.candidate {
        evictions.refusedPriority = refusedPriority(of: candidate, over: victims)
        if evictions.refusedPriority != nil { return }
      }
      for row in victims {
        try transaction.delete(row)
        evictions.add(row)
      }
      try space.countPages(transaction.connection)
    }
  }

  /// The least valuable entries, in that order. Skips a partial body that is being written: its file would
  /// stay until its writer ends.
  private func victims(
    excess: Int64, sparing id: Int64, in transaction: Transaction
  ) throws(CacheError) -> [EntryRow] {
    let opened = transaction.opened
    var victims: [EntryRow] = []
    var freed: Int64 = 0
    try transaction.connection.eachRow(
      where: "pinned = 0 AND id <> ? ORDER BY priority, touched", [.integer(id)]
    ) { victim in
      if victim.isPartial, let file = victim.file,
        opened.ownership.isInWork(file) || opened.directory.isLocked(file)
      {
        return true
      }
      victims.append(victim)
      freed += victim.size
      return freed < excess && victims.count < 256
    }
    return victims
  }

  /// The priority that a response would have, if an entry that would be evicted for the response has a higher one;
  /// otherwise nil.
  private func refusedPriority(
    of candidate: (hash: UInt64, size: Int64), over victims: [EntryRow]
  ) -> Double? {
    let bound = policy.priority(ofHash: candidate.hash, size: candidate.size)
    return victims.contains { $0.priority > bound } ? bound : nil
  }

  // MARK: After the commit

  /// Counts evictions.
  func didEvict(_ evictions: Evictions) {
    guard evictions.count > 0 else { return }
    policy.evicted(priorities: evictions.priorities)
    batch.count(CacheCounts(evictions: Int64(evictions.count)))
  }

  /// Counts a refused response as if it had been stored and evicted at once.
  func didRefuse(priority: Double) {
    policy.evicted(priorities: [priority])
    batch.count(CacheCounts(evictions: 1))
  }
}

/// The evictions of one transaction.
struct Evictions: Sendable {
  /// The maximum number of entries to evict.
  let limit = 512
  /// The maximum number of bytes to evict.
  var byteLimit: Int64 = .max
  /// The row that is being written; not evicted.
  var protected: Int64 = 0
  /// Bytes to free in addition to the excess.
  var extra: Int64 = 0
  /// The response that needs the space: the hash of its key, and its bytes. Nothing is evicted if the entries to
  /// evict are worth more; nil evicts in any case.
  var candidate: (hash: UInt64, size: Int64)?
  /// The priority that the candidate would have had; nil if it was not refused.
  var refusedPriority: Double?
  /// The priorities of the evicted entries.
  private(set) var priorities: [Double] = []
  /// Bytes of the evicted entries, and how many of them were outside the index.
  private(set) var bytes: Int64 = 0
  private(set) var cost: Int64 = 0
  /// Whether the usage is within the limits now.
  var isEnough = false

  /// The number of evicted entries.
  var count: Int { priorities.count }

  mutating func add(_ row: EntryRow) {
    priorities.append(row.priority)
    bytes += row.size
    cost += row.cost
  }
}
