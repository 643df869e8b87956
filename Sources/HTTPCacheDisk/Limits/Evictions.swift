import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The evictions of one transaction.
struct Evictions: Sendable {
  /// The maximum number of entries to evict.
  var limit = 512
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
  var removals = Removals()
  var priorities: [Double] = []
  /// Bytes of the evicted entries.
  var bytes: Int64 = 0
  /// Whether the usage is within the limits now.
  var isEnough = false
}

extension DiskStore {
  /// Evicts entries, the least valuable first, until the usage is within the limits.
  func evict(
    _ evictions: inout Evictions, _ space: inout DiskSpace, _ connection: SQLiteConnection,
    _ opened: OpenDirectory
  ) throws(CacheError) {
    opened.retryDeletions()
    while true {
      let excess = excess(space, opened).saturatingAdd(evictions.extra)
      evictions.isEnough = excess <= 0
      guard excess > 0, evictions.removals.count < evictions.limit,
        evictions.bytes < evictions.byteLimit,
        // While files cannot be deleted, an eviction frees no space.
        !opened.reservations.hasPendingDeletions
      else { return }
      let wanted = min(excess, evictions.byteLimit - evictions.bytes)
      let victims = try victims(excess: wanted, sparing: evictions.protected, connection, opened)
      guard !victims.isEmpty else { return }
      if evictions.removals.count == 0, let candidate = evictions.candidate {
        evictions.refusedPriority = refusedPriority(of: candidate, over: victims)
        if evictions.refusedPriority != nil { return }
      }
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

  /// The least valuable entries, in that order. Skips a partial body that is being written: its file would
  /// stay until its writer ends.
  private func victims(
    excess: Int64, sparing id: Int64, _ connection: SQLiteConnection, _ opened: OpenDirectory
  ) throws(CacheError) -> [EntryRow] {
    var victims: [EntryRow] = []
    var freed: Int64 = 0
    try EntryRow.each(
      "pinned = 0 AND id <> ? ORDER BY priority, touched", [.integer(id)], connection
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
    let bound = policy.admissionBound(ofHash: candidate.hash, size: candidate.size)
    return victims.contains { $0.priority > bound } ? bound : nil
  }

  /// Deletes the files of evicted entries and counts the evictions, after the commit.
  func after(_ evictions: Evictions, in opened: OpenDirectory) {
    guard evictions.removals.count > 0 else { return }
    policy.evicted(priorities: evictions.priorities)
    count(CacheCounts(evictions: Int64(evictions.removals.count)))
    after(evictions.removals, in: opened)
  }

  /// Deletes the files of removed rows, after the commit. A reader that has a file open can still read it.
  func after(_ removals: Removals, in opened: OpenDirectory) {
    for file in removals.files { opened.deleteBody(file.name, bytes: file.cost) }
    for file in removals.partialFiles { opened.removePartialBody(file) }
    if removals.cost > 0 { freeSpace.askAgain() }
    opened.generations.bump(removals.hashes)
  }
}
