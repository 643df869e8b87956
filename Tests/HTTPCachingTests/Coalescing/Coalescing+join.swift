import HTTPCacheSemantics
import HTTPCacheStore

@testable import HTTPCaching

extension Coalescing {
  /// Joins without any invalidation.
  func join(_ key: CacheKey) -> CoalescingTurn {
    join(key, ticket: ChangeCounters().ticket()) { _, _ in false }
  }
}
