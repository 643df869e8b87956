// The Swift of README.md, written by scripts/snippets.py.
// swift-format-ignore-file

import AsyncHTTPClient
import Foundation
import HTTPCacheAsyncHTTPClient
import HTTPCacheHummingbird
import HTTPCacheURLSession
import HTTPCaching
import Hummingbird

private func program1() async throws {
  let cache = try HTTPCache.open(.userCaches("com.example.app"))
  let session = CachedURLSession(cache: cache)
  let (data, response) = try await session.data(from: URL(string: "https://www.example.com/")!)
  print(data.count, response.cacheOutcome?.description ?? "not cached")
}

private func program2() async throws {
  let client = CachedHTTPClient(cache: try HTTPCache.open(HTTPCache.Configuration(memoryCapacity: 64 << 20)))
  let request = HTTPClientRequest(url: "https://api.example.com/forecast/berlin")
  let response = try await client.execute(request, timeout: .seconds(10))
  print(response.status, response.cacheOutcome)
}

private func program3() async throws {
  let router = Router()
  let cache = try HTTPCache.open(HTTPCache.Configuration(rules: CacheRules(mode: .shared)))
  router.add(middleware: CacheMiddleware(cache, origin: .fixed(scheme: "https", authority: "www.example.com")))
  router.add(middleware: DefaultCacheControlMiddleware(.public, .maxAge(60)))
  router.get("articles/:id") { _, context in "Article \(context.parameters.get("id") ?? "")" }
}
