public import HTTPCaching

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension URLResponse {
  /// Where the response came from, and why; nil if it did not come through a cache of this package.
  public var cacheOutcome: CacheOutcome? { (self as? CachedHTTPURLResponse)?.outcome }

  /// The outcomes of the redirects that were followed on the way, first to last.
  public var cacheRedirects: [CacheOutcome] { (self as? CachedHTTPURLResponse)?.redirects ?? [] }
}
