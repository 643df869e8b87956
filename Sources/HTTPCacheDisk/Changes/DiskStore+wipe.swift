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
    let (count, last) = try await removeAll(that: .partition(mode: mode, partition))
    recentRecords.removeAll()
    try await removeLeftovers()
    try await onIndex { [self] (opened) throws(CacheError) in
      batch.withLock { $0.refusals = RecentRefusals(limit: 256) }
      try opened.index.write { (connection) throws(CacheError) in
        try connection.run("DELETE FROM refusal")
        try Epoch.remove(mode: mode, partition: partition, upTo: last, connection)
      }
      _ = opened.removeSetAside()
      try emptyLog(of: opened) { () throws(CacheError) in try giveBackAllPages(of: opened) }
    }
    return count
  }
}
