import HTTPCaching
import Synchronization

/// Keeps the cache that the sessions of a configuration load through, as long as the configuration, its copies or
/// their sessions live, until `endCaching()`: they all keep the object in their `urlCache`. As a `URLCache` it is empty,
/// and stays so.
final class CacheKeeper: URLCache, @unchecked Sendable {
  // @unchecked Sendable because its only property has a lock.
  private let cache: Mutex<HTTPCache?>

  init(_ cache: HTTPCache) {
    self.cache = Mutex(cache)
    super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: HTTPURLCache.noPath)
  }

  /// Keeps the cache no longer.
  func release() {
    // Released outside of the lock.
    _ = cache.withLock { $0.take() }
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
