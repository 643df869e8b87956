import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// What is in use, what may be, and room for what is being written.
extension DiskStore {
  // What is freed for what comes after a full disk.
  private static let mostFreed: Int64 = 4 << 20
  // The most that is evicted ahead of need, and its share of the capacity.
  private static let mostAhead: Int64 = 1 << 20
  private static let shareAhead: Int64 = 256
  // A log that is worth emptying before anything is evicted for it.
  private static let longLog: Int64 = 128 << 10
  /// The most entries that one transaction evicts.
  static let evictionLimit = 512

  /// Bytes in use but for what is being written; pages that are free in the index do not count, since
  /// they can be given back.
  func usedBytes(_ state: IndexState, _ pages: PageCount, _ parts: StoreParts) -> Int64 {
    pages.liveBytes + state.bodies + parts.fixedBytes + parts.logBytes
  }

  /// Bytes that this store and others are writing or about to delete, told also to a store that only looks.
  func reservedBytes(_ parts: StoreParts) -> Int64 {
    let others = parts.room.hasJoined ? parts.room.others : parts.room.claims(in: parts.directory)
    return others.reduce(parts.room.ownBytes + parts.room.ownLeaving) {
      $0.saturatingAdd($1.bytes).saturatingAdd($1.leaving)
    }
  }

  /// The most bytes that may be in use beside what is being written.
  ///
  /// - Parameters:
  ///   - state: of the index, with the capacity.
  ///   - used: bytes in use, with what is about to be.
  ///   - counted: bytes of it that are reserved as well.
  ///   - writing: bytes that all are writing, if they were asked for before the rows were read; within a
  ///     transaction that is the same.
  func ceiling(
    _ state: IndexState, used: Int64, counted: Int64 = 0, writing: Int64? = nil, _ parts: StoreParts
  ) -> Int64 {
    let others = parts.room.others
    let reserved = (writing ?? parts.room.writtenBytes).saturatingAdd(parts.room.leavingBytes) - counted
    var ceiling = capacity(by: state) - reserved
    if used > ceiling {
      // The files of a process that is gone count until they are deleted.
      let hasDead = others.contains {
        ($0.bytes > 0 || $0.leaving > 0) && OwnerLock.isDead($0.owner, in: parts.directory)
      }
      if hasDead { sweepSoon(of: parts) }
    }
    if let shortage = freeSpace.shortage(in: parts.directory.root) {
      ceiling = min(ceiling, used - shortage)
    }
    return ceiling
  }

  /// Evicts what has to go for the next bytes of a body, before they are written and if it is worth it.
  ///
  /// - Parameters:
  ///   - record: of the body.
  ///   - bytes: how many are about to be written; they are reserved already.
  ///   - length: of the whole body, as far as it is known.
  ///   - row: what is stored of it, which stays.
  /// - Throws: `CacheError.notAdmitted` if what would have to go is worth more, `CacheError.noSpace` if
  ///   there is nothing that could go.
  func makeRoom(
    for record: CacheRecord, bytes: Int64, length: Int64, sparing row: Int64?, in parts: StoreParts
  ) async throws(CacheError) {
    freeSpace.didUse(bytes)
    if parts.room.spend(bytes) { return }
    try await onIndex { [self] (current) throws(CacheError) in
      try requireCurrent(parts, current, key: record.key)
      try limitLog(parts)
      guard try excess(parts, withFreePages: true) > 0 else { return }
      var isAdmitted = record.isPinned
      let ahead = min(Self.mostAhead, currentLimits.capacity / Self.shareAhead)
      while true {
        try limitLog(parts)
        if giveBackForFileSystem(parts), try excess(parts) <= 0 { return }
        let evictions = try evictSome(parts, sparing: row ?? 0, ahead: ahead) { victims throws(CacheError) in
          guard !isAdmitted else { return }
          let hash = parts.hashes.hash(of: record.key)
          if case .refused(let bound) = admission(of: hash, size: length, over: victims) {
            policy.withLock { $0.evicted(priority: bound) }
            count(CacheCounts(evictions: 1))
            throw CacheError(.notAdmitted, "what is stored is worth more", key: record.key)
          }
          isAdmitted = true
        }
        if evictions.isEnough { return }
        guard evictions.removals.count > 0 else {
          throw CacheError(.noSpace, noRoomReason(in: parts), key: record.key)
        }
      }
    }
  }

