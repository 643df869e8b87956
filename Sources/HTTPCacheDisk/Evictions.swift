import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// What one transaction evicts.
struct Evictions: Sendable {
  /// The most entries to evict at once.
  let limit: Int
  /// The most bytes to evict at once.
  let byteLimit: Int64
  /// The entry that is being written, which never makes room for itself.
  let protected: Int64
  /// Bytes to free beyond what fits.
  let extra: Int64
  /// Bytes to free beyond that once anything has to go, so that the next ones find room.
  let ahead: Int64
  /// Bytes that are reserved although the rows of this transaction count them already.
  let counted: Int64
  var removals = Removals()
  var priorities: [Double] = []
  /// Bytes of what was evicted.
  var bytes: Int64 = 0
  /// Bytes of the index's file that go back to the file system.
  var givenBack: Int64 = 0
  /// Whether all fits now.
  var isEnough = false
  /// What may be written once all of this is done.
  var grant: (bytes: Int64, since: WriteRoom.Mark)?

  init(
    limit: Int, byteLimit: Int64 = .max, protected: Int64 = 0, extra: Int64 = 0, ahead: Int64 = 0,
    counted: Int64 = 0
  ) {
    self.limit = limit
    self.byteLimit = byteLimit
    self.protected = protected
    self.extra = extra
    self.ahead = ahead
    self.counted = counted
  }
}

extension DiskStore {
  /// Takes out what is least worth keeping until all fits into the capacity.
  func evict(
    _ evictions: inout Evictions, _ state: inout IndexState, _ connection: SQLiteConnection,
    _ parts: StoreParts
  ) throws(CacheError) {
    // What cannot be deleted makes no room.
    parts.rowless.delete(in: parts.directory)
    let mark = parts.room.mark
    var ceiling: Int64?
    while true {
      let pages = try PageCount(connection)
      let used = usedBytes(state, pages, parts)
      let limit = ceiling ?? self.ceiling(state, used: used, counted: evictions.counted, parts)
      ceiling = limit
      let excess = (used - limit).saturatingAdd(evictions.extra)
      let isEnough = excess <= (evictions.removals.count > 0 ? -evictions.ahead : 0)
      let mayGoOn =
        evictions.removals.count < evictions.limit && evictions.bytes < evictions.byteLimit
        && parts.rowless.isEmpty
      var victims: [EntryRow] = []
      if !isEnough, mayGoOn {
        let wanted = excess.saturatingAdd(evictions.ahead)
        victims = try self.victims(
          excess: min(wanted, evictions.byteLimit - evictions.bytes), sparing: evictions.protected,
          connection, parts)
      }
      guard !victims.isEmpty else {
        evictions.isEnough = excess <= 0
        guard evictions.isEnough else { return }
        let surplus = excess + pages.bytes - pages.liveBytes
        evictions.grant = (-surplus, mark)
        if surplus > 0, pages.free > 0 {
          // Pages that are free in the file are not free on disk.
          let count = min(pages.free, surplus / PageCount.pageSize + 1)
          try connection.execute("PRAGMA incremental_vacuum(\(count))")
          evictions.givenBack = count * PageCount.pageSize
        }
        return
      }
      var removed = Removals()
      for row in victims {
        try row.delete(connection)
        removed.add(row)
        evictions.removals.add(row)
        evictions.priorities.append(row.priority)
        evictions.bytes += row.size
      }
      state.subtract(removed)
    }
  }

  /// What is least worth keeping, some of it. A part that somebody is writing is passed over: its file would
  /// take what it takes as long as that goes on.
  func victims(
    excess: Int64, sparing id: Int64, _ connection: SQLiteConnection, _ parts: StoreParts
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
        parts.isInWork(file) || parts.directory.isLocked(file)
      {
        return true
      }
      victims.append(victim)
      freed += victim.size
      return freed < excess && victims.count < 256
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
  ///
  /// - Parameter counted: bytes that are reserved for it, and for what this transaction has stored already.
  func admission(
    of entry: NewEntry, counted: Int64, _ state: IndexState, _ connection: SQLiteConnection,
    _ parts: StoreParts
  ) throws(CacheError) -> Admission {
    guard !entry.record.isPinned else { return .admitted }
    let used = usedBytes(state, try PageCount(connection), parts)
    let excess = used + entry.size - ceiling(state, used: used + entry.size, counted: counted, parts)
    guard excess > 0 else { return .admitted }
    let victims = try victims(excess: excess, sparing: 0, connection, parts)
    return admission(of: parts.hashes.hash(of: entry.record.key), size: entry.size, over: victims)
  }

  /// Asks the policy whether something is worth what would have to go for it.
  ///
  /// - Parameter hash: of its key.
  func admission(of hash: UInt64, size: Int64, over victims: [EntryRow]) -> Admission {
    policy.withLock { policy in
      let isAdmitted = policy.admits(
        candidateHash: hash, size: size,
        over: victims.map { EvictionPolicy.Victim(priority: $0.priority, size: $0.size) })
      if isAdmitted { return .admitted }
      return .refused(bound: policy.admissionBound(candidateHash: hash, size: size))
    }
  }

  /// After the commit: what was evicted is unlinked and told.
  func after(_ evictions: Evictions, in parts: StoreParts) {
    // Only now is there room on disk.
    defer { if let grant = evictions.grant { parts.room.grant(grant.bytes, since: grant.since) } }
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
    for file in removals.files { parts.deleteRowless(file.name, bytes: file.cost) }
    for file in removals.partialFiles { parts.removePartialBody(file) }
    removals.room?.release()
    if removals.cost > 0 { freeSpace.askAgain() }
    parts.generations?.bump(removals.hashes)
  }
}
