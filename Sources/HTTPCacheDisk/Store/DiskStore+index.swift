import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The ways to the index: reading on any thread, changing on the index thread, and opening it again.
extension DiskStore {
  /// The open directory, for reading on the calling thread.
  ///
  /// - Throws: `CacheError.unavailable` while a replaced index is being opened.
  func directoryToRead() throws(CacheError) -> OpenDirectory {
    let opened = currentDirectory
    guard opened.seemsCurrent else {
      indexQueue.submit { [weak self] in _ = try? self?.directoryToWrite() }
      throw CacheError(.unavailable, "the index was replaced")
    }
    return opened
  }

  /// The open directory, opened again if it was replaced; on the index thread.
  func directoryToWrite() throws(CacheError) -> OpenDirectory {
    let opened = currentDirectory
    if opened.isCurrent { return opened }
    return try reopen(insteadOf: opened, isDamaged: false)
  }

  // Forgets uses of keys: a new index has another secret, so the hashes of keys differ.
  private func forgetUses() {
    policy.forgetUses()
    batch.forgetUses()
  }

  func reopen(
    insteadOf old: OpenDirectory, isDamaged: Bool
  ) throws(CacheError) -> OpenDirectory {
    guard currentDirectory === old else { return currentDirectory }
    try old.index.requireOpen()
    let new = try OpenDirectory.open(
      path: path, durability: options.durability,
      settings: DirectorySettings(
        capacity: currentLimits.capacity,
        minimumFreeSpace: options.evicts ? freeSpace.minimum : DirectorySettings().minimumFreeSpace),
      replacing: old, isDamaged: isDamaged)
    self.opened.withLock { $0 = new }
    if new.secret != old.secret { forgetUses() }
    didOpen(new)
    return new
  }

  /// Opens an index again in which SQLite found damage, and sets it aside if a check confirms the damage. A
  /// read that failed once may look like damage, too.
  private func suspectDamage(of opened: OpenDirectory) {
    guard currentDirectory === opened else { return }
    let isDamaged = opened.suspicions >= OpenDirectory.mostSuspicions || !opened.passesCheck()
    _ = try? reopen(insteadOf: opened, isDamaged: isDamaged)
  }

  /// Runs work with the index on the index thread. An index that turns out damaged is replaced.
  func onIndex<Value: Sendable>(
    _ work: @escaping @Sendable (OpenDirectory) throws(CacheError) -> Value
  ) async throws(CacheError) -> Value {
    try await indexQueue.run { [self] () throws(CacheError) in
      let opened = try directoryToWrite()
      do throws(CacheError) {
        return try work(opened)
      } catch {
        answer(error, of: opened)
        throw error
      }
    }
  }

  /// - Throws: `CacheError.unavailable` if a directory that work began with is no longer the open one.
  func requireCurrent(
    _ opened: OpenDirectory, _ current: OpenDirectory, key: CacheKey?
  ) throws(CacheError) {
    guard current === opened else { throw CacheError(.unavailable, "the index was replaced", key: key) }
  }

  /// Handles an error of the index: a damaged index is replaced; on the index thread.
  func answer(_ error: CacheError, of opened: OpenDirectory) {
    if error.cause is IndexDamage { suspectDamage(of: opened) }
    if error.code == .newerFormat { opened.takenOver() }
  }

  /// Passes an error of the index to `answer(_:of:)` on the index thread. Any thread may call this.
  func noteDamage(_ error: CacheError, of opened: OpenDirectory) {
    guard error.cause is IndexDamage || error.code == .newerFormat else { return }
    indexQueue.submit { [weak self] in self?.answer(error, of: opened) }
  }

  /// Reads from the index on the calling thread. An index that turns out damaged is replaced.
  func reading<Value: Sendable>(
    _ opened: OpenDirectory, _ work: (SQLiteConnection) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    do throws(CacheError) {
      return try opened.index.read(work)
    } catch {
      noteDamage(error, of: opened)
      throw error
    }
  }
}
