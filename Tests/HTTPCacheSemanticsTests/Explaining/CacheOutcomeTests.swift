import HTTPCacheSemantics
import Testing

@Suite("What came of a request, in words", .timeLimit(.minutes(10)))
struct CacheOutcomeTests {
  @Test("a fallback that is still fresh is not called stale")
  func freshFallback() {
    let fresh = CacheOutcome.hit(age: 2, lifetime: 10, allowance: .disconnected)
    #expect(fresh.description == "from the store, fresh for 8 s: the origin cannot be reached")
    let stale = CacheOutcome.hit(age: 10, lifetime: 10, allowance: .disconnected)
    #expect(stale.description == "from the store, stale for 0 s: the origin cannot be reached")
  }
}
