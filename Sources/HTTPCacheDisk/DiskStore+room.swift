import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// What is in use, what may be, and room for what is being written.
extension DiskStore {
  // The most that is written without asking whether there is still room.
  private static let mostGranted: Int64 = 4 << 20
  // A log that is worth emptying before anything is evicted for it.
  private static let longLog: Int64 = 128 << 10
  /// The most entries that one transaction evicts.
  static let evictionLimit = 512

  /// Bytes in use but for what is being written; pages that are free in the index do not count, since
  /// they can be given back.
  func usedBytes(_ state: IndexState, _ pages: PageCount, _ parts: StoreParts) -> Int64 {
    pages.liveBytes + state.bodies + parts.fixedBytes + parts.logBytes
  }

  /// The lowest capacity of all that have the directory open, dead ones included, and what all are
  /// writing. Looks at memory alone.
  func claims(on parts: StoreParts) -> (capacity: Int64, reserved: Int64) {
    let others = parts.room.others
    return (
      others.reduce(currentLimits.capacity) { min($0, $1.capacity) },
      others.reduce(parts.room.ownBytes) { $0.saturatingAdd($1.bytes) }
    )
  }

  /// Bytes that this store and others are writing.
  func reservedBytes(_ parts: StoreParts) -> Int64 {
    parts.room.others.reduce(parts.room.ownBytes) { $0.saturatingAdd($1.bytes) }
  }

  /// The most bytes that may be in use beside what is being written.
  ///
  /// - Parameter used: bytes in use, with what is about to be.
  func ceiling(used: Int64, _ parts: StoreParts) -> Int64 {
    let own = currentLimits.capacity
    let others = parts.room.others
    let reserved = others.reduce(parts.room.ownBytes) { $0.saturatingAdd($1.bytes) }
    var ceiling = others.reduce(own) { min($0, $1.capacity) } - reserved
    if used > ceiling, !others.isEmpty {
      // The capacity of a process that is gone no longer counts; what it left does until it is deleted.
      let dead = others.filter { OwnerLock.isDead($0.owner, in: parts.directory) }
      if !dead.isEmpty {
        let gone = Set(dead.map(\.slot))
        ceiling =
          others.reduce(own) { gone.contains($1.slot) ? $0 : min($0, $1.capacity) } - reserved
        sweepSoon(of: parts)
      }
    }
    if let shortage = freeSpace.shortage(in: parts.directory.root) {
      ceiling = min(ceiling, used - shortage)
    }
    return ceiling
  }

