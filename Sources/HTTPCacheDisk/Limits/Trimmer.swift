import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore

/// Brings the usage within the limits in the background, and after a change of the limits.
final class Trimmer: Sendable {
  // Bytes to free after the file system was full.
  private static let mostFreed: Int64 = 4 << 20
  private static let mostFailures = 7

  private let thread: IndexThread
  private let batch: ChangeBatch
  private let evictor: Evictor
  private let limits: DiskLimits
  private let clock: any CacheClock

  init(
    thread: IndexThread, batch: ChangeBatch, evictor: Evictor, limits: DiskLimits, clock: any CacheClock
  ) {
    self.thread = thread
    self.batch = batch
    self.evictor = evictor
    self.limits = limits
    self.clock = clock
  }

  /// Evicts the excess in the background, some entries at a time. After an error, for example if another
  /// process holds the index, tries again later, several times.
  ///
  /// - Parameters:
  ///   - extra: bytes to free in addition to the excess.
  ///   - failures: the number of failures since the last success.
  func trimInBackground(extra: Int64 = 0, failures: Int = 0) {
    thread.queue.submit { [weak self] in
      guard let self else { return }
      let opened = thread.currentDirectory
      do throws(CacheError) {
        if try !trimSome(of: opened, extra: extra) { return trimInBackground(extra: extra) }
        _ = try? opened.limitLog()
      } catch {
        thread.handleIndexError(error, of: opened)
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

  /// Changes settings of the directory, and evicts the excess. The files are smaller when this returns.
  func change(_ settings: DirectorySettings.Changes) async throws(CacheError) {
    limits.change(settings)
    if let minimum = settings.minimumFreeSpace { thread.currentDirectory.freeSpace.setMinimum(minimum) }
    var isDone = false
    while !isDone {
      isDone = try await thread.run { [self] (opened) throws(CacheError) in
        opened.reservations.setLimit(0)
        try limits.save(in: opened)
        opened.setLogLength(capacity: limits.capacity)
        try batch.write(in: opened)
        guard try trimSome(of: opened) else { return false }
        try opened.index.truncateLog(waiting: true)
        // The log counted as usage and is empty now.
        return try trimSome(of: opened)
      }
    }
  }

  /// Evicts some of the excess; on the index thread.
  ///
  /// - Parameter extra: bytes to free in addition to the excess.
  /// - Returns: whether nothing is left to do.
  private func trimSome(of opened: OpenDirectory, extra: Int64 = 0) throws(CacheError) -> Bool {
    try limits.save(in: opened)
    try opened.limitLog()
    guard try evictor.publishLimit(in: opened).saturatingAdd(extra) > 0 else { return true }
    // The log counts as usage, so empty it before anything is evicted.
    if !opened.emptyLogForFileSystem(extra: extra), opened.logBytes > Evictor.longLog {
      try opened.index.truncateLog(waiting: false)
    }
    guard try evictor.publishLimit(in: opened).saturatingAdd(extra) > 0 else { return true }
    let next = "pinned = 0 AND file IS NOT NULL AND partial = 0 ORDER BY priority, touched LIMIT 8"
    let evictions = try opened.makingRoom(byDeletingFilesOf: next) { () throws(CacheError) in
      try evictor.evictSome(Evictions(extra: extra), in: opened)
    }
    guard evictions.count == 0 else { return false }
    return evictions.isEnough || !opened.removeSetAside()
  }

  /// Frees some space for later bodies after the file system was full, whatever the capacity.
  func didRunOutOfSpace(_ full: FullFileSystem) {
    let freeSpace = thread.currentDirectory.freeSpace
    guard freeSpace.minimum > 0 else { return }
    freeSpace.askAgain()
    thread.currentDirectory.reservations.setLimit(0)
    thread.queue.submit { [weak self] in
      guard let self else { return }
      let opened = thread.currentDirectory
      guard let excess = try? evictor.publishLimit(in: opened) else { return }
      // Do nothing if there is enough space again.
      guard full.isQuota || freeSpace.free(in: opened.directory.root) ?? 0 < Self.mostFreed else { return }
      trimInBackground(extra: max(0, -excess).saturatingAdd(Self.mostFreed))
    }
  }
}
