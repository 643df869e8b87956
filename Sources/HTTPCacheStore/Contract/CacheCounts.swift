import HTTPCacheSemantics

/// Counters over the life of a store.
public struct CacheCounts: Sendable, Hashable {
  /// Requests answered without a request of their own to the origin: from the store, or with the response of another
  /// request's transfer.
  public var hits: Int64
  /// Requests answered from the store after the origin confirmed the response.
  public var validated: Int64
  /// Requests for which the origin was asked and sent the answer.
  public var misses: Int64
  /// Responses stored.
  public var stores: Int64
  /// Responses evicted for space.
  public var evictions: Int64
  /// Body bytes answered from the store.
  public var hitBytes: Int64
  /// Body bytes received from origins.
  public var originBytes: Int64
  /// Requests answered by the tier that the nodes of a fleet share, since the cache was opened.
  public var sharedHits: Int64
  /// Body bytes received from that tier, since the cache was opened.
  public var sharedBytes: Int64

  /// Makes counters; each default is 0.
  public init(
    hits: Int64 = 0, validated: Int64 = 0, misses: Int64 = 0, stores: Int64 = 0,
    evictions: Int64 = 0, hitBytes: Int64 = 0, originBytes: Int64 = 0,
    sharedHits: Int64 = 0, sharedBytes: Int64 = 0
  ) {
    self.hits = hits
    self.validated = validated
    self.misses = misses
    self.stores = stores
    self.evictions = evictions
    self.hitBytes = hitBytes
    self.originBytes = originBytes
    self.sharedHits = sharedHits
    self.sharedBytes = sharedBytes
  }

  /// Adds each counter, saturating at the maximum.
  package static func += (lhs: inout CacheCounts, rhs: CacheCounts) {
    lhs.hits = lhs.hits.saturatingAdd(rhs.hits)
    lhs.validated = lhs.validated.saturatingAdd(rhs.validated)
    lhs.misses = lhs.misses.saturatingAdd(rhs.misses)
    lhs.stores = lhs.stores.saturatingAdd(rhs.stores)
    lhs.evictions = lhs.evictions.saturatingAdd(rhs.evictions)
    lhs.hitBytes = lhs.hitBytes.saturatingAdd(rhs.hitBytes)
    lhs.originBytes = lhs.originBytes.saturatingAdd(rhs.originBytes)
    lhs.sharedHits = lhs.sharedHits.saturatingAdd(rhs.sharedHits)
    lhs.sharedBytes = lhs.sharedBytes.saturatingAdd(rhs.sharedBytes)
  }
}