  /// There is room for so many bytes.
  func grant(_ bytes: Int64, _ parts: StoreParts) {
    // All who write may do so at once.
    let share = bytes / Int64(parts.room.others.count + 1)
    grantedBytes.store(min(Self.mostGranted, share), ordering: .relaxed)
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
    guard grantedBytes.subtract(bytes, ordering: .relaxed).newValue < 0 else { return }
    try await onIndex { [self] (current) throws(CacheError) in
      try requireCurrent(parts, current, key: record.key)
      try limitLog(parts)
      guard try excess(parts) > 0 else { return }
      var isAdmitted = record.isPinned
      while true {
        try limitLog(parts)
        if giveBackForFileSystem(parts), try excess(parts) <= 0 { return }
        let evictions = try evictSome(parts, sparing: row ?? 0) { victims throws(CacheError) in
          guard !isAdmitted else { return }
          if case .refused(let bound) = admission(of: record.key, size: length, over: victims) {
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
  private func excess(_ parts: StoreParts) throws(CacheError) -> Int64 {
    try parts.index.withWriter { (connection) throws(CacheError) in
      let used = usedBytes(try IndexState(connection), try PageCount(connection), parts)
      let excess = used - ceiling(used: used, parts)
      if excess <= 0 { grant(-excess, parts) }
      return excess
    }
  }

  /// Evicts some of what is too much; on the index's thread.
  ///
  /// - Parameters:
  ///   - extra: bytes to free beyond what fits.
  ///   - approve: sees what would go first.
  private func evictSome(
    _ parts: StoreParts, sparing row: Int64 = 0, extra: Int64 = 0,
    approve: ([EntryRow]) throws(CacheError) -> Void = { _ in }
  ) throws(CacheError) -> Evictions {
    let evictions = try parts.index.write { (connection) throws(CacheError) in
      var state = try IndexState(connection)
      let used = usedBytes(state, try PageCount(connection), parts)
      let excess = (used - ceiling(used: used, parts)).saturatingAdd(extra)
      if excess > 0 { try approve(victims(excess: excess, sparing: row, connection)) }
      // A log that grows by what is deleted would call for more to be deleted.
      var evictions = Evictions(
        limit: Self.evictionLimit, byteLimit: max(Self.longLog, currentLimits.capacity / 16),
        protected: row, extra: extra)
      try evict(&evictions, &state, connection, parts)
      try state.save(connection)
      return evictions
    }
    after(evictions, in: parts)
    return evictions
  }

  /// Does a part of evicting down to what fits; on the index's thread.
  ///
  /// - Parameter extra: bytes to free beyond that.
  /// - Returns: whether that was the last part.
  func trimSome(_ parts: StoreParts, extra: Int64 = 0) throws(CacheError) -> Bool {
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
      WHERE pinned = 0 AND listed = 1 AND file IS NOT NULL AND partial = 0
      ORDER BY priority, touched LIMIT 8
      """
    let evictions = try makingRoom(in: parts, next) { () throws(CacheError) in
      try evictSome(parts, extra: extra)
    }
    guard evictions.removals.count == 0 else { return false }
    return try evictions.isEnough ? giveBackPages(parts) : !parts.removeSetAside()
  }

  /// Makes the index's file shorter by pages that are free, as far as the capacity asks for it.
  ///
  /// - Returns: whether that was all.
  private func giveBackPages(_ parts: StoreParts) throws(CacheError) -> Bool {
    try parts.index.withWriter { (connection) throws(CacheError) in
      let pages = try PageCount(connection)
      let used = usedBytes(try IndexState(connection), pages, parts)
      let surplus = used + pages.bytes - pages.liveBytes - ceiling(used: used, parts)
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
    fileQueue.submit { [weak self] in
      parts.directory.excludeFromBackups()
      self?.loadPopularity(in: parts)
    }
    trimInBackground()
  }

  /// Evicts in the background what does not fit, a part at a time.
  ///
  /// - Parameter extra: bytes to free beyond that.
  func trimInBackground(extra: Int64 = 0) {
    indexQueue.submit { [weak self] in
      guard let self else { return }
      let parts = currentParts
      guard let isDone = try? trimSome(parts, extra: extra) else { return }
      if !isDone { return trimInBackground(extra: extra) }
      _ = try? limitLog(parts)
    }
  }

  /// The file system is full, whatever the capacity: frees some of it for what comes next.
  func didRunOutOfSpace(_ full: FullFileSystem) {
    guard freeSpace.minimum > 0 else { return }
    freeSpace.askAgain()
    grantedBytes.store(0, ordering: .relaxed)
    indexQueue.submit { [weak self] in
      guard let self, let excess = try? excess(currentParts) else { return }
      // There may be room again by now.
      let free = freeSpace.free(in: currentParts.directory.root) ?? 0
      guard full.isQuota || free < Self.mostGranted else { return }
      trimInBackground(extra: max(0, -excess).saturatingAdd(Self.mostGranted))
    }
  }

  /// Keeps the log within its limit; on the index's thread.
  ///
  /// - Throws: `CacheError.busy` if somebody reads an old state of the index, so that its log can only
  ///   grow, and it is far too large already.
  func limitLog(_ parts: StoreParts) throws(CacheError) {
    guard parts.logBytes > Schema.logLimit else { return }
    try parts.index.withWriter { (connection) throws(CacheError) in
      try connection.truncateLog(waiting: false)
    }
    guard parts.logBytes > Schema.logLimit + Schema.logSlack else { return }
    throw CacheError(.busy, "somebody holds the index's log, which has \(parts.logBytes) bytes")
  }

  /// How large the log gets before it is played into the database: less where it would take much of the
  /// capacity.
  func setLogLength(of parts: StoreParts) {
    let pages = Int(max(16, min(Int64(Schema.logPages), currentLimits.capacity / 64 / PageCount.pageSize)))
    parts.index.setLogPages(pages)
    let limit = min(Schema.logLimit, Int64(pages + 24) * PageCount.pageSize)
    _ = try? parts.index.withWriter { (connection) throws(CacheError) in
      try connection.execute("PRAGMA journal_size_limit = \(limit)")
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
