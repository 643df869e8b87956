import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching

/// A store whose removals wait, until their task is cancelled, while a test says so.
final class GatedStore: StoreLayer {
  let base: any CacheStore
  let gate = Gate()
  private let isHolding = WatchedState(false)

  init(_ base: any CacheStore) { self.base = base }

  var holdsRemovals: Bool {
    get { isHolding.withLock { $0 } }
    set { isHolding.withLock { $0 = newValue } }
  }

  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    if holdsRemovals { try? await gate.pass() }
    return try await base.remove(selection)
  }
}
