import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section3_5_AuthorizationTests {
  // holds 9111-3-6
  @Test("§3.5 A shared cache stores answers to authorized requests only if a directive allows it")
  func storing() throws {
    let request = try get(["Authorization": "Basic x"])
    func decision(_ value: String, _ rules: CacheRules) throws -> StorageDecision {
      try HTTPCacheSemanticsTests.storing(
        200, ["Cache-Control": value], to: request, rules: rules)
    }
    #expect(try decision("max-age=60", privateRules) == .store)
    #expect(try decision("max-age=60", sharedRules) == .doNotStore(.authorized))
    for value in ["max-age=60, public", "max-age=60, must-revalidate", "s-maxage=60"] {
      #expect(try decision(value, sharedRules) == .store)
    }
  }

  // holds 9111-3.5-1
  @Test("§3.5 A shared cache does not reuse one that a 304 deprived of its permission")
  func reusing() throws {
    let kept = try stored(
      200, ["Cache-Control": "max-age=60, public", "ETag": "\"1\""],
      to: get(["Authorization": "Basic x"]), rules: sharedRules)
    #expect(
      try decide(kept, after: 1, rules: sharedRules) == .fresh(age: .seconds(1), lifetime: .seconds(60)))
    let updated = Freshening.updated(
      kept,
      with: ReceivedResponse(
        try response(304, ["Cache-Control": "max-age=60"]), requestTime: today, responseTime: today),
      rules: sharedRules)
    #expect(try decide(updated, after: 1, rules: sharedRules) == .miss(.absent))
    #expect(try fallback(updated, after: 1, rules: sharedRules) == .fail(.authorized))
  }
}
