package import HTTPCaching

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension URLSessionConfiguration {
  /// The bytes that a body may have by default, where it has to be handed over in one piece: 512 MiB.
  public static let defaultBodyLimit = 512 << 20

  /// Lets go of the cache of a configuration that `caching(with:bodyLimit:)` made. Its sessions, and
  /// those of its copies, load without a cache from then on.
  public func endCaching() {
    for type in protocolClasses ?? [] {
      if let type = type as? CachingURLProtocol.Type { CachedLoading.unregister(type) }
    }
    protocolClasses?.removeAll { $0 is CachingURLProtocol.Type }
  }

  /// The same over any upstream.
  package func caching(
    with cache: HTTPCache, via upstream: any Upstream, bodyLimit: Int = defaultBodyLimit
  ) -> URLSessionConfiguration {
    let configuration = withoutCaching()
    let loading = CachedLoading(
      cache: cache, upstream: upstream, settings: LoadSettings(configuration),
      bodyLimit: max(0, bodyLimit))
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
