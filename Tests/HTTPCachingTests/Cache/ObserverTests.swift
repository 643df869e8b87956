import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("What is told: events, Cache-Status, counters", .timeLimit(.minutes(10)))
struct ObserverTests {
  @Test("miss, stored, hit: in order, once each")
  func events() async throws {
    let test = TestCache()
    try await test.store([.cacheControl: "max-age=60"], "body")
    try await test.get("/")
    let outcomes = test.events.events.compactMap { event -> CacheOutcome? in
      if case .answered(_, let outcome) = event { outcome } else { nil }
    }
    #expect(
      outcomes == [
        .forwarded(.miss(.absent), status: 200, storage: .store, collapsed: false),
        .hit(age: .seconds(0), lifetime: .seconds(60), allowance: nil),
      ])
    #expect(test.events.count { if case .stored(_, bytes: 4) = $0 { true } else { false } } == 1)
    let counts = try await test.cache.store.counts()
    #expect(counts.hits == 1)
    #expect(counts.misses == 1)
    #expect(counts.stores == 1)
    #expect(counts.originBytes == 4)
    #expect(counts.hitBytes == 4)
  }

  @Test("a watch is no request: it counts no hit and tells no answer")
  func watch() async throws {
    let test = TestCache()
    test.origin.always(200, [.cacheControl: "max-age=60"], "body")
    var updates = try test.cache.watch(test.request("/a")).makeAsyncIterator()
    for _ in 0..<2 {
      try await test.get("/a", policy: .reload)
      test.clock.advance(by: 1)
      // A change of another entry of the origin makes the watch look, too.
      try await test.get("/b", policy: .reload)
      guard case .stored = await updates.next() else {
        Issue.record("the stored response is not given")
        return
      }
    }
    #expect(try await test.cache.counts().hits == 0)
    #expect(test.events.count { if case .answered(_, .hit) = $0 { true } else { false } } == 0)
  }

  @Test("removals and invalidations by callers are events, with what they select and how many matched")
  func changes() async throws {
    let test = TestCache()
    try await test.store([.cacheControl: "max-age=60"], "body", at: "/a")
    try await test.get("/b")
    try await test.cache.invalidate(.target("https://example.com/a"))
    try await test.cache.expire(.target("https://example.com/b"))
    try await test.cache.remove(.prefix("https://example.com/b"))
    await test.cache.removeStored(for: test.request("/a"))
    try await test.cache.removeAll()
    let told = test.events.events.compactMap { event -> String? in
      switch event {
      case .selectionRemoved, .selectionInvalidated, .selectionExpired, .removed: event.description
      default: nil
      }
    }
    #expect(
      told == [
        "https://example.com/a: 1 invalidated", "https://example.com/b: 1 expired",
        "https://example.com/b*: 1 removed",
        "https://example.com/a: removed: a caller asked for it", "all entries: 0 removed",
      ])
  }

  @Test("why a response was not stored is an event with its section")
  func refusal() async throws {
    let test = TestCache()
    test.origin.always(200, [.cacheControl: "no-store"], "body")
    let answer = try await test.get("/")
    guard case .forwarded(_, _, storage: .doNotStore(let refusal), _) = answer.outcome else {
      return #expect(Bool(false), "\(answer.outcome)")
    }
    #expect(refusal == .responseNoStore)
    #expect(refusal.section == "RFC 9111 §5.2.2.5")
  }

  // holds 9110-6.6.1-1, 9110-6.6.1-2
  @Test("a response without Date gets one (RFC 9110 §6.6.1)")
  func date() async throws {
    let test = TestCache()
    test.origin.always(200, [.cacheControl: "no-store"], "body")
    #expect(try await test.get("/").head.headerFields[.date] == "Tue, 14 Nov 2023 22:13:20 GMT")
  }

  @Test("a request without absolute URI is refused clearly")
  func invalidRequest() async throws {
    let test = TestCache()
    let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
    await #expect(throws: CacheError.self) {
      try await test.cache.respond(to: request, via: test.origin)
    }
    #expect(test.origin.requests.isEmpty)
  }
}
