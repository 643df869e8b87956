import HTTPCacheSemantics
import HTTPCacheStore

@testable import HTTPCaching

struct Unexpected: Error { let what: String }

extension Coalescing {
  /// Joins without any invalidation.
  func join(_ key: CacheKey) -> CoalescerNews {
    join(key, ticket: ChangeCounters().ticket()) { _, _ in false }
  }
}
