import HTTPCacheSemantics
public import HTTPCacheStore

extension HTTPCache {
  /// Removes everything stored for an account, for example when it signs out: responses, parts of responses,
  /// responses that are being stored, and notes about refusals. When this returns, no file of the cache
  /// contains any byte of the partition. Copies that a file system or a flash disk keeps of deleted files are
  /// out of reach, and so are files that a caller still holds.
  ///
  /// Running transfers of the partition continue for their readers, and are not stored. A response that another
  /// process is storing at this moment is stored as invalidated: wipe while no process uses the account.
  ///
  /// - Parameter partition: as in `RequestOptions.partition`; the partition of this cache's mode.
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError`; `CacheError.busy` if another process has been reading an old state of the index
  ///   for seconds: everything is removed, but the index's log still contains bytes of it.
  @discardableResult
  public func wipe(partition: String) async throws(CacheError) -> Int {
    let mode = configuration.rules.mode
    wipes.note(.partition(mode: mode, partition))
    coalescing.forget { $0.mode == mode && $0.partition == partition }
    await running.stopStoring(mode: mode, partition: partition)
    do throws(CacheError) {
      let count = try await store.wipe(mode: mode, partition: partition)
      observe(.wiped(partition: partition, count: count))
      return count
    } catch {
      observe(.storeFailed(operation: "wipe", error))
      throw error
    }
  }

  /// Evicts from memory until at most `bytes` are in use, for an app that received a memory warning. The disk
  /// tier, the capacity and pinned entries do not change.
  ///
  /// - Parameter bytes: the bytes that may stay in memory; 0 keeps nothing.
  public func trimMemory(to bytes: Int64 = 0) { store.trimMemory(to: bytes) }
}
