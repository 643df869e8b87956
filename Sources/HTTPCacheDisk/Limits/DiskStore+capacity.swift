import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The limits of a directory, and the space that is made for bodies that are being written.
extension DiskStore {
  // The most bytes that are reserved without asking the index thread for the usage.
  private static let mostUnasked: Int64 = 4 << 20
  // The most that is evicted ahead of need, and its share of the capacity.
  private static let mostAhead: Int64 = 1 << 20
  private static let shareAhead: Int64 = 256
  /// A log that is worth emptying before anything is evicted for it.
  static let longLog: Int64 = 128 << 10

  /// Reads how much space the directory takes.
  func measuredSpace(_ connection: SQLiteConnection, _ opened: OpenDirectory) throws(CacheError) -> DiskSpace
  {
    try DiskSpace(connection, opened, shortage: freeSpace.shortage(in: opened.directory.root))
  }

  /// Bytes in use above the capacity, or above what leaves enough free on the file system; negative if there is
  /// slack.
  func excess(_ space: DiskSpace, _ opened: OpenDirectory) -> Int64 {
    space.excess(reserved: opened.reservations.bytes - space.counted, capacity: capacity(by: space.state))
  }

  /// Publishes how many bytes may be reserved before a writer has to ask; on the index thread, after the commit.
  /// Pages that the index could give back count: they are in its file until then.
  func publishLimit(_ space: DiskSpace, _ opened: OpenDirectory) {
    let reserved = opened.reservations.bytes - space.counted
    let excess = space.excess(reserved: reserved, capacity: capacity(by: space.state))
    opened.reservations.setLimit(reserved + min(Self.mostUnasked, -(excess + space.freeBytes)))
  }

  /// Reads how much space is in use and publishes the limit; on the index thread.
  @discardableResult
  func publishLimit(in opened: OpenDirectory) throws(CacheError) -> DiskSpace {
    let space = try opened.index.withWriter { (connection) throws(CacheError) in
      try measuredSpace(connection, opened)
    }
    publishLimit(space, opened)
    return space
  }

  /// After a transaction that added to a row: publishes the limit before the bytes are released that the row
  /// counts now; on the index thread.
  func didGrow(_ opened: OpenDirectory) {
    do throws(CacheError) { try publishLimit(in: opened) } catch { opened.reservations.setLimit(0) }
  }

  /// Makes space for the next bytes of a body, before they are written, if the body is worth what has to go.
  ///
  /// - Parameters:
  ///   - record: of the body.
  ///   - bytes: how many are about to be written; they are reserved already.
  ///   - length: of the whole body, as far as it is known.
  ///   - row: what is stored of it, which stays.
  /// - Throws: `CacheError.notAdmitted` if what would be evicted is worth more, `CacheError.noSpace` if
  ///   nothing more can be evicted.
  func makeSpace(
    for record: CacheRecord, bytes: Int64, length: Int64, sparing row: Int64?, in opened: OpenDirectory
  ) async throws(CacheError) {
    freeSpace.didUse(bytes)
    if opened.reservations.areWithinLimit { return }
    try await onIndex { [self] (current) throws(CacheError) in
      try requireCurrent(opened, current, key: record.key)
      var isAdmitted = record.isPinned
      while true {
        try limitLog(opened)
        let space = try publishLimit(in: opened)
        guard excess(space, opened) + space.freeBytes > 0 else { return }
        giveBackForFileSystem(opened)
        let evictions = try evictSome(
          opened, sparing: row ?? 0, ahead: min(Self.mostAhead, currentLimits.capacity / Self.shareAhead)
        ) { victims throws(CacheError) in
          if !isAdmitted { try admit(record, length: length, over: victims, in: opened) }
          isAdmitted = true
          return true
        }
        if evictions.isEnough { return }
        guard evictions.removals.count > 0 else {
          throw CacheError(.noSpace, noRoomReason(in: opened), key: record.key)
        }
      }
    }
  }

  /// - Throws: `CacheError.notAdmitted` if a body is worth less than what would be evicted for it.
  private func admit(
    _ record: CacheRecord, length: Int64, over victims: [EntryRow], in opened: OpenDirectory
  ) throws(CacheError) {
    let hash = opened.hashes.hash(of: record.key)
    guard let priority = refusedPriority(of: hash, size: length, over: victims) else { return }
    didRefuse(priority: priority)
    throw CacheError(.notAdmitted, "what is stored is worth more", key: record.key)
  }

  /// Counts a refused response as if it had been stored and evicted at once.
  func didRefuse(priority: Double) {
    policy.withLock { $0.evicted(priority: priority) }
    count(CacheCounts(evictions: 1))
  }

  /// Evicts a part of the excess; on the index thread.
  ///
  /// - Parameters:
  ///   - extra: bytes to free beyond what fits.
  ///   - ahead: bytes to free beyond that if anything has to go.
  ///   - approve: sees the entries that would go first, and returns whether they may.
  func evictSome(
    _ opened: OpenDirectory, sparing row: Int64 = 0, extra: Int64 = 0, ahead: Int64 = 0,
    approve: ([EntryRow]) throws(CacheError) -> Bool = { _ in true }
  ) throws(CacheError) -> Evictions {
    let (evictions, space) = try opened.index.write { (connection) throws(CacheError) in
      var space = try measuredSpace(connection, opened)
      // Bounded, since deleting rows makes the log longer, and the log counts.
      var evictions = Evictions(
        byteLimit: max(Self.longLog, currentLimits.capacity / 16), protected: row, extra: extra, ahead: ahead)
      try evict(&evictions, &space, connection, opened, approve: approve)
      try giveBackPages(&evictions, &space, connection, opened)
      try space.state.save(connection)
      return (evictions, space)
    }
    after(evictions, in: opened)
    publishLimit(space, opened)
    if evictions.givenBack > Self.longLog {
      // The file does not get shorter before that.
      try opened.index.truncateLog(waiting: false)
    }
    return evictions
  }

  /// Why a response does not fit although all that may be evicted was evicted.
  func noRoomReason(in opened: OpenDirectory) -> String {
    if let note = noRoom(in: opened) { return note }
    if let shortage = freeSpace.shortage(in: opened.directory.root), shortage > 0 {
      return "\(freeSpace.minimum) bytes are to be free on the file system, \(shortage) are missing"
    }
    return "no room beside what is pinned or in work"
  }

  /// Says so if the capacity is less than what an index takes in which nothing is stored.
  func noRoom(in opened: OpenDirectory) -> String? {
    let capacity = currentLimits.capacity
    guard capacity < 16 << 20 else { return nil }
    let roots =
      (try? opened.index.read { (connection) throws(CacheError) -> Int64? in
        try connection.number("SELECT count(*) FROM sqlite_schema WHERE rootpage > 0")
      }) ?? nil
    // The head of the database and the map of its pages.
    let least = opened.fixedBytes + ((roots ?? 0) + 2) * PageCount.pageSize
    guard least >= capacity else { return nil }
    return "nothing can be stored: an empty cache takes \(least) bytes, the capacity is \(capacity)"
  }
}
