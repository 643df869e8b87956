import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// Evicting in the background, and giving space back to the file system.
extension DiskStore {
  // Bytes to free after the file system was full.
  private static let mostFreed: Int64 = 4 << 20
  private static let mostFailures = 7

  /// Starts the background work for a directory that was opened.
  func didOpen(_ opened: OpenDirectory) {
    setLogLength(of: opened)
    startSweep(of: opened)
    fileQueue.submit { opened.directory.excludeFromBackups() }
    indexQueue.submit { [weak self] in try? self?.shortenIfEmpty(opened) }
    if options.evicts { trimInBackground() }
  }

  /// Evicts the excess in the background, some entries at a time. After an error, for example if another
  /// process holds the index, tries again later, several times.
  ///
  /// - Parameters:
  ///   - extra: bytes to free in addition to the excess.
  ///   - failures: the number of failures since the last success.
  func trimInBackground(extra: Int64 = 0, failures: Int = 0) {
    indexQueue.submit { [weak self] in
      guard let self else { return }
      let opened = currentDirectory
      do throws(CacheError) {
        if try !trimSome(opened, extra: extra) { return trimInBackground(extra: extra) }
        _ = try? limitLog(opened)
      } catch {
        answer(error, of: opened)
        guard failures < Self.mostFailures else { return }
        // 1 s, then twice as long each time: two minutes in all.
        let delay = Duration.seconds(1 << failures)
        Task { [weak self, clock] in
          try? await clock.sleep(for: delay)
          self?.trimInBackground(extra: extra, failures: failures + 1)
        }
      }
    }
  }

  private func excessNow(_ opened: OpenDirectory) throws(CacheError) -> Int64 {
    excess(try publishLimit(in: opened), opened)
  }

  /// Evicts some of the excess; on the index thread.
  ///
  /// - Parameter extra: bytes to free in addition to the excess.
  /// - Returns: whether nothing is left to do.
  func trimSome(_ opened: OpenDirectory, extra: Int64 = 0) throws(CacheError) -> Bool {
    try saveSettings(in: opened)
    try limitLog(opened)
    guard try excessNow(opened).saturatingAdd(extra) > 0 else { return true }
    // The log counts as usage, so empty it before anything is evicted.
    if !emptyLogForFileSystem(opened, extra: extra), opened.logBytes > Self.longLog {
      try opened.index.truncateLog(waiting: false)
    }
    guard try excessNow(opened).saturatingAdd(extra) > 0 else { return true }
    let next = "pinned = 0 AND file IS NOT NULL AND partial = 0 ORDER BY priority, touched LIMIT 8"
    let evictions = try makingRoom(in: opened, next) { () throws(CacheError) in
      try evictSome(opened, extra: extra)
    }
    guard evictions.removals.count == 0 else { return false }
    return evictions.isEnough || !opened.removeSetAside()
  }

  /// Empties the log if too little is free on the file system: evicting rows alone frees nothing on disk,
  /// because the index gets shorter at a checkpoint. On the index thread.
  ///
  /// - Parameter extra: bytes to free in addition to the shortage.
  /// - Returns: whether there was a log to empty.
  @discardableResult
  func emptyLogForFileSystem(_ opened: OpenDirectory, extra: Int64 = 0) -> Bool {
    guard let shortage = freeSpace.shortage(in: opened.directory.root),
      shortage.saturatingAdd(extra) > 0
    else { return false }
    let hasLog = opened.logBytes > 0
    if hasLog { _ = try? opened.index.truncateLog(waiting: false) }
    freeSpace.askAgain()
    return hasLog
  }

  /// Frees some space for later bodies after the file system was full, whatever the capacity.
  func didRunOutOfSpace(_ full: FullFileSystem) {
    guard freeSpace.minimum > 0 else { return }
    freeSpace.askAgain()
    currentDirectory.reservations.setLimit(0)
    indexQueue.submit { [weak self] in
      guard let self, let excess = try? excessNow(currentDirectory) else { return }
      // Do nothing if there is enough space again.
      let free = freeSpace.free(in: currentDirectory.directory.root) ?? 0
      guard full.isQuota || free < Self.mostFreed else { return }
      trimInBackground(extra: max(0, -excess).saturatingAdd(Self.mostFreed))
    }
  }
}
