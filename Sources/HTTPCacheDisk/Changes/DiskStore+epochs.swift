import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Applies epochs to their entries in the background, some entries at a time: epochs of this store, and
  /// epochs of a process that ended before it applied them. Does nothing while this work is running.
  func workOffEpochs() {
    guard (try? firstEpoch(in: currentDirectory)) ?? nil != nil,
      !isWorkingOff.exchange(true, ordering: .acquiringAndReleasing)
    else { return }
    indexQueue.submit { [weak self] in self?.workOffNext(nil, after: nil) }
  }

  /// Called when a read finds epochs. The process that writes an epoch applies it, but may end before it is
  /// done, and an attempt of this store may fail. So a read starts another attempt, at most once a second.
  func didReadEpochs() {
    let now = clock.now.seconds
    guard lastEpochAttempt.exchange(now, ordering: .relaxed) != now else { return }
    workOffEpochs()
  }

  private func workOffNext(_ epoch: Epoch?, after place: Epoch.Place?) {
    let opened = currentDirectory
    do throws(CacheError) {
      var current = epoch
      if current == nil { current = try firstEpoch(in: opened) }
      guard let current else {
        isWorkingOff.store(false, ordering: .releasing)
        return
      }
      let next =
        if current.removes { try reclaimSome(current, after: place, in: opened) } else {
          try markSome(current, after: place, in: opened)
        }
      indexQueue.submit { [weak self] in
        self?.workOffNext(next == nil ? nil : current, after: next)
      }
    } catch {
      // The epoch stays in the index, and reads still apply it to its entries.
      isWorkingOff.store(false, ordering: .releasing)
    }
  }

  private func firstEpoch(in opened: OpenDirectory) throws(CacheError) -> Epoch? {
    try opened.index.read { (connection) throws(CacheError) in try Epoch.load(connection).first }
  }

  private func markSome(
    _ epoch: Epoch, after place: Epoch.Place?, in opened: OpenDirectory
  ) throws(CacheError) -> Epoch.Place? {
    try opened.index.write { (connection) throws(CacheError) -> Epoch.Place? in
      let covered = try epoch.covered(after: place, limit: Self.markLimit, connection)
      for id in covered.ids { try Self.mark(id, connection) }
      if covered.last == nil { try epoch.remove(connection) }
      return covered.last
    }
  }
}
