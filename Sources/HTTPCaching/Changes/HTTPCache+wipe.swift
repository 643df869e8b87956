import HTTPCacheSemantics
public import HTTPCacheStore

extension HTTPCache {
  /// Removes everything that is stored for an account, as when it signs out: responses, parts of them,
  /// what is on its way to the store, and notes of what was not stored. When this returns, no file of the
  /// cache has any byte of it; what a file system or a flash disk keeps of files that were deleted is
  /// beyond its reach, and so are files that were handed out and not let go of.
  ///
  /// Transfers of the partition go on for those who read them, and are not stored. What another process
  /// is storing for it at this moment is stored as invalidated: wipe when the account is in use nowhere.
  ///
  /// - Parameter partition: as in `RequestOptions.partition`; that of the cache's own mode.
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError`; `CacheError.busy` if another process has held an old state of the index for
  ///   seconds: all is removed, but the index's log still has bytes of it.
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

  /// Evicts from memory down to some bytes, for an app that was warned that the system runs out of it.
  /// What is on disk stays, the capacity too, and what is pinned.
  ///
  /// - Parameter bytes: what may stay in memory; 0 keeps nothing.
  public func trimMemory(to bytes: Int64 = 0) { store.trimMemory(to: bytes) }
}
