import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Overrides through the engine: lifetime, directives, storing", .timeLimit(.minutes(10)))
struct OverrideFlowTests {
  private func test(
    _ overrides: RuleOverride..., mode: CacheMode = .private, store: (any CacheStore)? = nil
  ) -> TestCache<TestOrigin> {
    TestCache(rules: CacheRules(mode: mode, overrides: overrides), store: store)
  }

  @Test("a server without headers: what it sends is fresh for as long as the override says")
  func withoutHeaders() async throws {
    let test = test(RuleOverride(try .glob("/files/**"), effects: [.lifetime(.exactly(.seconds(600)))]))
    test.origin.answers { _, number in (200, [:], "\(number)") }
    #expect(try await test.get("/files/a").text == "1")
    test.clock.advance(by: 599)
    #expect(
      try await test.get("/files/a").outcome
        == .hit(age: .seconds(599), lifetime: .seconds(600), allowance: nil))
    #expect(
      try #require(test.cache.peek(test.request("/files/a"))).outcome
        == .hit(age: .seconds(599), lifetime: .seconds(600), allowance: nil))
    test.clock.advance(by: 1)
    #expect(try await test.get("/files/a").text == "2")
    #expect(try await test.get("/other").text == "3")
    #expect(try await test.get("/other").text == "4")
  }

  @Test("a change of overrides counts for what is stored, at once and both ways")
  func changed() async throws {
    let plain = test()
    try await plain.store([.cacheControl: "max-age=60", .eTag: "\"1\""], "body")
    let store = plain.cache.store
    let long = test(RuleOverride(effects: [.lifetime(.exactly(.seconds(600)))]), store: store)
    long.clock.advance(by: 100)
    #expect(
      try await long.get("/").outcome == .hit(age: .seconds(100), lifetime: .seconds(600), allowance: nil))
    #expect(
      long.cache.peek(long.request("/"))?.outcome
        == .hit(age: .seconds(100), lifetime: .seconds(600), allowance: nil))
    let short = test(RuleOverride(effects: [.lifetime(.atMost(.seconds(5)))]), store: store)
    short.clock.advance(by: 6)
    #expect(short.cache.peek(short.request("/")) == nil)
    #expect(
      try short.cache.explain(short.request("/")).decision
        == .validate(.stale(age: .seconds(6), lifetime: .seconds(5))))
  }

  @Test("a directory opened with other overrides")
  func reopened() async throws {
    let folder = try ScratchFolder()
    let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
    let origin = TestOrigin()
    func open(_ overrides: RuleOverride...) throws -> HTTPCache {
      try HTTPCache.open(
        HTTPCache.Configuration(
          directory: folder.path("cache"), diskCapacity: 64 << 20, rules: CacheRules(overrides: overrides),
          clock: clock))
    }
    func get(_ path: String, _ cache: HTTPCache) async throws -> CacheOutcome {
      let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: path)
      let response = try await cache.respond(to: request, via: origin)
      _ = try await response.body.collect()
      return response.outcome
    }
    origin.always(200, [.cacheControl: "max-age=60, no-store"], "body")
    let forcing = RuleOverride(
      name: "forced", effects: [.ignoring([.noStore]), .lifetime(.exactly(.seconds(600))), .ignoringQuery])
    do {
      let cache = try open(forcing)
      _ = try await get("/a?secret", cache)
      await cache.flush()
    }
    clock.advance(by: 100)
    do {
      let cache = try open(forcing)
      #expect(
        try await get("/a?other", cache) == .hit(age: .seconds(100), lifetime: .seconds(600), allowance: nil))
      await cache.flush()
    }
    let plain = try open()
    // Neither for another URL nor for its own: the origin said no-store.
    for path in ["/a", "/a?secret"] {
      guard case .forwarded(.miss(.absent), _, .doNotStore(.responseNoStore), _) = try await get(path, plain)
      else {
        Issue.record("\(path)")
        continue
      }
    }
  }

  @Test("no-store under a lifetime: outcome and explanation name the override")
  func noStoreDespiteLifetime() async throws {
    let test = test(
      RuleOverride(try .glob("/files/**"), name: "files", effects: [.lifetime(.exactly(.seconds(600)))]))
    test.origin.always(200, [.cacheControl: "no-store"], "body")
    let answer = try await test.get("/files/a")
    let text = "no-store, which override 1 (files) matches and does not lift"
    #expect("\(answer.outcome)" == "200 from the origin (nothing stored), not stored: \(text)")
    let explanation = try test.cache.explain(test.request("/files/a"))
    #expect(explanation.refusals.first?.steps.last?.answer == "no: \(text)")
  }

  @Test("never store: its own reason, in the outcome, the event, the note and the explanation")
  func neverStore() async throws {
    let test = test(RuleOverride(try .glob("/private/**"), name: "private", effects: [.neverStore]))
    test.origin.always(200, [.cacheControl: "max-age=60"], "body")
    let outcome = try await test.get("/private/a").outcome
    #expect(
      outcome == .forwarded(.miss(.absent), status: 200, storage: .doNotStore(.override), collapsed: false))
    #expect(
      test.events.count {
        if case .notStored(target: "https://example.com/private/a", .override) = $0 { true } else { false }
      } == 1)
    let explanation = try test.cache.explain(test.request("/private/a"))
    let refusal = try #require(explanation.refusals.first)
    #expect(refusal.steps.last?.answer == "no: an override says never to store it")
    #expect(refusal.steps.contains { $0.description.contains("override 1 (private)") })
    #expect(test.cache.store.usage.memoryEntries == 0)
  }

  @Test("what is stored is not used once an override says never to store it")
  func neverUsed() async throws {
    let plain = test()
    try await plain.store([.cacheControl: "max-age=60", .eTag: "\"1\""], "body")
    let never = test(RuleOverride(effects: [.neverStore]), store: plain.cache.store)
    never.origin.always(200, [.cacheControl: "max-age=60"], "new")
    #expect(never.cache.peek(never.request("/")) == nil)
    let explanation = try never.cache.explain(never.request("/"))
    #expect(explanation.decision == .miss(.absent))
    #expect(
      explanation.steps.contains {
        $0.description == "Is there what the overrides forbid to use? yes: 1"
      })
    #expect(try await never.get("/").text == "new")
    #expect(never.origin.requests.first?.headerFields[.ifNoneMatch] == nil)
    await #expect(throws: UpstreamError.self) {
      never.origin.fails(.unreachable)
      try await never.get("/")
    }
  }

  @Test("pinned records are marked so in the store")
  func pins() async throws {
    let test = test(RuleOverride(mediaTypes: ["image/*"], effects: [.pin]))
    test.origin.answers { request, _ in
      (200, [.cacheControl: "max-age=60", .contentType: request.path == "/a" ? "image/png" : "a/b"], "body")
    }
    try await test.get("/a")
    try await test.get("/b")
    let records = try await test.cache.store.entries(.all, after: nil, limit: 9).entries.map(\.record)
    #expect(records.filter(\.isPinned).map(\.key.target) == ["https://example.com/a"])
  }

  @Test("clients that reload without a reason are answered from the store")
  func reloads() async throws {
    let test = test(RuleOverride(effects: [.ignoringRequestDirectives]))
    try await test.store([.cacheControl: "max-age=60"], "body")
    for fields: HTTPFields in [
      [.cacheControl: "no-cache"], [.cacheControl: "max-age=0"], [.pragmaTest: "no-cache"],
    ] {
      #expect(
        try await test.get("/", fields).outcome
          == .hit(age: .seconds(0), lifetime: .seconds(60), allowance: nil))
      #expect(test.cache.peek(test.request("/", fields)) != nil)
    }
    #expect(test.origin.requests.count == 1)
    // The caller's own policy is no directive of a request.
    try await test.get("/", policy: .revalidate)
    #expect(test.origin.requests.count == 2)
  }

  @Test("content forced to be there offline, though its origin forbids stale use")
  func offline() async throws {
    let test = test(
      RuleOverride(
        effects: [.ignoring([.noCache, .noStore, .mustRevalidate]), .lifetime(.atLeast(.seconds(60))), .pin]))
    try await test.store([.cacheControl: "no-cache, no-store, must-revalidate"], "body", age: 1_000)
    test.origin.fails(.unreachable)
    let answer = try await test.get("/")
    #expect(answer.text == "body")
    #expect(answer.outcome == .hit(age: .seconds(1_000), lifetime: .seconds(60), allowance: .disconnected))
    #expect(answer.head.headerFields[.cacheControl] == "no-cache, no-store, must-revalidate")
  }

  @Test("§4.3.4 a 304 freshens for as long as the override says")
  func freshening() async throws {
    let test = test(RuleOverride(effects: [.lifetime(.exactly(.seconds(100)))]))
    try await test.store([.eTag: "\"1\""], "body", age: 100)
    test.origin.always(304, [.eTag: "\"1\"", .cacheControl: "no-cache"], "")
    #expect(
      try await test.get("/").outcome
        == .validated(
          .stale(age: .seconds(100), lifetime: .seconds(100)), age: .seconds(0), lifetime: .seconds(100)))
    #expect(test.cache.store.usage.memoryEntries == 1)
  }

  @Test("the path of the decision, for each branch that the origin ends", arguments: [304, 200])
  func protocolPath(status: Int) async throws {
    let test = test()
    test.origin.always(200, [.eTag: "\"1\"", .cacheControl: "max-age=60"], "body")
    #expect(try await test.get("/").outcome.protocolPolicyPath.last?.answer == "load from the origin")
    test.clock.advance(by: 60)
    test.origin.always(status, [.eTag: "\"1\"", .cacheControl: "max-age=60"], "new")
    let expected = try test.cache.explain(test.request("/")).protocolPolicyPath
    let path = try await test.get("/").outcome.protocolPolicyPath
    #expect(Array(path.prefix(expected.count)) == expected)
    #expect(
      path.suffix(2).map(\.answer)
        == (status == 304 ? ["no", "return the cached response"] : ["yes", "load from the origin"]))
  }
}
