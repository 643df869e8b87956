// The Swift of docs/fleet-redis.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheRedis

private func program1() async throws {
  let address = try RedisAddress("rediss://cache:secret@redis.example.com:6380")
  let tier = try RedisTier(RedisTier.Configuration(address: address, name: "shop"))
  print(tier.largestBody)
}
