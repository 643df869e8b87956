import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Cache items that targets share, through the engine", .timeLimit(.minutes(10)))
struct AliasFlowTests {
  private static let name = HTTPField.Name("MobileAppCacheKey") ?? .accept

  private func test(store: (any CacheStore)? = nil, effects: [RuleEffect] = []) throws -> TestCache<
    TestOrigin
  > {
    TestCache(
      rules: CacheRules(overrides: [
        RuleOverride(try .glob("/news/**"), effects: [.alias(Self.name)] + effects)
      ]),
      store: store)
  }

  /// An origin whose responses name an item and have the number of the request as content.
  private func names(_ value: String?, _ test: TestCache<TestOrigin>, tag: String? = nil) {
    test.origin.answers { _, number in
      var fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: tag ?? "\"\(number)\""]
      fields[Self.name] = value
      return (200, fields, "\(number)")
    }
  }

  private func targets(_ test: TestCache<TestOrigin>) async throws -> [String] {
    try await test.cache.store.entries(.all, after: nil, limit: 20).entries
      .map { ($0.record.key.methodClass == .pointer ? "pointer " : "") + $0.record.key.target }.sorted()
  }

  @Test("URLs that had the same name share the latest response")
  func sharing() async throws {
    let test = try test()
    names("top", test)
    #expect(try await test.get("/news/a").text == "1")
    // The URL is not known to belong to the item: the origin has to confirm it.
    #expect(try await test.get("/news/b").text == "2")
    #expect(try await test.get("/news/a").text == "2")
    #expect(
      try await test.get("/news/b").outcome
        == .hit(age: .seconds(0), lifetime: .seconds(60), allowance: nil))
    #expect(
      try await targets(test) == [
        "https://example.com/#mobileappcachekey=top", "pointer https://example.com/news/a",
        "pointer https://example.com/news/b",
      ])
  }

  @Test("peek and explain follow the pointer; the caller keeps its target")
  func peek() async throws {
    let test = try test()
    names("top", test)
    try await test.get("/news/a")
    let answer = try #require(test.cache.peek(test.request("/news/a")))
    #expect(answer.finalTarget == "https://example.com/news/a")
    #expect(test.cache.peek(test.request("/news/b")) == nil)
    let explanation = try test.cache.explain(test.request("/news/a"))
    #expect(
      explanation.steps.first?.answer == "yes: stored as https://example.com/#mobileappcachekey=top")
    #expect(explanation.decision == .fresh(age: .seconds(0), lifetime: .seconds(60)))
  }

  @Test("only where an override asks for it")
  func elsewhere() async throws {
    let test = try test()
    names("top", test)
    try await test.get("/news/a")
    #expect(try await test.get("/other").text == "2")
    #expect(try await test.get("/news/a").text == "1")
    let plain = TestCache(store: test.cache.store)
    #expect(plain.cache.peek(plain.request("/news/a")) == nil)
    #expect(try plain.cache.explain(plain.request("/news/a")).decision == .miss(.absent))
  }

  @Test("nothing is shared across origins, partitions or modes")
  func boundaries() async throws {
    let test = try test()
    names("top", test)
    #expect(try await test.get("/news/a").text == "1")
    #expect(try await test.get("/news/a", options: RequestOptions(partition: "p")).text == "2")
    for (scheme, authority) in [("http", "example.com"), ("https", "example.com:444"), ("https", "b")] {
      let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/news/a")
      let response = try await test.cache.respond(to: request, via: test.origin)
      _ = try await response.body.collect()
      guard case .forwarded = response.outcome else {
        Issue.record("\(scheme)://\(authority): \(response.outcome)")
        continue
      }
    }
    #expect(try await test.get("/news/a").text == "1")
  }

  @Test(
    "a name that is refused changes nothing",
    arguments: ["", "a b", "https://other.example/news/a", "//b/", String(repeating: "x", count: 300)])
  func refused(value: String) async throws {
    let test = try test()
    names(value, test)
    #expect(try await test.get("/news/a").text == "1")
    #expect(try await test.get("/news/b").text == "2")
    #expect(try await test.get("/news/a").text == "1")
    #expect(
      try await targets(test) == ["https://example.com/news/a", "https://example.com/news/b"])
  }

  @Test("a later response without a name, or with another one, ends what was shared")
  func changed() async throws {
    let test = try test()
    names("top", test)
    try await test.get("/news/a")
    try await test.get("/news/b")
    names("other", test)
    #expect(try await test.get("/news/a", [.cacheControl: "no-cache"]).text == "3")
    #expect(try await test.get("/news/b").text == "2")
    #expect(try await test.get("/news/a").text == "3")
    names(nil, test)
    #expect(try await test.get("/news/a", [.cacheControl: "no-cache"]).text == "4")
    #expect(try await test.get("/news/a").text == "4")
    #expect(try await test.get("/news/b").text == "2")
    #expect(
      try await targets(test) == [
        "https://example.com/#mobileappcachekey=other", "https://example.com/#mobileappcachekey=top",
        "https://example.com/news/a", "pointer https://example.com/news/b",
      ])
  }

  @Test("what was stored for the very target goes when the response gets a name")
  func replacing() async throws {
    let test = try test()
    names(nil, test)
    try await test.get("/news/a")
    names("top", test)
    #expect(try await test.get("/news/a", [.cacheControl: "no-cache"]).text == "2")
    #expect(
      try await targets(test) == [
        "https://example.com/#mobileappcachekey=top", "pointer https://example.com/news/a",
      ])
  }

  @Test("§4.4 an unsafe request to one of the URLs reaches what they share")
  func invalidation() async throws {
    let test = try test()
    names("top", test)
    try await test.get("/news/a")
    try await test.get("/news/b")
    try await test.get("/news/a", method: .post)
    #expect(test.cache.peek(test.request("/news/b")) == nil)
    #expect(try await test.get("/news/b").text == "4")
    #expect(try await test.get("/news/a").text == "4")
  }

  @Test("a removal of a URL finds the item, and the pointer goes with its URL")
  func purge() async throws {
    let test = try test()
    names("top", test)
    try await test.get("/news/a")
    try await test.get("/news/b")
    let store = test.cache.store
    let url = "https://example.com/news/a"
    #expect(
      try await store.targets(equivalentTo: url) == ["https://example.com/#mobileappcachekey=top"])
    for target in [url] + (try await store.targets(equivalentTo: url)) {
      try await store.remove(.target(target))
    }
    #expect(try await targets(test) == ["pointer https://example.com/news/b"])
    #expect(try await test.get("/news/a").text == "3")
  }

  @Test("a pointer to nothing is removed when it is found")
  func dangling() async throws {
    let test = try test()
    names("top", test)
    try await test.get("/news/a")
    try await test.cache.store.remove(.target("https://example.com/#mobileappcachekey=top"))
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await test.get("/news/a") }
    await test.cache.finishBackgroundWork(within: .seconds(60))
    #expect(try await targets(test).isEmpty)
  }

  @Test("a pointer to what is on its way stays, and one that was taken away meanwhile comes back")
  func arriving() async throws {
    for isTaken in [false, true] {
      let test = try test()
      let gate = Gate()
      test.origin.streams([.cacheControl: "max-age=60", Self.name: "top"]) { _ in
        TestBody(piece: [65], count: 2, gate: (1, gate))
      }
      let first = try await test.respond("/news/a")
      let second = try await test.respond("/news/a")
      await test.cache.finishBackgroundWork(within: .seconds(60))
      #expect(try await targets(test).contains("pointer https://example.com/news/a"))
      if isTaken {
        let key = try #require(CacheKey(request: test.request("/news/a"), rules: CacheRules()))
        let pointer = try #require(try test.cache.store.read(key.pointer).first?.record)
        try await test.cache.store.remove(.variant(pointer.key, sequence: pointer.sequence))
      }
      gate.open()
      #expect(try await first.body.collect().count == 2)
      #expect(try await second.body.collect().count == 2)
      #expect(
        try await test.get("/news/a").outcome
          == .hit(age: .seconds(0), lifetime: .seconds(60), allowance: nil))
      #expect(test.origin.requests.count == 1)
    }
  }

  @Test("what is shared is validated for the URL that is asked for, and freshened for all")
  func validation() async throws {
    let test = try test()
    names("top", test, tag: "\"1\"")
    try await test.get("/news/a")
    try await test.get("/news/b")
    test.clock.advance(by: 61)
    test.origin.always(304, [.eTag: "\"1\"", .cacheControl: "max-age=60"], "")
    #expect(try await test.get("/news/a").text == "2")
    #expect(test.origin.requests.last?.path == "/news/a")
    #expect(
      try await test.get("/news/b").outcome
        == .hit(age: .seconds(0), lifetime: .seconds(60), allowance: nil))
  }

  @Test("Vary holds within an item")
  func vary() async throws {
    let test = try test()
    test.origin.answers { request, number in
      var fields: HTTPFields = [.cacheControl: "max-age=60", .vary: "Accept-Language"]
      fields[Self.name] = "top"
      return (200, fields, "\(number) \(request.headerFields[.acceptLanguage] ?? "")")
    }
    #expect(try await test.get("/news/a", [.acceptLanguage: "de"]).text == "1 de")
    #expect(try await test.get("/news/b", [.acceptLanguage: "en"]).text == "2 en")
    #expect(try await test.get("/news/a", [.acceptLanguage: "en"]).text == "2 en")
    #expect(try await test.get("/news/b", [.acceptLanguage: "de"]).text == "1 de")
  }

  @Test("together with an overridden key: the pointer is that of the key")
  func overriddenKey() async throws {
    let test = try test(effects: [.ignoringQuery, .pin])
    names("top", test)
    try await test.get("/news/a?1")
    #expect(try await test.get("/news/a?2").text == "1")
    let records = try await test.cache.store.entries(.all, after: nil, limit: 9).entries.map(\.record)
    #expect(records.count == 2 && records.allSatisfy(\.isPinned))
    try await test.get("/news/a?3", method: .delete)
    #expect(try await test.get("/news/a?4").text == "3")
    // Without the effect that made the key, the pointer is not followed.
    let other = try self.test(store: test.cache.store)
    #expect(try other.cache.explain(other.request("/news/a")).decision == .miss(.absent))
  }

  @Test("an item and its pointers outlive the process")
  func disk() async throws {
    let folder = try ScratchFolder()
    let rules = try test().cache.configuration.rules
    let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
    let origin = TestOrigin()
    origin.answers { _, number in (200, [.cacheControl: "max-age=60", Self.name: "top"], "\(number)") }
    func get(_ path: String, _ cache: HTTPCache) async throws -> String {
      let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: path)
      let response = try await cache.respond(to: request, via: origin)
      return String(decoding: try await response.body.collect().array, as: UTF8.self)
    }
    for expected in [["1", "2", "2"], ["2", "2", "2"]] {
      for memory in expected == ["1", "2", "2"] ? [0] : [0, 1 << 20] {
        let cache = try HTTPCache.open(
          HTTPCache.Configuration(
            directory: folder.path("cache"), memoryCapacity: Int64(memory), diskCapacity: 64 << 20,
            rules: rules, clock: clock))
        for (path, text) in zip(["/news/a", "/news/b", "/news/a"], expected) {
          #expect(try await get(path, cache) == text)
        }
        await cache.flush()
      }
    }
  }
}
