import HTTPCacheSemantics
public import HTTPCacheStore

/// What takes the room of a directory, in bytes.
public struct DiskUsage: Sendable, Hashable {
  /// The index: records, small bodies, and all that leads to them.
  public let index: Int64
  /// Pages of the index that are free, to be used again or given back.
  public let freePages: Int64
  /// The index's log.
  public let log: Int64
  /// Bodies, and parts of bodies, in files of their own.
  public let bodies: Int64
  /// Bodies that are being written, by all processes.
  public let writing: Int64
  /// Counters, folders, and damaged indexes that were set aside.
  public let other: Int64
  /// The capacity that the last process was given that stored anything; nil if none has.
  public let capacity: Int64?

  /// All of it.
  public var total: Int64 { index + freePages + log + bodies + writing + other }
}

extension DiskStore {
  /// What takes the room.
  ///
  /// - Throws: `CacheError`.
  /// - Complexity: O(1).
  public func diskUsage() throws(CacheError) -> DiskUsage {
    let parts = try partsToRead()
    let (state, pages, capacity) = try reading(parts) { (connection) throws(CacheError) in
      (
        try IndexState(connection), try PageCount(connection),
        try connection.number("SELECT value FROM meta WHERE name = 'capacity'")
      )
    }
    return DiskUsage(
      index: pages.liveBytes, freePages: pages.bytes - pages.liveBytes, log: parts.logBytes,
      bodies: state.bodies, writing: reservedBytes(parts), other: parts.fixedBytes,
      capacity: capacity)
  }

  /// Notes the capacity for whoever looks at the directory; on the index's thread.
  func noteCapacity(in parts: StoreParts) {
    let capacity = currentLimits.capacity
    _ = try? parts.index.write { (connection) throws(CacheError) in
      let noted = try connection.number("SELECT value FROM meta WHERE name = 'capacity'")
      guard noted != capacity else { return }
      try connection.run("INSERT OR REPLACE INTO meta VALUES ('capacity', ?)", [.integer(capacity)])
    }
  }
}
