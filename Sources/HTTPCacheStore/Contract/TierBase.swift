public import HTTPCacheSemantics

/// What a store under a memory tier may offer besides `CacheStore`, so that its eviction sees the uses
/// that memory answers, and none that the tier makes for itself.
public protocol TierBase: AnyObject, Sendable {
  /// Counts a use that the tier above answered. Called for each hit: no I/O.
  func recordUse(of key: CacheKey)

  /// The same as `CacheStore.read`, but does not count as a use.
  ///
  /// - Throws: `CacheError`.
  func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant]
}
