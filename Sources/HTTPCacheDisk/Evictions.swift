import HTTPCacheStore
import Synchronization

/// What one transaction evicts.
struct Evictions: Sendable {
  /// The most entries to evict at once.
  let limit: Int
  /// The entry that is being written, which never makes room for itself.
  let protected: Int64
  /// Hash and size of the entry that is being written, which has to be worth more than its victims.
  var candidate: (hash: UInt64, size: Int64)?
  var removals = Removals()
  var priorities: [Double] = []
  /// Whether all fits now.
  var isEnough = false

  init(limit: Int, protected: Int64 = 0) {
    self.limit = limit
    self.protected = protected
  }
}

extension DiskStore {
  /// Takes out what is least worth keeping until all fits into the capacity.
  ///
  /// - Throws: `CacheError.noSpace` if the candidate is worth less than what it would displace.
  func evict(
    _ evictions: inout Evictions, _ state: inout IndexState, _ connection: SQLiteConnection,
    _ parts: StoreParts
  ) throws(CacheError) {
    let capacity = currentLimits.capacity
    while true {
      let pages = try PageCount(connection)
      let excess = pages.liveBytes + state.bodies + parts.fixedBytes - capacity
      if excess <= 0 {
        evictions.isEnough = true
        let surplus = pages.bytes + state.bodies + parts.fixedBytes - capacity
        if surplus > 0, pages.free > 0 {
          // Pages that are free in the file are not free on disk.
          let count = min(pages.free, surplus / PageCount.pageSize + 1)
          try connection.execute("PRAGMA incremental_vacuum(\(count))")
        }
        return
      }
      guard evictions.removals.count < evictions.limit else { return }
      let victims = try victims(excess: excess, evictions, connection)
      guard !victims.isEmpty else { return }
      if let candidate = evictions.candidate {
        evictions.candidate = nil
        try admit(candidate, over: victims)
      }
      var removed = Removals()
      for row in victims {
        try row.delete(connection)
        removed.add(row)
        evictions.removals.add(row)
        evictions.priorities.append(row.priority)
      }
      state.subtract(removed)
    }
  }

  private func victims(
    excess: Int64, _ evictions: Evictions, _ connection: SQLiteConnection
  ) throws(CacheError) -> [EntryRow] {
    var victims: [EntryRow] = []
    var freed: Int64 = 0
    try connection.query(
      """
      SELECT \(EntryRow.columns) FROM entry WHERE pinned = 0 AND id <> ?
      ORDER BY priority, touched LIMIT 256
      """, [.integer(evictions.protected)]
    ) { row in
      let victim = EntryRow(row)
      victims.append(victim)
      freed += victim.size
      return freed < excess
    }
    return victims
  }

  private func admit(
    _ candidate: (hash: UInt64, size: Int64), over victims: [EntryRow]
  ) throws(CacheError) {
    let isAdmitted = policy.withLock { policy in
      policy.admits(
        candidateHash: candidate.hash, size: candidate.size,
        over: victims.map {
          EvictionPolicy.Victim(frequency: policy.frequency(of: $0.hash), size: $0.size)
        })
    }
    guard isAdmitted else {
      throw CacheError(.noSpace, "it is used less than what it would displace")
    }
  }

  /// After the commit: what was evicted is unlinked and told.
  func after(_ evictions: Evictions, in parts: StoreParts) {
    guard evictions.removals.count > 0 else { return }
    policy.withLock { policy in
      for priority in evictions.priorities { policy.evicted(priority: priority) }
    }
    batch.withLock { batch in
      batch.counts.evictions += Int64(evictions.removals.count)
      batch.countedSince += 1
    }
    after(evictions.removals, in: parts)
  }

  /// After the commit: files whose rows are gone are unlinked; who has them open reads on.
  func after(_ removals: Removals, in parts: StoreParts) {
    for file in removals.files { parts.directory.removeBody(file) }
    parts.generations?.bump(removals.hashes)
  }
}
