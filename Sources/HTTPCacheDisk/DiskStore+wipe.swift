public import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Removes everything of a partition, so that no file of the directory has any byte of it when this
  /// returns: rows are overwritten, pages that are free are given back, the log is emptied, and indexes
  /// that were set aside and what dead processes left are deleted. Notes of what was not stored go for
  /// all partitions, since they do not tell of whom they are.
  ///
  /// What other processes are writing for the partition is stored as invalidated.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError.busy` if somebody held an old state of the index for seconds, so that the log
  ///   could not be emptied; all is removed all the same.
  @discardableResult
  public func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    let count = try await remove(.partition(mode: mode, partition))
    try await removeLeftovers()
    try await onIndex { [self] (parts) throws(CacheError) in
      batch.withLock { $0.refusals = RecentRefusals(limit: 256) }
      try parts.index.write { (connection) throws(CacheError) in
        try connection.run("DELETE FROM refusal")
        try Epoch.remove(mode: mode, partition: partition, connection)
      }
      _ = parts.removeSetAside()
      // What others write meanwhile is in the log as well, which is then not empty for long.
      for _ in 0..<5 {
        try shrink(parts)
        if parts.logBytes == 0 { return }
      }
      throw CacheError(.busy, "somebody reads an old state of the index, so its log stays for now")
    }
    return count
  }
}
