import Synchronization

/// Entries that were found damaged and are about to be removed. Reads treat them as misses from then on.
final class DamagedEntries: Sendable {
  private let ids = Mutex<Set<Int64>>([])
  // Nearly always 0, so that readers do not take the lock.
  private let count = Atomic<Int>(0)

  var all: Set<Int64> { count.load(ordering: .acquiring) > 0 ? ids.withLock { $0 } : [] }

  func insert(_ id: Int64) {
    ids.withLock { ids in
      ids.insert(id)
      count.store(ids.count, ordering: .releasing)
    }
  }

  /// Call this when the entry was removed, or could not be removed.
  func remove(_ id: Int64) {
    ids.withLock { ids in
      ids.remove(id)
      count.store(ids.count, ordering: .releasing)
    }
  }
}
