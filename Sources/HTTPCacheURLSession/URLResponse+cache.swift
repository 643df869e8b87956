public import Foundation
public import HTTPCaching

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension URLResponse {
  /// Where the response came from, and why; nil if it did not come through a cache of this package.
  public var cacheOutcome: CacheOutcome? { (self as? CachedHTTPURLResponse)?.outcome }

  /// The outcomes of the redirects that were followed on the way, first to last.
  public var cacheRedirects: [CacheOutcome] { (self as? CachedHTTPURLResponse)?.redirects ?? [] }

  /// How the content compares with the response stored for the request before; `.unknown` for responses that
  /// did not come through a cache.
  public var cacheContentChange: ContentChange {
    (self as? CachedHTTPURLResponse)?.contentChange ?? .unknown
  }

  /// When the stored response was received from the origin or last confirmed by it; nil for an answer from
  /// the origin.
  public var cacheStoredAt: Date? { (self as? CachedHTTPURLResponse)?.storedAt }
}
