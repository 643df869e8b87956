import HTTPCacheSemantics
import HTTPCacheStore

@testable import HTTPCaching

extension Coalescing {
  /// Joins without any invalidation.
  func join(_ key: CacheKey) -> CoalescingTurn {
    join(key, ticket: InvalidationLog().ticket()) { _, _ in false }
  }
}