  /// By how many bytes too much is in use; on the index's thread.
  ///
  /// - Parameter withFreePages: whether pages count that the index could give back, and has not yet.
  private func excess(
    _ parts: StoreParts, withFreePages: Bool = false
  ) throws(CacheError) -> Int64 {
    let mark = parts.room.mark
    // Before the rows: what is reserved now and no more then has its row. What leaves is asked for after them.
    let writing = parts.room.writtenBytes
    return try parts.index.withWriter { (connection) throws(CacheError) in
      let pages = try PageCount(connection)
      let state = try IndexState(connection)
      let used = usedBytes(state, pages, parts)
      let excess = used - ceiling(state, used: used, writing: writing, parts)
      let surplus = excess + pages.bytes - pages.liveBytes
      parts.room.grant(-surplus, since: mark)
      return withFreePages ? surplus : excess
    }
  }

  /// Evicts some of what is too much; on the index's thread.
  ///
  /// - Parameters:
  ///   - extra: bytes to free beyond what fits.
  ///   - ahead: bytes to free beyond that if anything has to go.
  ///   - approve: sees what would go first.
  private func evictSome(
    _ parts: StoreParts, sparing row: Int64 = 0, extra: Int64 = 0, ahead: Int64 = 0,
    approve: ([EntryRow]) throws(CacheError) -> Void = { _ in }
  ) throws(CacheError) -> Evictions {
    let evictions = try parts.index.write { (connection) throws(CacheError) in
      var state = try IndexState(connection)
      let used = usedBytes(state, try PageCount(connection), parts)
      let excess = (used - ceiling(state, used: used, parts)).saturatingAdd(extra)
      if excess > 0 { try approve(victims(excess: excess, sparing: row, connection, parts)) }
      // A log that grows by what is deleted would call for more to be deleted.
      var evictions = Evictions(
        limit: Self.evictionLimit, byteLimit: max(Self.longLog, currentLimits.capacity / 16),
        protected: row, extra: extra, ahead: ahead)
      try evict(&evictions, &state, connection, parts)
      try state.save(connection)
      evictions.removals.hold(in: parts)
      return evictions
    }
    after(evictions, in: parts)
    if evictions.givenBack > Self.longLog {
      // The file does not get shorter before that.
      try parts.index.withWriter { (connection) throws(CacheError) in
        try connection.truncateLog(waiting: false)
      }
    }
    return evictions
  }

  /// Does a part of evicting down to what fits; on the index's thread.
  ///
  /// - Parameter extra: bytes to free beyond that.
  /// - Returns: whether that was the last part.
  func trimSome(_ parts: StoreParts, extra: Int64 = 0) throws(CacheError) -> Bool {
    try saveSettings(in: parts)
    try limitLog(parts)
    guard try excess(parts).saturatingAdd(extra) > 0 else { return try giveBackPages(parts) }
    if giveBackForFileSystem(parts, extra: extra) {
      guard try excess(parts).saturatingAdd(extra) > 0 else { return false }
    } else if parts.logBytes > Self.longLog {
      try parts.index.withWriter { (connection) throws(CacheError) in
        try connection.truncateLog(waiting: false)
      }
      guard try excess(parts).saturatingAdd(extra) > 0 else { return false }
    }
    let next = """
      SELECT \(EntryRow.columns) FROM entry
      WHERE pinned = 0 AND file IS NOT NULL AND partial = 0
      ORDER BY priority, touched LIMIT 8
      """
    let evictions = try makingRoom(in: parts, next) { () throws(CacheError) in
      try evictSome(parts, extra: extra)
    }
    guard evictions.removals.count == 0, try giveBackPages(parts) else { return false }
    return evictions.isEnough || !parts.removeSetAside()
  }

  /// Makes the index's file shorter by pages that are free, as far as the capacity asks for it.
  ///
  /// - Returns: whether that was all.
  private func giveBackPages(_ parts: StoreParts) throws(CacheError) -> Bool {
    try parts.index.withWriter { (connection) throws(CacheError) in
      let pages = try PageCount(connection)
      let state = try IndexState(connection)
      let used = usedBytes(state, pages, parts)
      let surplus = used + pages.bytes - pages.liveBytes - ceiling(state, used: used, parts)
      guard surplus > 0, pages.free > 0 else { return true }
      try connection.execute("PRAGMA incremental_vacuum(\(min(256, pages.free)))")
      try connection.truncateLog(waiting: false)
      return try PageCount(connection).free == pages.free
    }
  }

