import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The limits of a directory, and the space that is freed for bodies that are being written.
extension DiskStore {
  // The most bytes that writers may reserve without asking the index thread for the usage.
  private static let mostUnasked: Int64 = 4 << 20
  /// The size of a log that is emptied before anything is evicted.
  static let longLog: Int64 = 128 << 10

  /// Reads the usage of the directory.
  func measuredSpace(_ connection: SQLiteConnection, _ opened: OpenDirectory) throws(CacheError) -> DiskSpace
  {
    try DiskSpace(connection, opened, shortage: freeSpace.shortage(in: opened.directory.root))
  }

  /// The excess over the capacity or over the free-space limit in bytes; negative if there is slack.
  func excess(_ space: DiskSpace, _ opened: OpenDirectory) -> Int64 {
    space.excess(reserved: opened.reservations.bytes - space.counted, capacity: capacity(by: space.state))
  }

  /// Publishes how many bytes may be reserved before a writer has to ask; on the index thread, after the
  /// commit.
  func publishLimit(_ space: DiskSpace, _ opened: OpenDirectory) {
    let reserved = opened.reservations.bytes - space.counted
    opened.reservations.setLimit(reserved + min(Self.mostUnasked, -excess(space, opened)))
  }

  /// Reads the usage and publishes the limit; on the index thread.
  @discardableResult
  func publishLimit(in opened: OpenDirectory) throws(CacheError) -> DiskSpace {
    let space = try opened.index.withWriter { (connection) throws(CacheError) in
      try measuredSpace(connection, opened)
    }
    publishLimit(space, opened)
    return space
  }

  /// Publishes the limit after a transaction that extended a row. Call this before the reservation of the
  /// bytes that the row now counts is released; on the index thread.
  func didGrow(_ opened: OpenDirectory) {
    do throws(CacheError) { try publishLimit(in: opened) } catch { opened.reservations.setLimit(0) }
  }

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
    freeSpace.didUse(bytes)
    if opened.reservations.areWithinLimit { return }
    try await onIndex { [self] (current) throws(CacheError) in
      try requireCurrent(opened, current, key: record.key)
      var candidate = record.isPinned ? nil : (opened.hashes.hash(of: record.key), length)
      while true {
        try limitLog(opened)
        let space = try publishLimit(in: opened)
        guard excess(space, opened) > 0 else { return }
        emptyLogForFileSystem(opened)
        let evictions = try evictSome(opened, sparing: row ?? 0, for: candidate)
        if let priority = evictions.refusedPriority {
          didRefuse(priority: priority)
          throw CacheError(.notAdmitted, "what is stored is worth more", key: record.key)
        }
        if evictions.isEnough { return }
        candidate = nil
        guard evictions.removals.count > 0 else {
          throw CacheError(.noSpace, noRoomReason(in: opened), key: record.key)
        }
      }
    }
  }

  /// Counts a refused response as if it had been stored and evicted at once.
  func didRefuse(priority: Double) {
    policy.evicted(priorities: [priority])
    count(CacheCounts(evictions: 1))
  }

  /// Evicts some of the excess; on the index thread.
  ///
  /// - Parameters:
  ///   - row: not evicted.
  ///   - extra: bytes to free in addition to the excess.
  ///   - candidate: the response that needs the space (`Evictions.candidate`).
  func evictSome(
    _ opened: OpenDirectory, sparing row: Int64 = 0, extra: Int64 = 0,
    for candidate: (hash: UInt64, size: Int64)? = nil
  ) throws(CacheError) -> Evictions {
    let (evictions, space) = try opened.write { (connection) throws(CacheError) in
      var space = try measuredSpace(connection, opened)
      // Limit the bytes: deleting rows makes the log longer, and the log counts as usage.
      var evictions = Evictions(
        byteLimit: max(Self.longLog, currentLimits.capacity / 16), protected: row, extra: extra,
        candidate: candidate)
      try evict(&evictions, &space, connection, opened)
      try space.state.save(connection)
      return (evictions, space)
    }
    after(evictions, in: opened)
    publishLimit(space, opened)
    if evictions.bytes - evictions.removals.cost > Self.longLog {
      // The file gets shorter only at a checkpoint.
      try opened.index.truncateLog(waiting: false)
      freeSpace.askAgain()
    }
    return evictions
  }

  /// The reason why a response does not fit although all evictable entries were evicted.
  func noRoomReason(in opened: OpenDirectory) -> String {
    if let note = noRoom(in: opened) { return note }
    if let shortage = freeSpace.shortage(in: opened.directory.root), shortage > 0 {
      return "\(freeSpace.minimum) bytes are to be free on the file system, \(shortage) are missing"
    }
    return "no room now: the rest is pinned, being written, or evicted in the background"
  }

  /// A message if the capacity is less than the size of an empty index; otherwise nil.
  func noRoom(in opened: OpenDirectory) -> String? {
    let capacity = currentLimits.capacity
    guard capacity < 16 << 20 else { return nil }
    let roots =
      (try? opened.index.read { (connection) throws(CacheError) -> Int64? in
        try connection.number("SELECT count(*) FROM sqlite_schema WHERE rootpage > 0")
      }) ?? nil
    // Two more pages: the head of the database and the map of its pages.
    let least = opened.fixedBytes + ((roots ?? 0) + 2) * PageCount.pageSize
    guard least >= capacity else { return nil }
    return "nothing can be stored: an empty cache takes \(least) bytes, the capacity is \(capacity)"
  }
}
