// The Swift of docs/fleet.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheAsyncHTTPClient
import HTTPCacheHummingbird
import HTTPCacheRedis
import HTTPCaching
import Hummingbird

private func program1() async throws {
  var configuration = HTTPCache.Configuration(directory: "/var/cache/app", rules: CacheRules(mode: .shared))
  configuration.shared = try RedisTier(RedisTier.Configuration(address: RedisAddress("redis://redis.example.com")))
  configuration.fleet = FleetOptions(nodeName: "web-1", stalenessBound: .seconds(60))
  let cache = try HTTPCache.open(configuration)
  await cache.join(within: .seconds(5))

  let client = CachedHTTPClient(cache: cache)
  let router = Router()
  router.add(middleware: CacheMiddleware(cache, origin: .fixed(scheme: "https", authority: "www.example.com")))
  try await client.shutdown()
}
