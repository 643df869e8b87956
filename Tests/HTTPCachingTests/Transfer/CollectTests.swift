import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Collecting a body cancels what it leaves", .timeLimit(.minutes(5)))
struct CollectTests {
  @Test("a body that is too long is cancelled, at its first bytes or later", arguments: [2, 4, 8])
  func tooLong(limit: Int) async throws {
    let source = TestBody(piece: [1, 2, 3], count: 9)
    await #expect(throws: MessageBody.TooLong.self) {
      try await MessageBody(source).collect(upTo: limit)
    }
    #expect(source.isCancelled)
  }

  @Test("a body is cancelled at once with the task that collects it, and what came does not pass for all")
  func cancelled() async throws {
    let gate = Gate()
    let source = WaitingBody(gate: gate)
    let collecting = Task { try await MessageBody(source).collect() }
    await gate.waitForArrivals(1)
    collecting.cancel()
    try await until { source.isCancelled }
    gate.open()
    await #expect(throws: CancellationError.self) { try await collecting.value }
  }

  @Test("a body that ends is not cancelled")
  func whole() async throws {
    let source = TestBody(piece: [1, 2, 3], count: 3)
    #expect(try await MessageBody(source).collect(upTo: 9).count == 9)
    #expect(!source.isCancelled)
  }
}
