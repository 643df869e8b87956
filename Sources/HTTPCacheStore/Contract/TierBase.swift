package import HTTPCacheSemantics

/// Optional functions of a store under a memory tier. With them, the store's eviction counts the uses that
/// memory answers, and does not count the tier's own reads.
package protocol TierBase: UseCounter {
  /// Like `CacheStore.read`, but does not count as a use.
  func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant]
}
