import HTTPCacheSemantics
import HTTPCacheTesting
import Testing

@testable import HTTPCaching

@Suite("Flights are told once", .timeLimit(.minutes(5)))
struct FlightHoldTests {
  private let clock = ManualClock(now: Timestamp(seconds: 0))
  private let key = CacheKey(mode: .private, target: "https://example.com/")

  private func lead(_ coalescing: Coalescing) throws -> FlightHold {
    guard case .lead(let hold) = coalescing.join(key) else { throw Unexpected(what: "it leads") }
    return hold
  }

  private func follow(_ coalescing: Coalescing, within limit: Duration? = nil) async throws -> CoalescerNews {
    guard case .wait(let flight) = coalescing.join(key) else { throw Unexpected(what: "it waits") }
    return try await coalescing.news(of: key, flight: flight, within: limit)
  }

  @Test("a leader that says nothing passes the lead on, and with no follower its flight is over")
  func forgotten() async throws {
    let coalescing = Coalescing(clock: clock)
    let follower: Task<CoalescerNews, any Error>
    do {
      let hold = try lead(coalescing)
      follower = Task { try await follow(coalescing, within: .seconds(9)) }
      await clock.waitForSleepers()
      withExtendedLifetime(hold) {}
    }
    do {
      guard case .lead(let hold) = try await follower.value else {
        throw Unexpected(what: "the follower leads")
      }
      guard case .wait = coalescing.join(key) else { throw Unexpected(what: "the flight goes on") }
      hold.release()
    }
    _ = try lead(coalescing)
  }

  @Test("what is told second is not told")
  func toldTwice() async throws {
    let coalescing = Coalescing(clock: clock)
    let hold = try lead(coalescing)
    hold.release()
    let next = try lead(coalescing)
    hold.lookAgain()
    hold.failed(UpstreamError(.unreachable, "late"), isOwnLimit: false)
    guard case .wait = coalescing.join(key) else { throw Unexpected(what: "the next flight goes on") }
    next.release()
  }

  @Test("a limit that has passed before the follower waits is kept")
  func noTimeLeft() async throws {
    let coalescing = Coalescing(clock: clock)
    let hold = try lead(coalescing)
    guard case .timedOut = try await follow(coalescing, within: .zero) else {
      throw Unexpected(what: "it times out")
    }
    hold.release()
  }

  @Test("a follower that is cancelled, or has no more time, is not told to lead")
  func gone() async throws {
    let coalescing = Coalescing(clock: clock)
    let hold = try lead(coalescing)
    let cancelled = (1...3).map { _ in Task { try await follow(coalescing) } }
    let late = Task { try await follow(coalescing, within: .seconds(9)) }
    try await until { coalescing.waiters(of: key) == 4 }
    await clock.waitForSleepers()
    for follower in cancelled { follower.cancel() }
    #expect(coalescing.waiters(of: key) == 1)
    clock.advance(by: .seconds(9))
    guard case .timedOut = try await late.value else { throw Unexpected(what: "it times out") }
    #expect(coalescing.counts.waiters == 0)
    for follower in cancelled { await #expect(throws: CancellationError.self) { try await follower.value } }
    hold.release()
  }

  @Test("a follower that is cancelled when it is told to lead passes the lead on")
  func cancelledLeader() async throws {
    let coalescing = Coalescing(clock: clock)
    let hold = try lead(coalescing)
    let follower = Task { try await follow(coalescing, within: .seconds(9)) }
    await clock.waitForSleepers()
    follower.cancel()
    hold.failed(UpstreamError(.cancelled, "left"), isOwnLimit: true)
    await #expect(throws: CancellationError.self) { try await follower.value }
    _ = try lead(coalescing)
  }
}
