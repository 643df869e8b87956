import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// What one transaction evicts.
struct Evictions: Sendable {
  /// The most entries to evict at once.
  var limit = 512
  /// The most bytes to evict at once.
  var byteLimit: Int64 = .max
  /// The row that is being written, which is not evicted.
  var protected: Int64 = 0
  /// Bytes to free beyond what fits.
  var extra: Int64 = 0
  /// Bytes to free beyond that once something is evicted, so that the next bodies fit.
  var ahead: Int64 = 0
  var removals = Removals()
  var priorities: [Double] = []
  /// Bytes of the entries evicted.
  var bytes: Int64 = 0
  /// Bytes of the index's file that go back to the file system.
  var givenBack: Int64 = 0
  /// Whether all fits now.
  var isEnough = false
}

extension DiskStore {
  /// Evicts entries, the least worth first, until all fits into the limits.
  ///
  /// - Parameter approve: sees the entries that would go first, and returns whether they may.
  func evict(
    _ evictions: inout Evictions, _ space: inout DiskSpace, _ connection: SQLiteConnection,
    _ opened: OpenDirectory, approve: ([EntryRow]) throws(CacheError) -> Bool = { _ in true }
  ) throws(CacheError) {
    opened.retryDeletions()
    while true {
      let excess = excess(space, opened).saturatingAdd(evictions.extra)
      evictions.isEnough = excess <= 0
      let hasEvicted = evictions.removals.count > 0
      guard excess > (hasEvicted ? -evictions.ahead : 0), evictions.removals.count < evictions.limit,
        evictions.bytes < evictions.byteLimit,
        // While files cannot be deleted, an eviction frees nothing.
        !opened.reservations.hasPendingDeletions
      else { return }
      let wanted = min(excess.saturatingAdd(evictions.ahead), evictions.byteLimit - evictions.bytes)
      let victims = try victims(excess: wanted, sparing: evictions.protected, connection, opened)
      guard !victims.isEmpty else { return }
      if !hasEvicted { guard try approve(Self.first(excess, of: victims)) else { return } }
      var removed = Removals()
      for row in victims {
        try row.delete(connection)
        removed.add(row)
        evictions.removals.add(row)
        evictions.priorities.append(row.priority)
        evictions.bytes += row.size
      }
      space.state.subtract(removed)
      try space.countPages(connection)
    }
  }

  /// As many of the entries as free so many bytes.
  private static func first(_ bytes: Int64, of rows: [EntryRow]) -> [EntryRow] {
    var freed: Int64 = 0
    return Array(
      rows.prefix { row in
        defer { freed += row.size }
        return freed < bytes
      })
  }

  /// Gives free pages of the index back to the file system, as many as do not fit into the capacity.
  func giveBackPages(
    _ evictions: inout Evictions, _ space: inout DiskSpace, _ connection: SQLiteConnection,
    _ opened: OpenDirectory
  ) throws(CacheError) {
    let surplus = excess(space, opened) + space.freeBytes
    guard evictions.isEnough, surplus > 0, space.freeBytes > 0 else { return }
    let count = min(space.pages.free, surplus / PageCount.pageSize + 1)
    try connection.execute("PRAGMA incremental_vacuum(\(count))")
    evictions.givenBack = count * PageCount.pageSize
    try space.countPages(connection)
  }

  /// The entries that are least worth keeping, in that order. A part that is being written is passed over: its
  /// file would stay until its writer ends.
  func victims(
    excess: Int64, sparing id: Int64, _ connection: SQLiteConnection, _ opened: OpenDirectory
  ) throws(CacheError) -> [EntryRow] {
    var victims: [EntryRow] = []
    var freed: Int64 = 0
    try connection.query(
      """
      SELECT \(EntryRow.columns) FROM entry WHERE pinned = 0 AND id <> ?
      ORDER BY priority, touched
      """, [.integer(id)]
    ) { row in
      let victim = EntryRow(row)
      if victim.isPartial, let file = victim.file,
        opened.isInWork(file) || opened.directory.isLocked(file)
      {
        return true
      }
      victims.append(victim)
      freed += victim.size
      return freed < excess && victims.count < 256
    }
    return victims
  }

  /// Asks the policy whether a response is worth the entries that would be evicted for it.
  ///
  /// - Parameters:
  ///   - hash: of its key.
  ///   - size: its bytes.
  /// - Returns: nil if it is; otherwise the priority that it would have had.
  func refusedPriority(of hash: UInt64, size: Int64, over victims: [EntryRow]) -> Double? {
    policy.withLock { policy in
      let isAdmitted = policy.admits(
        candidateHash: hash, size: size,
        over: victims.map { EvictionPolicy.Victim(priority: $0.priority, size: $0.size) })
      return isAdmitted ? nil : policy.admissionBound(candidateHash: hash, size: size)
    }
  }

  /// After the commit: deletes the files of evicted entries, and counts the evictions.
  func after(_ evictions: Evictions, in opened: OpenDirectory) {
    guard evictions.removals.count > 0 else { return }
    policy.withLock { policy in
      for priority in evictions.priorities { policy.evicted(priority: priority) }
    }
    batch.withLock { batch in
      batch.counts.evictions += Int64(evictions.removals.count)
      batch.countedSince += 1
    }
    after(evictions.removals, in: opened)
  }

  /// After the commit: deletes the files whose rows are gone. A reader that has one open reads on.
  func after(_ removals: Removals, in opened: OpenDirectory) {
    for file in removals.files { opened.deleteBody(file.name, bytes: file.cost) }
    for file in removals.partialFiles { opened.removePartialBody(file) }
    if removals.cost > 0 { freeSpace.askAgain() }
    opened.generations?.bump(removals.hashes)
  }
}
