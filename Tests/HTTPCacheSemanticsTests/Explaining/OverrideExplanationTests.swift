import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite("What explain says of overrides", .timeLimit(.minutes(10)))
struct OverrideExplanationTests {
  private func rules() throws -> CacheRules {
    CacheRules(overrides: [
      RuleOverride(
        try .glob("/a**"), name: "a", effects: [.droppingQuery(["x"]), .ignoringRequestDirectives]),
      RuleOverride(try .host("other.example"), effects: [.neverStore]),
      RuleOverride(
        effects: [
          .lifetime(.atLeast(.seconds(90))), .lifetime(.atMost(.seconds(900))), .ignoring([.noCache]),
          .neverStore, .pin,
        ]),
      RuleOverride(mediaTypes: ["image/*"], effects: [.staleIfError(.seconds(5))]),
    ])
  }

  private func overrides(_ explanation: CacheExplanation) -> [String] {
    explanation.steps.filter { $0.topic == .overrides }.map(\.description)
  }

  @Test("storing: those that match, in order, and what each effect changes")
  func storage() throws {
    let explanation = CacheExplanation.storage(
      request: try get("/a?x=1&y", ["Cache-Control": "no-cache, no-transform"]),
      response: try response(200, ["Cache-Control": "max-age=60, no-cache"]), rules: try rules(),
      now: today)
    #expect(
      overrides(explanation) == [
        "Which overrides match? override 1 (a), override 3 (any target), override 4 (any target)",
        "What is its key? https://example.com/a?y",
        "What does override 3 (any target) change? lifetime at least 90 s: in force",
        "What does override 3 (any target) change? lifetime at most 900 s: in force",
        "What does override 3 (any target) change? ignore no-cache: no-cache, max-age=60 becomes max-age=60",
        "What does override 3 (any target) change? never store: in force",
        "What does override 3 (any target) change? pin: in force",
        "What does override 4 (any target) change? stale-if-error 5 s: not for this response",
      ])
    #expect(explanation.steps.last?.description == "Is it stored? no: an override says never to store it")
    #expect(
      explanation.steps.contains { $0.question == "Do the overrides allow it?" && $0.answer.hasPrefix("no") })
  }

  @Test("reuse: on the request before what is stored, on the response before its freshness")
  func reuse() throws {
    let request = try get("/a?x=1", ["Cache-Control": "no-cache"])
    var rules = CacheRules()
    rules.overrides = [
      RuleOverride(effects: [.ignoringRequestDirectives, .ignoringQuery, .lifetime(.exactly(.seconds(10)))])
    ]
    let resolved = rules.resolved(for: request)
    let kept = try stored(200, ["Cache-Control": "max-age=60"], to: request, rules: resolved)
    let explanation = CacheExplanation.reuse(
      request, among: [CacheExplanation.Candidate(kept)],
      in: CacheExplanation.Circumstances(rules: rules, now: today.adding(3), digest: reversing))
    #expect(explanation.decision == .fresh(age: .seconds(3), lifetime: .seconds(10)))
    #expect(overrides(explanation).count == 3)
    let topics = explanation.steps.map(\.topic)
    let stored = try #require(topics.firstIndex(of: .stored))
    let freshness = try #require(topics.firstIndex(of: .freshness))
    #expect(topics.firstIndex(of: .overrides).map { $0 < stored } == true)
    #expect(topics.lastIndex(of: .overrides).map { $0 > stored && $0 < freshness } == true)
    #expect(explanation.description.contains("How long is it fresh? 10 s, from an override"))
  }

  @Test("where none matches, that is all it says; without overrides it says nothing")
  func none() throws {
    var rules = CacheRules()
    let response = try response(200, ["ETag": "\"1\""])
    let plain = CacheExplanation.storage(
      request: try get(), response: response, rules: rules, now: today)
    #expect(overrides(plain).isEmpty)
    rules.overrides = [RuleOverride(try .glob("/b"), effects: [.neverStore])]
    let other = CacheExplanation.storage(
      request: try get(), response: response, rules: rules, now: today)
    #expect(overrides(other) == ["Which overrides match? none of 1"])
    #expect(other.steps.count == plain.steps.count + 1)
  }

  @Test("a refused name of a cache item is told with its reason")
  func alias() throws {
    let rules = CacheRules(overrides: [RuleOverride(effects: [.alias(.contentLocation)])])
    for (value, answer) in [
      ("a b", "none: it holds octets that no name has, in Content-Location: a b"),
      ("//b/", "none: it names another origin, in Content-Location: //b/"),
      ("b", "https://example.com/#content-location=b"),
    ] {
      let explanation = CacheExplanation.storage(
        request: try get(), response: try response(200, ["Content-Location": value, "ETag": "\"1\""]),
        rules: rules, now: today)
      #expect(overrides(explanation).last == "Which cache item does it name? \(answer)")
    }
  }

  @Test("a shared cache says what it goes on obeying")
  func shared() throws {
    let rules = CacheRules(mode: .shared, overrides: [RuleOverride(effects: [.ignoring([.private])])])
    let explanation = CacheExplanation.storage(
      request: try get(), response: try response(200, ["Cache-Control": "private"]), rules: rules,
      now: today)
    #expect(overrides(explanation).last?.hasSuffix("ignore private: changes nothing") == true)
  }
}
