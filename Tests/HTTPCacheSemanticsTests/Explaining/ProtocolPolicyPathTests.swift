import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("The path through Apple's drawing of useProtocolCachePolicy", .timeLimit(.minutes(10)))
struct ProtocolPolicyPathTests {
  private func path(_ steps: [CacheExplanation.Step]) -> [String] {
    steps.map { "\($0.question) \($0.answer)" }
  }

  private func explained(
    _ variants: [StoredResponse], _ pairs: KeyValuePairs<String, String> = [:], after seconds: Int64 = 0
  ) throws -> [String] {
    path(
      CacheExplanation.reuse(
        try get(pairs), among: variants.map { CacheExplanation.Candidate($0) },
        in: CacheExplanation.Circumstances(
          rules: privateRules, now: today.adding(seconds), digest: reversing)
      ).protocolPolicyPath)
  }

  private let cached = "Is there a cached response? yes"
  private let free = "Must it be revalidated? no"

  @Test("nothing is cached: load")
  func miss() throws {
    #expect(
      try explained([]) == [
        "Is there a cached response? no: nothing stored", "What follows? load from the origin",
      ])
  }

  @Test("it must be revalidated: ask")
  func mustRevalidate() throws {
    let kept = try stored(200, ["Cache-Control": "no-cache", "ETag": "\"1\""])
    #expect(
      try explained([kept]) == [
        cached, "Must it be revalidated? yes: \(ValidationReason.responseNoCache)",
        "What follows? ask the origin with a condition",
      ])
  }

  @Test("it is fresh: return it; stale: ask; stale and allowed: return it")
  func freshness() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=60"])
    #expect(
      try explained([kept]) == [cached, free, "Is it stale? no", "What follows? return the cached response"])
    #expect(
      try explained([kept], after: 90) == [
        cached, free, "Is it stale? yes: 90 s old, fresh for 60 s",
        "What follows? ask the origin with a condition",
      ])
    #expect(
      try explained([kept], ["Cache-Control": "max-stale"], after: 90) == [
        cached, free, "Is it stale? yes: 90 s old, fresh for 60 s",
        "What follows? return the cached response: \(StaleAllowance.maxStale)",
      ])
  }

  @Test("the origin must not be asked: fail")
  func unsatisfiable() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=60"])
    let only: KeyValuePairs = ["Cache-Control": "only-if-cached"]
    let failing = "What follows? fail: the origin must not be asked"
    #expect(try explained([], only).last == failing)
    #expect(try explained([], only).count == 2)
    #expect(
      try explained([kept], only, after: 90) == [
        cached, free, "Is it stale? yes: 90 s old, fresh for 60 s", failing,
      ])
  }

  @Test("the outcome tells whether it had changed")
  func outcomes() throws {
    let stale = ValidationReason.stale(age: .seconds(90), lifetime: .seconds(60))
    let asked = [
      cached, free, "Is it stale? yes: 90 s old, fresh for 60 s",
      "What follows? ask the origin with a condition",
    ]
    #expect(
      path(CacheOutcome.validated(stale, age: .seconds(0), lifetime: .seconds(60)).protocolPolicyPath)
        == asked + ["Has it changed? no", "What follows? return the cached response"])
    let changed = CacheOutcome.forwarded(
      .validation(stale), status: 200, storage: .store, collapsed: false)
    #expect(
      path(changed.protocolPolicyPath)
        == asked + ["Has it changed? yes", "What follows? load from the origin"])
    let hit = CacheOutcome.hit(age: .seconds(1), lifetime: .seconds(60), allowance: nil)
    #expect(
      path(hit.protocolPolicyPath) == (try explained([try stored(200, ["Cache-Control": "max-age=60"])])))
    let missed = CacheOutcome.forwarded(.miss(.absent), status: 200, storage: .store, collapsed: false)
    #expect(path(missed.protocolPolicyPath) == (try explained([])))
    #expect(
      path(CacheOutcome.unsatisfiable(.miss(.absent)).protocolPolicyPath)
        == (try explained([], ["Cache-Control": "only-if-cached"])))
  }

  @Test("an explanation of storing has no path")
  func storing() throws {
    #expect(CacheExplanation().protocolPolicyPath.isEmpty)
  }
}
