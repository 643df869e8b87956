import Testing

@testable import HTTPCacheCommand

/// When `serve` returns freed memory to the system.
@Suite struct FreeMemoryTests {
  @Test("after many connections have ended at once, and once more")
  func burst() {
    var memory = FreeMemory()
    #expect(memory.isDue(highest: 200, current: 3))
    #expect(memory.isDue(highest: 3, current: 3))
    #expect(!memory.isDue(highest: 3, current: 3))
  }

  @Test("after many connections have ended one by one")
  func slowEnd() {
    var memory = FreeMemory()
    #expect(!memory.isDue(highest: 100, current: 100))
    #expect(!memory.isDue(highest: 100, current: 60))
    #expect(memory.isDue(highest: 60, current: 36))
    #expect(memory.isDue(highest: 36, current: 20))
    #expect(!memory.isDue(highest: 20, current: 0))
  }

  @Test("never for few connections, however many requests they have")
  func fewConnections() {
    var memory = FreeMemory()
    for _ in 0..<100 { #expect(!memory.isDue(highest: 63, current: 0)) }
  }
}
