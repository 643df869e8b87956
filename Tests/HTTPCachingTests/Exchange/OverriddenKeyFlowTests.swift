import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Overridden keys through the engine", .timeLimit(.minutes(10)))
struct OverriddenKeyFlowTests {
  private func test(
    _ effects: RuleEffect..., targets: [TargetPattern] = [], store: (any CacheStore)? = nil,
    obeysNoVarySearch: Bool = false
  ) -> TestCache<TestOrigin> {
    TestCache(
      rules: CacheRules(
        obeysNoVarySearch: obeysNoVarySearch, overrides: [RuleOverride(targets, effects: effects)]),
      store: store)
  }

  private func counts(_ test: TestCache<TestOrigin>, _ fields: HTTPFields = [:]) {
    test.origin.answers { _, number in
      var fields = fields
      fields[.cacheControl] = "max-age=60"
      fields[.eTag] = "\"\(number)\""
      return (200, fields, "\(number)")
    }
  }

  @Test("signed URLs share a response; the origin gets each as it is, and the caller its own target")
  func signed() async throws {
    let test = test(.droppingQuery(["X-Amz-*"]))
    counts(test)
    let first = try await test.respond("/a?v=1&X-Amz-Signature=1")
    _ = try await first.body.collect()
    #expect(test.origin.requests.last?.path == "/a?v=1&X-Amz-Signature=1")
    let second = try await test.respond("/a?v=1&X-Amz-Signature=2")
    #expect(second.outcome == .hit(age: .seconds(0), lifetime: .seconds(60), allowance: nil))
    #expect(second.finalTarget == "https://example.com/a?v=1&X-Amz-Signature=2")
    #expect(
      test.cache.peek(test.request("/a?X-Amz-Date=3&v=1"))?.finalTarget
        == "https://example.com/a?X-Amz-Date=3&v=1")
    #expect(try await test.get("/a?v=2").text == "2")
    #expect(
      test.events.count {
        if case .answered(target: "https://example.com/a?v=1&X-Amz-Signature=2", _) = $0 {
          true
        } else {
          false
        }
      } == 1)
    let explanation = try test.cache.explain(test.request("/a?v=1&X-Amz-Signature=5"))
    #expect(explanation.decision == .fresh(age: .seconds(0), lifetime: .seconds(60)))
    #expect(explanation.steps.contains { $0.answer.hasSuffix("https://example.com/a?v=1") })
  }

  @Test("§4.4 an unsafe request to any of the URLs, or one its answer names, reaches what is stored")
  func invalidation() async throws {
    let test = test(.droppingQuery(["utm_*"]), .lowercasingPath)
    counts(test)
    for path in ["/A?utm_a=1", "/a?utm_b=1", "/a", "/%41?utm_c"] {
      let before = try await test.get("/a").text
      #expect(try await test.get("/A?utm_z=1").text == before)
      try await test.get(path, method: .post)
      #expect(try await test.get("/a").text != before, "\(path)")
    }
    let before = try await test.get("/a").text
    test.origin.always(200, [.location: "/A?utm_x=7"], "")
    try await test.get("/b", method: .put)
    counts(test)
    #expect(try await test.get("/a").text != before)
  }

  @Test("§4.4 overrides that depend on the request: each key is reached")
  func uncertainInvalidation() async throws {
    for count in [1, 7] {
      let overrides = (0..<count).map { index in
        RuleOverride(
          .matching("\(index)") { $0.headerFields[.accept] != nil }, effects: [.droppingQuery(["\(index)"])])
      }
      let test = TestCache(rules: CacheRules(overrides: overrides))
      counts(test)
      #expect(try await test.get("/a?0=x", [.accept: "a/b"]).text == "1")
      #expect(try await test.get("/a?0=x").text == "2")
      try await test.get("/a?0=x", method: .delete)
      #expect(try await test.get("/a", [.accept: "a/b"]).text == "4")
      #expect(try await test.get("/a?0=x").text == "5")
    }
  }

  @Test("a redirect is resolved against the URL that was asked for, not against the key")
  func redirects() async throws {
    let test = test(.ignoringQuery, .lowercasingPath)
    test.origin.answers { request, _ in
      request.path?.hasSuffix("?to") == true
        ? (200, [.cacheControl: "max-age=60"], "there")
        : (301, [.cacheControl: "max-age=60", .location: "B?to"], "")
    }
    #expect(try await test.get("/Dir/A?from").text == "there")
    #expect(test.origin.requests.map(\.path) == ["/Dir/A?from", "/Dir/B?to"])
    #expect(try await test.get("/dir/a").text == "there")
    #expect(test.origin.requests.count == 2)
  }

  @Test("requests for URLs of one key wait for one transfer")
  func coalescing() async throws {
    let test = test(.ignoringQuery)
    counts(test)
    test.origin.hold()
    let texts = try await withThrowingTaskGroup(of: String.self) { group in
      for index in 0..<6 { group.addTask { try await test.get("/a?\(index)").text } }
      await test.origin.arrived(1)
      try await until { test.cache.unfinishedWork.waiters == 5 }
      test.origin.release()
      return try await group.reduce(into: [String]()) { $0.append($1) }
    }
    #expect(texts == Array(repeating: "1", count: 6))
  }

  @Test("a request for which the key is its own target never gets what was made that key for others")
  func predicates() async throws {
    let test = TestCache(
      rules: CacheRules(overrides: [
        RuleOverride(.matching("app") { $0.headerFields[.userAgent] == "app" }, effects: [.ignoringQuery])
      ]))
    counts(test)
    var texts = [try await test.get("/a?x=1", [.userAgent: "app"]).text]
    texts.append(try await test.get("/a?x=2", [.userAgent: "app"]).text)
    #expect(test.cache.peek(test.request("/a")) == nil)
    texts.append(try await test.get("/a").text)
    // A response stored under its own target is right for all requests with that key.
    texts.append(try await test.get("/a?x=3", [.userAgent: "app"]).text)
    try #require(texts == ["1", "1", "2", "2"])
    test.clock.advance(by: 60)
    test.origin.hold()
    async let app = test.get("/a?x=4", [.userAgent: "app"]).text
    await test.origin.arrived(3)
    async let plain = test.get("/a").text
    try await until { test.cache.unfinishedWork.waiters == 1 || test.origin.requests.count == 4 }
    test.origin.release()
    #expect(try await app != plain)
  }

  @Test("opened with other overrides: nothing is answered by what other overrides made the key of")
  func changed() async throws {
    let rewriting = test(.ignoringQuery)
    counts(rewriting)
    #expect(try await rewriting.get("/a?x=1").text == "1")
    let store = rewriting.cache.store
    for effects in [[], [RuleEffect.droppingQuery(["y"])]] {
      let other = TestCache(
        rules: CacheRules(overrides: [RuleOverride(effects: effects)]), store: store)
      #expect(other.cache.peek(other.request("/a")) == nil)
      #expect(try other.cache.explain(other.request("/a")).decision == .miss(.absent))
    }
    let again = test(.ignoringQuery, store: store)
    #expect(again.cache.peek(again.request("/a?z=1")) != nil)
    let plain = TestCache(store: store)
    counts(plain)
    #expect(try await plain.get("/a").text == "1")
    #expect(plain.origin.requests.count == 1)
    // A response stored under its own target is usable, whatever effects made the key.
    #expect(again.cache.peek(again.request("/a?z=1")) != nil)
  }

  @Test("a stale response is validated for the URL that is asked for, with the tag of the one stored")
  func validators() async throws {
    let test = test(.ignoringQuery)
    counts(test)
    #expect(try await test.get("/a?1").text == "1")
    test.clock.advance(by: 61)
    test.origin.always(304, [.eTag: "\"1\"", .cacheControl: "max-age=60"], "")
    #expect(try await test.get("/a?2").text == "1")
    #expect(test.origin.requests.last?.path == "/a?2")
    #expect(test.origin.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
    let range = try await test.get("/a?3", [.range: "bytes=0-0"])
    #expect(range.status == 206)
    #expect(test.origin.requests.count == 2)
  }

  @Test("what a 304 for another URL confirmed is of use only where the same overrides make the key")
  func confirmed() async throws {
    let test = test(.ignoringQuery)
    counts(test)
    #expect(try await test.get("/a").text == "1")
    let plain = TestCache(store: test.cache.store)
    #expect(plain.cache.peek(plain.request("/a")) != nil)
    test.origin.always(304, [.eTag: "\"1\"", .cacheControl: "max-age=60"], "")
    #expect(try await test.get("/a?2", [.cacheControl: "no-cache"]).text == "1")
    #expect(plain.cache.peek(plain.request("/a")) == nil)
    #expect(test.cache.peek(test.request("/a")) != nil)
  }

  @Test("No-Vary-Search says the rest of what is left of the query")
  func noVarySearch() async throws {
    let test = test(.droppingQuery(["token"]), obeysNoVarySearch: true)
    counts(test, [.noVarySearch: "params=(\"utm\")"])
    #expect(try await test.get("/a?v=1&token=1&utm=1").text == "1")
    #expect(try await test.get("/a?utm=2&v=1&token=2").text == "1")
    try await test.get("/a?v=1&utm=3&token=4", method: .post)
    #expect(try await test.get("/a?v=1").text == "3")
  }

  @Test("Cache-Status shows the key that was used")
  func cacheStatus() async throws {
    let origin = TestOrigin()
    origin.always(200, [.cacheControl: "max-age=60"], "")
    let configuration = HTTPCache.Configuration(
      rules: CacheRules(overrides: [RuleOverride(effects: [.ignoringQuery])]), cacheStatusName: "c",
      cacheStatusShowsKey: true)
    let cache = HTTPCache(
      configuration: configuration, store: MemoryStore(capacity: 1 << 20, clock: configuration.clock))
    let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a?b")
    let response = try await cache.respond(to: request, via: origin)
    #expect(response.head.headerFields[.cacheStatus]?.contains("key=\"https://example.com/a\"") == true)
  }
}
