import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("No-Vary-Search through the engine (draft-ietf-httpbis-no-vary-search §7)", .timeLimit(.minutes(10)))
struct NoVarySearchFlowTests {
  private let test = TestCache(rules: CacheRules(obeysNoVarySearch: true))

  /// An origin that answers with the number of the request.
  private func counts(_ value: String?, _ test: TestCache<TestOrigin>, status: Int = 200) {
    test.origin.answers { _, number in
      var fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"\(number)\""]
      fields[.noVarySearch] = value
      return (status, fields, "\(number)")
    }
  }

  @Test("equivalent targets share a response, others do not")
  func sharing() async throws {
    counts("params=(\"utm\")", test)
    #expect(try await test.get("/a?x=1&utm=2").text == "1")
    #expect(try await test.get("/a?x=1&utm=3").text == "1")
    #expect(try await test.get("/a?utm=3&x=1").text == "1")
    let hit = try await test.get("/a?x=1")
    #expect(hit.outcome == .hit(age: .seconds(0), lifetime: .seconds(60), allowance: nil))
    #expect(try await test.get("/a?x=2&utm=2").text == "2")
    #expect(try await test.get("/b?x=1").text == "3")
    #expect(try await test.get("/a?x=1").text == "1")
  }

  @Test("the caller sees the target it asked for")
  func finalTarget() async throws {
    counts("key-order", test)
    try await test.get("/a?b=1&a=1")
    let response = try await test.respond("/a?a=1&b=1")
    #expect(response.finalTarget == "https://example.com/a?a=1&b=1")
    let second = try await test.respond("/a?b=1&a=1")
    #expect(second.finalTarget == "https://example.com/a?b=1&a=1")
    #expect(test.origin.requests.count == 1)
  }

  @Test("a 304 with another rule ends the response that was stored for the old one (§6)")
  func otherVariance() async throws {
    counts("params=(\"utm\")", test)
    #expect(try await test.get("/a?utm=1").text == "1")
    test.clock.advance(by: 61)
    counts("params=()", test, status: 304)
    try await test.get("/a?utm=2")
    counts(nil, test)
    #expect(try await test.get("/a").text != "1")
  }

  @Test("by default the field changes nothing")
  func off() async throws {
    let test = TestCache()
    counts("params=(\"utm\")", test)
    #expect(try await test.get("/a?utm=2").text == "1")
    #expect(try await test.get("/a?utm=3").text == "2")
    #expect(test.cache.store.usage.memoryEntries == 2)
  }

  @Test("what counts is what the stored response says, not the latest rule of its path")
  func ownVariance() async throws {
    counts(nil, test)
    #expect(try await test.get("/a").text == "1")
    counts("params=(\"utm\")", test)
    #expect(try await test.get("/a?x=1&utm=1").text == "2")
    // Its canonical target is stored, but that response has no rule about its query.
    #expect(try await test.get("/a?utm=1").text == "3")
  }

  @Test("a later response without the field for the very target wins")
  func exactWins() async throws {
    counts("params=(\"utm\")", test)
    #expect(try await test.get("/a?utm=1").text == "1")
    test.clock.advance(by: 1)
    counts(nil, test)
    #expect(try await test.get("/a?utm=1", [.cacheControl: "no-cache"]).text == "2")
    #expect(try await test.get("/a?utm=1").text == "2")
    #expect(try await test.get("/a?utm=2").text == "1")
  }

  @Test("a response that gets the field takes the place of the one stored for the very target")
  func replacing() async throws {
    counts(nil, test)
    #expect(try await test.get("/a?utm=1").text == "1")
    counts("params=(\"utm\")", test)
    #expect(try await test.get("/a?utm=1", [.cacheControl: "no-cache"]).text == "2")
    #expect(try await test.get("/a?utm=1").text == "2")
    let targets = try await test.cache.store.entries(.all, after: nil, limit: 10).entries
      .map(\.record.key).filter { $0.methodClass == .get }.map(\.target)
    #expect(targets == ["https://example.com/a"])
  }

  @Test("RFC 9111 §4.4 An unsafe method reaches what is stored for an equivalent target")
  func invalidation() async throws {
    counts("params=(\"utm\")", test)
    #expect(try await test.get("/a?x=1&utm=2").text == "1")
    try await test.get("/a?utm=9&x=1", method: .post)
    #expect(try await test.get("/a?x=1").text == "3")
    #expect(
      try await test.cache.store.targets(equivalentTo: "https://example.com/a?x=1&utm=2")
        == ["https://example.com/a?x=1"])
  }

  @Test("what is stored by another rule is validated: an invalidation might have missed it")
  func changedRule() async throws {
    counts("params=(\"utm\")", test)
    #expect(try await test.get("/a?x=1&utm=2").text == "1")
    counts("params=(\"other\")", test)
    #expect(try await test.get("/a?y=1").text == "2")
    #expect(
      test.events.count {
        if case .invalidated(target: "https://example.com/a?x=1") = $0 { true } else { false }
      } == 1)
    try await test.get("/a?x=1&utm=2", method: .post)
    counts("params=(\"utm\")", test)
    #expect(try await test.get("/a?y=2").text == "4")
    #expect(try await test.get("/a?x=1&utm=2").text == "5")
  }

  @Test("Vary holds within what is shared")
  func vary() async throws {
    test.origin.answers { request, number in
      (
        200, [.cacheControl: "max-age=60", .noVarySearch: "except=()", .vary: "Accept-Language"],
        "\(number) \(request.headerFields[.acceptLanguage] ?? "")"
      )
    }
    #expect(try await test.get("/a?1", [.acceptLanguage: "de"]).text == "1 de")
    #expect(try await test.get("/a?2", [.acceptLanguage: "en"]).text == "2 en")
    #expect(try await test.get("/a?3", [.acceptLanguage: "de"]).text == "1 de")
    #expect(try await test.get("/a?3", [.acceptLanguage: "en"]).text == "2 en")
  }

  @Test("a stale response found for an equivalent target is validated and freshened")
  func validation() async throws {
    counts("except=()", test)
    #expect(try await test.get("/a?1").text == "1")
    test.clock.advance(by: 61)
    test.origin.always(304, [.cacheControl: "max-age=60", .eTag: "\"1\""], "")
    #expect(try await test.get("/a?2").text == "1")
    #expect(test.origin.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
    #expect(test.origin.requests.last?.path == "/a?2")
    #expect(
      try await test.get("/a?3").outcome == .hit(age: .seconds(0), lifetime: .seconds(60), allowance: nil))
  }

  @Test("partitions do not share rules or responses")
  func partitions() async throws {
    counts("except=()", test)
    #expect(try await test.get("/a?1").text == "1")
    #expect(try await test.get("/a?2", options: RequestOptions(partition: "p")).text == "2")
    #expect(try await test.get("/a?3").text == "1")
  }

  @Test("an explanation says what the query was stored as")
  func explanation() async throws {
    counts("params=(\"utm\")", test)
    try await test.get("/a?x=1&utm=2")
    let explanation = try test.cache.explain(test.request("/a?x=1&utm=3"))
    #expect(explanation.steps.first?.answer == "no: stored as https://example.com/a?x=1")
    #expect(explanation.decision == .fresh(age: .seconds(0), lifetime: .seconds(60)))
  }
}
