public import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Removes everything of a partition, so that no file of the directory has any byte of it when this
  /// returns. Rows are overwritten, and the log is emptied. Indexes that were set
  /// aside and files of dead processes are deleted. Refusals are deleted for all partitions, because their
  /// rows do not name a partition.
  ///
  /// Responses that other processes are writing for the partition are stored as invalidated.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError.busy` if a process read an old state of the index for seconds, so that the log
  ///   could not be emptied. The entries are removed nevertheless.
  @discardableResult
  public func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    let removal = try await change(.partition(mode: mode, partition), removes: true)
    recentRecords.removeAll()
    try await removeLeftovers()
    try await onIndex { [self] (opened) throws(CacheError) in
      batch.forgetRefusals()
      try opened.index.write { (connection) throws(CacheError) in
        try connection.run("DELETE FROM refusal")
        try Epoch.remove(mode: mode, partition: partition, upTo: removal.epoch.sequence - 1, connection)
      }
      _ = opened.removeSetAside()
      try emptyLog(of: opened)
    }
    return removal.rows.count
  }
}
