import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheRedis

@Suite(.timeLimit(.minutes(10)), .enabled(if: RedisProgram.isInstalled, "redis-server is not installed"))
struct RedisLockTests {
  private let ticket = SharedPosition(time: 7, number: 8)

  private func lock(
    _ tier: RedisTier, _ token: String, _ ticket: SharedPosition? = nil, of key: CacheKey = Sample.key(),
    overtaking overtaken: SharedPosition? = nil
  ) async throws -> SharedLock {
    try await tier.lock(
      key, token: token, ticket: ticket ?? self.ticket, duration: .seconds(30), overtaking: overtaken)
  }

  @Test("one fetch gets the lock; the others are told its ticket")
  func holding() async throws {
    try await withTier { tier, _ in
      #expect(try await lock(tier, "a") == .acquired)
      #expect(try await lock(tier, "b", .start) == .held(ticket: ticket))
      #expect(try await lock(tier, "a") == .acquired)
      #expect(try await tier.renew(Sample.key(), token: "b", duration: .seconds(1)) == false)
      #expect(try await tier.renew(Sample.key(), token: "a", duration: .seconds(90)))
      try await tier.unlock(Sample.key(), token: "b", refusingFor: nil)
      #expect(try await lock(tier, "b") == .held(ticket: ticket))
      try await tier.unlock(Sample.key(), token: "a", refusingFor: nil)
      #expect(try await tier.renew(Sample.key(), token: "a", duration: .seconds(1)) == false)
      #expect(try await lock(tier, "b") == .acquired)
    }
  }

  @Test("a token that begins as another one does not hold its lock")
  func prefixes() async throws {
    try await withTier { tier, _ in
      #expect(try await lock(tier, "a|b") == .acquired)
      #expect(try await lock(tier, "a") == .held(ticket: ticket))
      try await tier.unlock(Sample.key(), token: "a", refusingFor: nil)
      try await tier.unlock(Sample.key(), token: "a|", refusingFor: nil)
      #expect(try await lock(tier, "c") == .held(ticket: ticket))
    }
  }

  @Test("a lock with the overtaken ticket is taken over by one fetch; a lock with another ticket is not")
  func overtaking() async throws {
    try await withTier { tier, _ in
      #expect(try await lock(tier, "a") == .acquired)
      let later = SharedPosition(time: 9, number: 0)
      #expect(try await lock(tier, "b", later, overtaking: .start) == .held(ticket: ticket))
      #expect(try await lock(tier, "b", later, overtaking: ticket) == .acquired)
      #expect(try await lock(tier, "c", later, overtaking: ticket) == .held(ticket: later))
      #expect(try await tier.renew(Sample.key(), token: "a", duration: .seconds(1)) == false)
      try await tier.unlock(Sample.key(), token: "b", refusingFor: nil)
      #expect(try await lock(tier, "c", later, overtaking: ticket) == .acquired)
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

  @Test("a lock ends by itself")
  func expiry() async throws {
    try await withTier { tier, _ in
      let first = try await tier.lock(
        Sample.key(), token: "a", ticket: ticket, duration: .milliseconds(100), overtaking: nil)
      #expect(first == .acquired)
      try await eventually { try await lock(tier, "b") == .acquired }
    }
  }

  @Test(
    "publishing frees the lock with its token, also if the response is not published, and that of another key"
  )
  func publishing() async throws {
    try await withTier { tier, _ in
      func publish(_ token: String?, date: Int64) async throws -> Bool {
        try await tier.publish(
          Sample.publication(Sample.variant(date: date), token: token))
      }
      let first = try await lock(tier, "a")
      #expect(first == .acquired)
      #expect(try await publish("other", date: 1_700_000_000))
      #expect(try await lock(tier, "b") == .held(ticket: ticket))
      #expect(try await publish("a", date: 1_700_000_000))
      #expect(try await lock(tier, "b") == .acquired)
      #expect(try await publish("b", date: 1_600_000_000) == false)
      #expect(try await lock(tier, "c") == .acquired)
      let long = [UInt8](repeating: 1, count: SharedVariant.longestInlineBody + 1)
      #expect(try await tier.publish(Sample.publication(Sample.variant(inline: long), token: "c")) == false)
      #expect(try await lock(tier, "d") == .acquired)
      let other = Sample.variant(Sample.key("/other"))
      #expect(try await tier.publish(Sample.publication(other, token: "d", lockedKey: Sample.key())))
      #expect(try await lock(tier, "e") == .acquired)
    }
  }
}
