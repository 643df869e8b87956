import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// What one transaction evicts.
struct Evictions: Sendable {
  /// The most entries to evict at once.
  let limit: Int
  /// The entry that is being written, which never makes room for itself.
  let protected: Int64
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
      let victims = try victims(excess: excess, sparing: evictions.protected, connection)
      guard !victims.isEmpty else { return }
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
    excess: Int64, sparing id: Int64, _ connection: SQLiteConnection
  ) throws(CacheError) -> [EntryRow] {
    var victims: [EntryRow] = []
    var freed: Int64 = 0
    try connection.query(
      """
      SELECT \(EntryRow.columns) FROM entry WHERE pinned = 0 AND listed = 1 AND id <> ?
      ORDER BY priority, touched LIMIT 256
      """, [.integer(id)]
    ) { row in
      let victim = EntryRow(row)
      victims.append(victim)
      freed += victim.size
      return freed < excess
    }
    return victims
  }

  /// What becomes of an entry that is to be stored.
  enum Admission: Sendable {
    case admitted
    /// What would have to go is worth more, all of it above this priority.
    case refused(bound: Double)
  }

  /// Asks the policy whether an entry is worth what would have to go for it, if anything.
  func admission(
    of entry: NewEntry, _ state: IndexState, _ connection: SQLiteConnection, _ parts: StoreParts
  ) throws(CacheError) -> Admission {
    guard !entry.record.isPinned else { return .admitted }
    let used = try PageCount(connection).liveBytes + state.bodies + parts.fixedBytes
    let excess = used + entry.size - currentLimits.capacity
    guard excess > 0 else { return .admitted }
    let victims = try victims(excess: excess, sparing: 0, connection)
    return policy.withLock { policy in
      let hash = entry.record.key.hash
      let isAdmitted = policy.admits(
        candidateHash: hash, size: entry.size,
        over: victims.map { EvictionPolicy.Victim(priority: $0.priority, size: $0.size) })
      if isAdmitted { return .admitted }
      return .refused(bound: policy.admissionBound(candidateHash: hash, size: entry.size))
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
    for file in removals.partialFiles { parts.removePartialBody(file) }
    parts.generations?.bump(removals.hashes)
  }
}