  /// Where less is free on the file system than is to be, gives it what the index does not use: what was
  /// evicted from the index alone is not free on disk before. On the index's thread.
  ///
  /// - Parameter extra: bytes to free beyond that.
  /// - Returns: whether there was something to give.
  @discardableResult
  func giveBackForFileSystem(_ parts: StoreParts, extra: Int64 = 0) -> Bool {
    guard let shortage = freeSpace.shortage(in: parts.directory.root),
      shortage.saturatingAdd(extra) > 0
    else { return false }
    let isGiven = try? parts.index.withWriter { (connection) throws(CacheError) in
      let hadLog = parts.logBytes > 0
      // First, since the pages need room in it.
      if hadLog { try connection.truncateLog(waiting: false) }
      let before = try PageCount(connection)
      if before.free > 0 {
        try connection.execute("PRAGMA incremental_vacuum(\(before.free))")
        try connection.truncateLog(waiting: false)
      }
      return hadLog || before.free > 0
    }
    freeSpace.askAgain()
    return isGiven ?? false
  }

  /// What is done when a folder was opened.
  func didOpen(_ parts: StoreParts) {
    setLogLength(of: parts)
    startSweep(of: parts)
    fileQueue.submit { parts.directory.excludeFromBackups() }
    indexQueue.submit { [weak self] in try? self?.shortenIfRemoved(parts) }
    if evicts { trimInBackground() }
  }

  /// Evicts in the background what does not fit, a part at a time. After an error, as from a database that
  /// another process holds, it is tried again later, some times.
  ///
  /// - Parameters:
  ///   - extra: bytes to free beyond that.
  ///   - failures: how often it failed since anything could be done.
  func trimInBackground(extra: Int64 = 0, failures: Int = 0) {
    indexQueue.submit { [weak self] in
      guard let self else { return }
      let parts = currentParts
      do throws(CacheError) {
        if try !trimSome(parts, extra: extra) { return trimInBackground(extra: extra) }
        _ = try? limitLog(parts)
      } catch {
        answer(error, of: parts)
        guard failures < Self.mostFailures else { return }
        // 1 s, then twice as long each time: two minutes in all.
        let delay = Duration.seconds(1 << failures)
        Task { [weak self] in
          try? await Task.sleep(for: delay)
          self?.trimInBackground(extra: extra, failures: failures + 1)
        }
      }
    }
  }

  private static let mostFailures = 7

  /// The file system is full, whatever the capacity: frees some of it for what comes next.
  func didRunOutOfSpace(_ full: FullFileSystem) {
    guard freeSpace.minimum > 0 else { return }
    freeSpace.askAgain()
    currentParts.room.revokeGrant()
    indexQueue.submit { [weak self] in
      guard let self, let excess = try? excess(currentParts) else { return }
      // There may be room again by now.
      let free = freeSpace.free(in: currentParts.directory.root) ?? 0
      guard full.isQuota || free < Self.mostFreed else { return }
      trimInBackground(extra: max(0, -excess).saturatingAdd(Self.mostFreed))
    }
  }

  /// Why there is no room though all that could go went.
  func noRoomReason(in parts: StoreParts) -> String {
    if let note = noRoom(in: parts) { return note }
    if let shortage = freeSpace.shortage(in: parts.directory.root), shortage > 0 {
      return "\(freeSpace.minimum) bytes are to be free on the file system, \(shortage) are missing"
    }
    return "no room beside what is pinned or in work"
  }

  /// Says so if the capacity is less than what an index takes in which nothing is stored.
  func noRoom(in parts: StoreParts) -> String? {
    let capacity = currentLimits.capacity
    guard capacity < 16 << 20 else { return nil }
    let roots =
      (try? parts.index.read { (connection) throws(CacheError) -> Int64? in
        try connection.number("SELECT count(*) FROM sqlite_schema WHERE rootpage > 0")
      }) ?? nil
    // The head of the database and the map of its pages.
    let least = parts.fixedBytes + ((roots ?? 0) + 2) * PageCount.pageSize
    guard least >= capacity else { return nil }
    return "nothing can be stored: an empty cache takes \(least) bytes, the capacity is \(capacity)"
  }
}
