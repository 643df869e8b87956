import Testing

@testable import HTTPCacheCommand

/// When `serve` returns freed memory to the system.
@Suite(.timeLimit(.minutes(10))) struct FreeMemoryTests {
  /// Whether each of several calls, with the highest and the current number of connections, is told to return memory.
  private func due(_ counts: [(highest: Int, current: Int)]) -> [Bool] {
    var memory = FreeMemory()
    return counts.map { memory.isDue(highest: $0.highest, current: $0.current) }
  }

  @Test("after many connections have ended at once, and once more")
  func burst() {
    #expect(due([(200, 3), (3, 3), (3, 3)]) == [true, true, false])
  }

  @Test("after many connections have ended one by one")
  func slowEnd() {
    let due = due([(100, 100), (100, 60), (60, 36), (36, 20), (20, 0)])
    #expect(due == [false, false, true, true, false])
  }

  @Test("never for few connections, however many requests they have")
  func fewConnections() {
    #expect(!due(Array(repeating: (63, 0), count: 100)).contains(true))
  }
}
