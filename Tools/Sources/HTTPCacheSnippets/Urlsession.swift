// The Swift of docs/urlsession.md, written by scripts/snippets.py.
// swift-format-ignore-file


private func program1() async throws {
  let cache = try HTTPCache.open(.userCaches("com.example.app"))
  let configuration = URLSessionConfiguration.default
  configuration.timeoutIntervalForRequest = 20
  let session = URLSession(configuration: configuration.caching(with: cache))

  let cache = HTTPURLCache(memoryCapacity: 10_000_000, diskCapacity: 1_000_000_000, directory: nil)
  cache.storeCachedResponse(CachedURLResponse(response: response, data: data), for: request)
  let found = cache.cachedResponse(for: request)

  let session = URLSession(configuration: .caching(with: urlCache.cache))   // or CachedURLSession(cache: urlCache.cache)
}
