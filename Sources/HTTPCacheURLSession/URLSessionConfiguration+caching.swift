public import HTTPCaching
import HTTPTypes

extension URLSessionConfiguration {
  /// The default maximum length of a body that is delivered in one piece: 512 MiB.
  public static let defaultBodyLimit = 512 << 20

  /// A copy of this configuration whose sessions load through a cache. It, its copies and its sessions keep the cache by
  /// their `urlCache`, which is of no other use.
  ///
  /// Requests to the origin use this configuration: proxies, cookies, credentials, timeouts, other protocol
  /// classes. Set these before this call. What it makes is freed with the cache; if `urlCache` is replaced and the
  /// program does not keep the cache, sessions load without a cache from then on, as after `endCaching()`.
  ///
  /// - Parameters:
  ///   - cache: the cache; any number of configurations may share it.
  ///   - bodyLimit: the maximum length in bytes of a body that is delivered in one piece, as on Linux to
  ///     every completion handler; longer bodies fail with `URLError.dataLengthExceedsMaximum`.
  public func caching(
    with cache: HTTPCache, bodyLimit: Int = defaultBodyLimit
  ) -> URLSessionConfiguration { caching(with: cache, via: nil, bodyLimit: bodyLimit) }

  /// The default configuration, loading through a cache.
  public static func caching(with cache: HTTPCache) -> URLSessionConfiguration {
    URLSessionConfiguration.default.caching(with: cache)
  }

  /// Releases the cache of a configuration that `caching(with:bodyLimit:)` made. From then on its sessions,
  /// and those of its copies, load without a cache.
  public func endCaching() {
    for type in protocolClasses ?? [] {
      if let type = type as? CachingURLProtocol.Type { CachedLoading.unregister(type) }
    }
    protocolClasses?.removeAll { $0 is CachingURLProtocol.Type }
    if let keeper = urlCache as? CacheKeeper {
      keeper.release()
      urlCache = nil
    }
  }

  /// Like `caching(with:bodyLimit:)`, over any upstream; nil uses Foundation.
  func caching(
    with cache: HTTPCache, via upstream: (any Upstream)?, bodyLimit: Int = defaultBodyLimit
  ) -> URLSessionConfiguration {
    let configuration = withoutCaching()
    // Requests already have the configuration's fields before they reach the session below.
    let below = withoutCaching()
    below.httpAdditionalHeaders = nil
    below.requestCachePolicy = .useProtocolCachePolicy
    let loading = CachedLoading(
      session: CachedURLSession(cache: cache.attachedFace, via: upstream, configuration: below),
      settings: LoadSettings(configuration), bodyLimit: max(0, bodyLimit), keptBy: cache.attachments)
    configuration.urlCache = CacheKeeper(cache)
    configuration.protocolClasses = [loading.type] + (configuration.protocolClasses ?? [])
    return configuration
  }

  /// A copy without any cache, neither Foundation's nor ours.
  private func withoutCaching() -> URLSessionConfiguration {
    let configuration = (copy() as? URLSessionConfiguration) ?? .default
    configuration.urlCache = nil
    configuration.protocolClasses?.removeAll { $0 is CachingURLProtocol.Type }
    return configuration
  }
}
