import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheRedis

@Suite(.timeLimit(.minutes(10)), .enabled(if: RedisProgram.isInstalled, "redis-server is not installed"))
struct RedisLockTests {
  private let ticket = SharedPosition(time: 7, number: 8)

  private func lock(
    _ tier: RedisTier, _ token: String, of key: CacheKey = Sample.key(),
    overtaking overtaken: SharedPosition? = nil
  ) async throws -> SharedLock {
    try await tier.lock(key, token: token, ticket: ticket, duration: .seconds(30), overtaking: overtaken)
  }

  @Test("a token holds its lock again, and one that begins as another one does not hold the other's lock")
  func tokens() async throws {
    try await withTier { tier, _ in
      #expect(try await lock(tier, "a|b") == .acquired)
      #expect(try await lock(tier, "a|b") == .acquired)
      #expect(try await lock(tier, "a") == .held(ticket: ticket))
      try await tier.unlock(Sample.key(), token: "a", refusingFor: nil)
      try await tier.unlock(Sample.key(), token: "a|", refusingFor: nil)
      #expect(try await lock(tier, "c") == .held(ticket: ticket))
    }
  }

  @Test("a refusal is told to all, whatever they overtake, and ends by itself")
  func refusals() async throws {
    try await withTier { tier, _ in
      #expect(try await lock(tier, "a") == .acquired)
      try await tier.unlock(Sample.key(), token: "b", refusingFor: .seconds(30))
      #expect(try await lock(tier, "b") == .held(ticket: ticket))
      try await tier.unlock(Sample.key(), token: "a", refusingFor: .seconds(600))
      #expect(try await lock(tier, "b") == .refused)
      #expect(try await lock(tier, "b", overtaking: ticket) == .refused)
      // A refusal that ends soon may end before it is asked for, on a busy machine.
      let other = Sample.key("/b")
      #expect(try await lock(tier, "a", of: other) == .acquired)
      try await tier.unlock(other, token: "a", refusingFor: .milliseconds(200))
      try await eventually { try await lock(tier, "b", of: other) == .acquired }
    }
  }

  @Test("publishing frees the lock also if the response is too long, and that of another key")
  func publishing() async throws {
    try await withTier { tier, _ async throws in
      #expect(try await lock(tier, "a") == .acquired)
      let long = [UInt8](repeating: 1, count: SharedVariant.longestInlineBody + 1)
      #expect(try await tier.publish(Sample.publication(Sample.variant(inline: long), token: "a")) == false)
      #expect(try await lock(tier, "b") == .acquired)
      let other = Sample.variant(Sample.key("/other"))
      #expect(try await tier.publish(Sample.publication(other, token: "b", lockedKey: Sample.key())))
      #expect(try await lock(tier, "c", overtaking: ticket) == .acquired)
    }
  }
}
