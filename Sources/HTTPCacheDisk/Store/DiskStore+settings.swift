import HTTPCacheFiles
public import HTTPCacheStore
import Synchronization

/// Reads and changes the settings of the directory.
extension DiskStore {
  /// The settings that the directory has now; another process may have changed them.
  ///
  /// - Throws: `CacheError`.
  public func settings() throws(CacheError) -> DirectorySettings {
    let settings = try reading(try directoryToRead()) { (connection) throws(CacheError) in
      try DirectorySettings(connection)
    }
    return settings.changed(by: currentLimits.changes)
  }

  /// Changes the capacity of the directory for all processes, and evicts the excess. The files are smaller when
  /// this returns. Processes that have the directory open use the new capacity from their next change on.
  ///
  /// - Parameters:
  ///   - memory: not used by a store on disk.
  ///   - disk: bytes; nil leaves the capacity as it is.
  /// - Throws: `CacheError`.
  public func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {
    guard let disk else { return }
    limits.withLock { $0.change(DirectorySettings.Changes(capacity: max(0, disk))) }
    try await trimNow()
  }

  /// Changes the minimum of free space on the file system, and evicts entries if less is free. Other
  /// processes that have the directory open use the new minimum when they open it next.
  ///
  /// - Parameter bytes: 0 disables the check.
  /// - Throws: `CacheError`.
  public func setMinimumFreeSpace(_ bytes: Int64) async throws(CacheError) {
    limits.withLock { $0.change(DirectorySettings.Changes(minimumFreeSpace: max(0, bytes))) }
    freeSpace.setMinimum(bytes)
    try await trimNow()
  }

  private func trimNow() async throws(CacheError) {
    var isDone = false
    while !isDone {
      isDone = try await onIndex { [self] (opened) throws(CacheError) in
        opened.reservations.setLimit(0)
        try saveSettings(in: opened)
        setLogLength(of: opened)
        try writeBatch(opened)
        guard try trimSome(opened) else { return false }
        try opened.index.truncateLog(waiting: true)
        // The log counted as usage and is empty now.
        return try trimSome(opened)
      }
    }
  }

  /// Writes the changed settings of this store, until that has succeeded once; on the index thread.
  func saveSettings(in opened: OpenDirectory) throws(CacheError) {
    let changes = currentLimits.changes
    guard !changes.isEmpty else { return }
    try opened.index.write { (connection) throws(CacheError) in
      try DirectorySettings(connection).changed(by: changes).save(connection)
    }
    limits.withLock { $0.saved(changes) }
  }

  /// The capacity of the directory: the capacity that this store has still to write, otherwise the capacity
  /// in the index, which other processes may have changed.
  func capacity(by state: IndexState) -> Int64 {
    limits.withLock { limits in
      if limits.changes.capacity == nil { limits.capacity = state.capacity }
      return limits.capacity
    }
  }

  /// The longest body to store in bytes, for the current capacity of the directory.
  func longestBodyNow() -> Int64 {
    if let state = try? opened.withLock({ $0 }).index.read({ (connection) throws(CacheError) in
      try IndexState(connection)
    }) {
      _ = capacity(by: state)
    }
    return currentLimits.longestBody
  }
}
