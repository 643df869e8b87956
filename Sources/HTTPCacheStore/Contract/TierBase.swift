package import HTTPCacheSemantics

/// Optional functions of a store under a memory tier. With them, the store's eviction counts the uses that
/// memory answers, and does not count the tier's own reads.
package protocol TierBase: AnyObject, Sendable {
  /// Counts a use that the tier above answered. Called for each hit: no I/O.
  func recordUse(of key: CacheKey)

  /// Like `CacheStore.read`, but does not count as a use.
  ///
  /// - Throws: `CacheError`.
  func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant]
}
