package import HTTPCacheSemantics

/// Uses of one key that a memory tier answered. They are for eviction, and not exact: some are told late, or not at
/// all.
package struct KeyUses: Sendable, Equatable {
  package let key: CacheKey
  /// The number of uses.
  package let count: Int
  /// The time of the last one.
  package let last: Timestamp

  package init(of key: CacheKey, count: Int, last: Timestamp) {
    self.key = key
    self.count = count
    self.last = last
  }
}
