import HTTPCacheTesting
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheRedis

@Suite(.timeLimit(.minutes(10)), .enabled(if: RedisProgram.isInstalled, "redis-server is not installed"))
struct RedisConformanceTests {
  /// Checks a tier on a server of its own for two nodes.
  private func run(_ check: TierCheck, _ change: @Sendable (inout RedisTier.Configuration) -> Void)
    async throws
  {
    let server = try await RedisServer.start()
    let (first, second) = (try server.tier(change), try server.tier(change))
    try await check.run {
      // The time of a server is the system's.
      TierSample(first: first, second: second) { try await Task.sleep(for: $0) }
    }
    await server.kill()
  }

  @Test(arguments: SharedTierConformance.checks)
  func plain(_ check: TierCheck) async throws { try await run(check) { _ in } }

  @Test(arguments: SharedTierConformance.checks)
  func encrypted(_ check: TierCheck) async throws {
    let key = EncryptionKey.random()
    try await run(check) {
      $0.secret = Sample.secret
      $0.encryption = .key(key)
    }
  }
}
