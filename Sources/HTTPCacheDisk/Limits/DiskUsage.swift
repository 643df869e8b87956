import HTTPCacheSemantics
public import HTTPCacheStore

/// What takes the space of a directory, in bytes.
public struct DiskUsage: Sendable, Hashable {
  /// The index: records, small bodies, and all that leads to them.
  public let index: Int64
  /// Pages of the index that are free, to be used again or given back.
  public let freePages: Int64
  /// The index's log.
  public let log: Int64
  /// Bodies, and parts of bodies, in files of their own.
  public let bodies: Int64
  /// Bodies that this store is writing.
  public let writing: Int64
  /// Counters, folders, and damaged indexes that were set aside.
  public let other: Int64
  /// The capacity of the directory.
  public let capacity: Int64

  /// All of it.
  public var total: Int64 { index + freePages + log + bodies + writing + other }
}

extension DiskStore {
  /// What takes the space of the directory.
  ///
  /// - Throws: `CacheError`.
  /// - Complexity: O(1).
  public func diskUsage() throws(CacheError) -> DiskUsage {
    let opened = try directoryToRead()
    let (state, pages) = try reading(opened) { (connection) throws(CacheError) in
      (try IndexState(connection), try PageCount(connection))
    }
    return DiskUsage(
      index: pages.liveBytes, freePages: pages.bytes - pages.liveBytes, log: opened.logBytes,
      bodies: state.bodies, writing: opened.reservations.bytes, other: opened.fixedBytes,
      capacity: capacity(by: state))
  }
}
