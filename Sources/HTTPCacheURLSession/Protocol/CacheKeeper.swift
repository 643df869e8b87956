import Foundation
import HTTPCaching

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Keeps the cache that the sessions of a configuration load through, as long as the configuration, its copies and
/// their sessions live: they all keep the object in their `urlCache`. As a `URLCache` it is empty, and stays so.
final class CacheKeeper: URLCache, @unchecked Sendable {
  // @unchecked Sendable because its only property is constant.
  private let cache: HTTPCache

  init(_ cache: HTTPCache) {
    self.cache = cache
    super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: HTTPURLCache.noPath)
  }

  override func cachedResponse(for request: URLRequest) -> CachedURLResponse? { nil }

  override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {}

  override func getCachedResponse(
    for dataTask: URLSessionDataTask,
    completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
  ) { completionHandler(nil) }

  override func storeCachedResponse(
    _ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask
  ) {}
}
