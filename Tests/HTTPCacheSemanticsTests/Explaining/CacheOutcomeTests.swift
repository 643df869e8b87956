import HTTPCacheSemantics
import Testing

@Suite("What came of a request, in words", .timeLimit(.minutes(10)))
struct CacheOutcomeTests {
  @Test("a fallback that is still fresh is not called stale")
  func freshFallback() {
    let fresh = CacheOutcome.hit(age: .seconds(2), lifetime: .seconds(10), allowance: .disconnected)
    #expect(fresh.description == "from the store, fresh for 8 s: the origin cannot be reached")
    let stale = CacheOutcome.hit(age: .seconds(10), lifetime: .seconds(10), allowance: .disconnected)
    #expect(stale.description == "from the store, stale for 0 s: the origin cannot be reached")
  }

  @Test("a hit, its age, and whether it is stale")
  func questions() {
    let second = Duration.seconds(1)
    let outcomes: [(CacheOutcome, isHit: Bool, isStale: Bool, age: Duration?)] = [
      (.hit(age: .zero, lifetime: second, allowance: nil), true, false, .zero),
      (.hit(age: second, lifetime: second, allowance: .maxStale), true, true, second),
      (.validated(.responseNoCache, age: .zero, lifetime: .zero), false, false, .zero),
      (.forwarded(.miss(.absent), status: 200, storage: .store, collapsed: false), false, false, nil),
      (.shared(.miss(.absent), age: second, lifetime: second), false, false, second),
      (.unsatisfiable(.miss(.absent)), false, false, nil),
    ]
    for (outcome, isHit, isStale, age) in outcomes {
      #expect(outcome.isHit == isHit && outcome.isStale == isStale && outcome.age == age, "\(outcome)")
    }
  }

  @Test("a duration beyond the range of seconds is as long as can be counted")
  func durations() {
    #expect((Duration.seconds(Int64.max) * 2).wholeSeconds == .max)
    #expect((Duration.seconds(Int64.min) * 2).wholeSeconds == .min)
    #expect(Duration.milliseconds(1_999).wholeSeconds == 1)
    #expect(Timestamp(seconds: 5).duration(since: Timestamp(seconds: 7)) == .seconds(-2))
    #expect(Timestamp(seconds: 5).adding(.seconds(2)) == Timestamp(seconds: 7))
  }
}
