public import HTTPCaching
import HTTPTypes

#if canImport(FoundationNetworking)
  import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension URLSessionConfiguration {
  /// The bytes that a body may have by default, where it has to be handed over in one piece: 512 MiB.
  public static let defaultBodyLimit = 512 << 20

  /// A copy of this configuration whose sessions load through a cache; its `urlCache` is nil.
  ///
  /// What the cache does not have is loaded as this configuration says: proxies, cookies, credentials,
  /// timeouts, other protocol classes. Set these before. The cache is kept until `endCaching()`, which
  /// few programs need.
  ///
  /// - Parameters:
  ///   - cache: the cache, which any number of configurations may share.
  ///   - bodyLimit: the most bytes of a body that has to be handed over in one piece, as on Linux to
  ///     every completion handler; longer ones fail with `URLError.dataLengthExceedsMaximum`.
  public func caching(
    with cache: HTTPCache, bodyLimit: Int = defaultBodyLimit
  ) -> URLSessionConfiguration { caching(with: cache, via: nil, bodyLimit: bodyLimit) }

  /// The default configuration, loading through a cache.
  public static func caching(with cache: HTTPCache) -> URLSessionConfiguration {
    URLSessionConfiguration.default.caching(with: cache)
  }

  /// Lets go of the cache of a configuration that `caching(with:bodyLimit:)` made. Its sessions, and
  /// those of its copies, load without a cache from then on.
  public func endCaching() {
    for type in protocolClasses ?? [] {
      if let type = type as? CachingURLProtocol.Type { CachedLoading.unregister(type) }
    }
    protocolClasses?.removeAll { $0 is CachingURLProtocol.Type }
  }

  /// The same over any upstream; nil is Foundation's.
  func caching(
    with cache: HTTPCache, via upstream: (any Upstream)?, bodyLimit: Int = defaultBodyLimit
  ) -> URLSessionConfiguration {
    let configuration = withoutCaching()
    // What requests get from the configuration they have before they come to the session below.
    let below = withoutCaching()
    below.httpAdditionalHeaders = nil
    below.requestCachePolicy = .useProtocolCachePolicy
    let loading = CachedLoading(
      session: CachedURLSession(cache: cache, configuration: below, delegate: nil, via: upstream),
      settings: LoadSettings(configuration), bodyLimit: max(0, bodyLimit))
    configuration.protocolClasses =
      [CachedLoading.register(loading)] + (configuration.protocolClasses ?? [])
    return configuration
  }

  /// A copy with no cache in it, neither Foundation's nor one of ours.
  private func withoutCaching() -> URLSessionConfiguration {
    let configuration = (copy() as? URLSessionConfiguration) ?? .default
    configuration.urlCache = nil
    configuration.protocolClasses?.removeAll { $0 is CachingURLProtocol.Type }
    return configuration
  }
}
