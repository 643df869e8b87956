import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Clear-Site-Data through the engine (W3C Clear Site Data)", .timeLimit(.minutes(10)))
struct ClearSiteDataFlowTests {
  private let fresh: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"1\""]
  private let clearing: HTTPFields = [
    .cacheControl: "max-age=60", .eTag: "\"1\"", .clearSiteData: "\"cache\"",
  ]

  @Test("all of the origin goes, in this partition only, and the response itself is not stored")
  func clearing() async throws {
    let test = TestCache()
    try await test.store(fresh, "old", at: "/a")
    try await test.get("/b?c")
    try await test.get("/a", options: RequestOptions(partition: "other"))
    let elsewhere = HTTPRequest(
      method: .get, scheme: "https", authority: "example.com.evil.example", path: "/")
    _ = try await test.cache.respond(to: elsewhere, via: test.origin).body.collect()
    test.origin.always(200, clearing, "bye")
    let answer = try await test.get("/logout")
    #expect(
      answer.outcome
        == .forwarded(
          .miss(.absent), status: 200, storage: .doNotStore(.clearsSite), collapsed: false))
    let kept = try await test.cache.store.entries(.all, after: nil, limit: 10).entries
    #expect(
      Set(kept.map(\.record.key.target)) == ["https://example.com/a", "https://example.com.evil.example/"])
    #expect(kept.count == 2)
    #expect(
      test.events.count {
        if case .siteCleared(origin: "https://example.com", partition: "") = $0 { true } else { false }
      } == 1)
  }

  @Test("in a shared cache, the partition of one user goes, as in a private cache, and no other")
  func oneUser() async throws {
    let test = TestCache(rules: CacheRules(mode: .shared))
    var user = RequestOptions(partition: "user")
    user.isOneUser = true
    test.origin.always(200, fresh, "old")
    try await test.get("/a", options: user)
    try await test.get("/a")
    test.origin.always(200, clearing, "bye")
    try await test.get("/logout", options: user)
    let kept = try await test.cache.store.entries(.all, after: nil, limit: 10).entries
    #expect(kept.map(\.record.key.partition) == [""])
  }

  @Test("more than one page of entries goes")
  func many() async throws {
    let test = TestCache()
    test.origin.always(200, fresh, "old")
    for number in 0..<600 { try await test.get("/\(number)") }
    test.origin.always(200, clearing, "bye")
    try await test.get("/logout")
    #expect(test.cache.store.usage.memoryEntries == 0)
  }

  @Test("a shared cache, http and a cache that is told so ignore the field")
  func ignored() async throws {
    for rules in [CacheRules(mode: .shared), CacheRules(obeysClearSiteData: false)] {
      let test = TestCache(rules: rules)
      try await test.store(fresh, "old", at: "/a")
      test.origin.always(200, clearing, "bye")
      try await test.get("/logout")
      #expect(try await test.get("/a").text == "old")
    }
    let test = TestCache()
    let request = HTTPRequest(method: .get, scheme: "http", authority: "example.com", path: "/a")
    test.origin.always(200, clearing, "old")
    _ = try await test.cache.respond(to: request, via: test.origin).body.collect()
    #expect(test.cache.store.usage.memoryEntries == 1)
  }

  @Test("a 304 with the field answers with what it confirms, which goes then")
  func notModified() async throws {
    let test = TestCache()
    try await test.store(fresh, "old", at: "/a")
    try await test.get("/b")
    test.clock.advance(by: 61)
    test.origin.always(304, clearing, "")
    #expect(try await test.get("/a").text == "old")
    #expect(test.cache.store.usage.memoryEntries == 0)
  }

  @Test("a 5xx with the field is not covered up by what it tells to clear")
  func serverError() async throws {
    let test = TestCache()
    try await test.store([.cacheControl: "max-age=60, stale-if-error=600"], "old", at: "/a", age: 61)
    test.origin.always(503, clearing, "down")
    #expect(try await test.get("/a").status == 503)
    #expect(test.cache.store.usage.memoryEntries == 0)
  }

  @Test("a response that was under way is validated before any use")
  func underWay() async throws {
    let test = TestCache()
    let gate = Gate()
    test.origin.streams(fresh) { _ in
      TestBody(piece: Array("old".utf8), count: 2, announced: 6, gate: (at: 1, gate: gate))
    }
    let old = try await test.respond("/a")
    test.origin.always(200, clearing, "bye")
    try await test.get("/logout")
    gate.open()
    _ = try await old.body.collect()
    test.origin.always(200, fresh, "new")
    #expect(try await test.get("/a").text == "new")
  }
}
