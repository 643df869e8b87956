// The Swift of Sources/HTTPCacheRedis/HTTPCacheRedis.docc/GettingStarted.md, written by scripts/snippets.py.
// swift-format-ignore-file

import Foundation
import HTTPCacheRedis
import HTTPCaching

private func program1() async throws {
  let secret = try Data(contentsOf: URL(fileURLWithPath: "/run/secrets/fleet"))
  let tier = try RedisTier(
    RedisTier.Configuration(
      address: RedisAddress("rediss://cache:password@redis.example.com"), name: "shop", secret: Array(secret),
      encryption: .key(EncryptionKey(secret.prefix(32)))))
  print(tier.largestBody)
}
