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
}
