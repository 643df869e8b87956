import Synchronization

/// Entries that were found damaged and are about to be removed: from then on they are misses.
final class DamagedEntries: Sendable {
  private let ids = Mutex<Set<Int64>>([])
  // Nearly always 0, so that nobody takes the lock.
  private let count = Atomic<Int>(0)

  var all: Set<Int64> { count.load(ordering: .acquiring) > 0 ? ids.withLock { $0 } : [] }

  func insert(_ id: Int64) {
    ids.withLock { ids in
      ids.insert(id)
      count.store(ids.count, ordering: .releasing)
    }
  }

  /// The entry is gone, or could not be removed.
  func remove(_ id: Int64) {
    ids.withLock { ids in
      ids.remove(id)
      count.store(ids.count, ordering: .releasing)
    }
  }
}
