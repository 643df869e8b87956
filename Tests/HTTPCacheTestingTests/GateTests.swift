import HTTPCacheSemantics
import HTTPCacheTesting
import Testing

@Suite("Gate", .timeLimit(.minutes(10)))
struct GateTests {
  @Test("holds whoever comes until it is opened")
  func holds() async throws {
    let gate = Gate()
    let waiting = Task {
      try await gate.pass()
      return gate.arrivals
    }
    await gate.waitForArrivals(1)
    gate.open()
    #expect(try await waiting.value == 1)
    try await gate.pass()
    #expect(gate.arrivals == 2)
  }

  @Test("lets go of a task that is cancelled")
  func cancellation() async {
    let gate = Gate()
    let waiting = Task { try await gate.pass() }
    await gate.waitForArrivals(1)
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }

  @Test("a task that waits for what never comes ends when it is cancelled, as by a time limit")
  func cancelledWaits() async {
    let waits: [@Sendable () async -> Void] = [
      { await Gate().waitForArrivals(1) },
      { await ManualClock(now: Timestamp(seconds: 0)).waitForSleepers() },
      { await ScriptedUpstream().waitForRequests(1) },
    ]
    for wait in waits {
      let waiting = Task { await wait() }
      waiting.cancel()
      await waiting.value
    }
  }
}
