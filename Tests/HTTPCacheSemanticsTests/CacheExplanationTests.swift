import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite struct CacheExplanationTests {
  private func explained(
    _ variants: [StoredResponse], _ request: HTTPRequest, policy: CachePolicy = .standard
  ) -> CacheExplanation {
    CacheExplanation.reuse(
      request: request, variants: variants, policy: policy, rules: privateRules,
      now: today.adding(90), digest: reversing)
  }

  @Test("A stale response is explained with the numbers that were compared and their sections")
  func stale() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Age": "5"])
    let explanation = explained([kept], try get())
    #expect(explanation.decision == .validate(.stale(age: 95, lifetime: 60)))
    #expect(
      explanation.description.split(separator: "\n").map(String.init) == [
        "Can the store answer it? yes: GET (RFC 9111 §4)",
        "Is a response stored for it? yes: status 200, for any request (RFC 9111 §4.1)",
        "How long is it fresh? 60 s, from max-age (RFC 9111 §5.2.2.1)",
        "How old is it? 95 s: 5 s on arrival, 90 s since (RFC 9111 §4.2.3)",
        "Is it fresh? no: 60 <= 95 (RFC 9111 §4.2)",
        "What is done? validate: stale: age 95 s, lifetime 60 s (RFC 9111 §4.2)",
      ])
  }

  @Test("The explained decision is the one that is taken")
  func decision() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=60", "Vary": "Foo"], to: get(["Foo": "1"]))
    let foo = try #require(HTTPField.Name("Foo"))
    #expect(try explained([], get()).decision == .miss(.absent))
    #expect(try explained([kept], get()).decision == .miss(.variantMismatch([foo])))
    #expect(try explained([kept], get(method: .post)).decision == .miss(.method(.post)))
    #expect(
      try explained([], get(), policy: .cacheOnly).decision == .unsatisfiable(.miss(.absent)))
    #expect(
      try explained([kept], get(["Foo": "1"]), policy: .cacheElseNetwork).decision
        == .stale(.policy(.cacheElseNetwork), age: 90, lifetime: 60))
  }

  @Test("Storing is explained down to the directive that forbids it")
  func storage() throws {
    let explanation = CacheExplanation.storage(
      request: try get(), response: try response(200, ["Cache-Control": "no-store, max-age=5"]),
      rules: sharedRules, now: today)
    #expect(explanation.decision == nil)
    #expect(explanation.steps.last?.description == "Is it stored? no: no-store (RFC 9111 §5.2.2.5)")
    let stored = CacheExplanation.storage(
      request: try get(), response: try response(200, ["Cache-Control": "max-age=5"]),
      rules: sharedRules, now: today)
    #expect(stored.steps.last?.description == "Is it stored? yes (RFC 9111 §3)")
  }

  @Test("Every reason says something, and names its section unless a setting decided")
  func reasons() throws {
    let foo = try #require(HTTPField.Name("Foo"))
    let settings: [any Reason] = [
      MissReason.policy(.reload), MissReason.storeFailed, ValidationReason.policy(.revalidate),
      StaleAllowance.policy(.cacheOnly), FallbackRefusal.policy(.reload), FallbackRefusal.rules,
      StorageRefusal.hook, StorageRefusal.tooLarge(limit: 1),
    ]
    for reason in settings {
      #expect(!reason.description.isEmpty)
      #expect(reason.section.isEmpty)
    }
    let rules: [any Reason] = [
      MissReason.absent, MissReason.variantMismatch([foo]), MissReason.method(.put),
      MissReason.precondition(.ifMatch), MissReason.partial,
      ValidationReason.stale(age: 1, lifetime: 1), ValidationReason.responseNoCache,
      ValidationReason.requestNoCache, ValidationReason.pragmaNoCache,
      ValidationReason.requestMaxAge(1, age: 2), ValidationReason.requestMinFresh(1, remaining: 0),
      ValidationReason.invalidated, StaleAllowance.maxStale, StaleAllowance.whileRevalidate,
      StaleAllowance.ifError, StaleAllowance.disconnected, UnsatisfiableReason.miss(.absent),
      UnsatisfiableReason.validation(.responseNoCache), ForwardReason.miss(.absent),
      FallbackRefusal.mustRevalidate, FallbackRefusal.tooStale(2, limit: 1),
      FallbackRefusal.serverError(503), FallbackRefusal.requestFreshness,
    ]
    for reason in rules {
      #expect(!reason.description.isEmpty)
      #expect(reason.section.hasPrefix("RFC "))
    }
  }
}
