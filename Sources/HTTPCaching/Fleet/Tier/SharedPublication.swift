public import HTTPCacheSemantics

/// A response to publish.
public struct SharedPublication: Sendable {
  /// The response; the server sets `published`.
  public let variant: SharedVariant
  /// How long the tier keeps it. This is housekeeping: the nodes decide about freshness.
  public let lifetime: Duration
  /// The token of the lock to free; nil for none.
  public let token: String?
  /// The key whose lock is freed, if it is not the key of the record; nil for the key of the record.
  public let lockedKey: CacheKey?

  /// Makes a publication.
  public init(variant: SharedVariant, lifetime: Duration, token: String?, lockedKey: CacheKey? = nil) {
    self.variant = variant
    self.lifetime = lifetime
    self.token = token
    self.lockedKey = lockedKey
  }
}
