import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("responses: the stored answer, and then the new one if it differs", .timeLimit(.minutes(10)))
struct StoredThenNewTests {
  private let test = TestCache()

  private struct Given: Equatable {
    let text: String
    let fetchType: FetchType?
  }

  /// All answers of a sequence, and the error that ended it early.
  private func all(
    _ policy: CachePolicy = .standard, _ fields: HTTPFields = [:], path: String = "/",
    method: HTTPRequest.Method = .get, readsFirst: Bool = true
  ) async throws -> ([Given], (any Error)?) {
    let responses = test.cache.responses(
      to: test.request(path, fields, method: method), policy: policy, via: test.origin)
    var given: [Given] = []
    var iterator = responses.makeAsyncIterator()
    while let response = try await iterator.next() {
      let bytes = readsFirst || !given.isEmpty ? try await response.body.collect() : BodyBytes()
      given.append(
        Given(
          text: String(decoding: bytes.array, as: UTF8.self), fetchType: response.outcome.fetchType))
    }
    #expect(try await iterator.next() == nil)
    return (given, iterator.failure)
  }

  private func store(
    _ fields: HTTPFields = [.cacheControl: "max-age=10", .eTag: "\"a\""], _ text: String = "old",
    path: String = "/"
  ) async throws {
    test.origin.always(200, fields, text)
    try await test.get(path)
  }

  private let old = Given(text: "old", fetchType: .localCache)
  private let new = Given(text: "new", fetchType: .networkLoad)

  @Test("standard: a fresh one is the only one")
  func fresh() async throws {
    try await store()
    let (given, failure) = try await all()
    #expect(given == [old])
    #expect(failure == nil)
    #expect(test.origin.requests.count == 1)
  }

  @Test("a first body that is damaged is not what the origin sends")
  func damaged() async throws {
    let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
    let store = FaultyStore(MemoryStore(capacity: 1 << 20, clock: clock))
    let test = TestCache(store: store)
    try await test.store([.cacheControl: "max-age=10"], "old", age: 20)
    var iterator = test.cache.responses(to: test.request("/"), via: test.origin)
      .makeAsyncIterator()
    #expect(try await iterator.next()?.outcome.fetchType == .localCache)
    store.fail(.readBody, times: .max, with: CacheError(.damaged, "made to fail"))
    let second = try await iterator.next()
    #expect(second?.outcome.fetchType == .networkLoad)
    #expect(try await second?.body.collect().array == Array("old".utf8))
    #expect(iterator.failure == nil)
  }

  @Test("a GET with content is asked once, with its content")
  func content() async throws {
    let test = TestCache()
    let upstream = ScriptedUpstream { received in
      ScriptedResponse(headers: ["Cache-Control": "max-age=10"], body: received.body == nil ? "no" : "yes")
    }
    var texts: [String] = []
    for _ in 0..<2 {
      let responses = test.cache.responses(
        to: test.request("/"), body: MessageBody(BodyBytes([1])), via: upstream)
      for try await response in responses {
        texts.append(String(decoding: try await response.body.collect().array, as: UTF8.self))
      }
      test.clock.advance(by: 20)
    }
    #expect(texts == ["yes", "yes"])
  }

  @Test("standard: a stale one first, then the new one, which is stored")
  func stale() async throws {
    try await store()
    test.clock.advance(by: 20)
    test.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"b\""], "new")
    #expect(try await all().0 == [old, new])
    #expect(try await test.get("/").text == "new")
    #expect(test.origin.requests.count == 2)
  }

  @Test("nothing stored: the new one alone, and errors are thrown")
  func nothing() async throws {
    test.origin.always(200, [.cacheControl: "max-age=10"], "new")
    #expect(try await all().0 == [new])
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await all(path: "/other") }
    await #expect(throws: UpstreamError.self) { try await all(.reload, path: "/other") }
  }

  @Test("a 304 confirms the stored one: no second, but it is freshened")
  func confirmed() async throws {
    try await store()
    test.clock.advance(by: 20)
    test.origin.always(304, [.cacheControl: "max-age=10", .eTag: "\"a\""], "")
    var iterator = test.cache.responses(to: test.request("/"), via: test.origin)
      .makeAsyncIterator()
    #expect(try await iterator.next() != nil)
    #expect(iterator.confirmation == nil)
    #expect(try await iterator.next() == nil)
    #expect(
      iterator.confirmation
        == .validated(
          .stale(age: .seconds(20), lifetime: .seconds(10)), age: .seconds(0), lifetime: .seconds(10)))
    #expect(
      try await test.get("/").outcome == .hit(age: .seconds(0), lifetime: .seconds(10), allowance: nil))
  }

  @Test("the same strong validator is the same response, and is stored")
  func sameValidator() async throws {
    try await store()
    test.clock.advance(by: 20)
    test.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"a\""], "old")
    #expect(try await all().0 == [old])
    await test.cache.finishBackgroundWork(within: .seconds(60))
    #expect(
      try await test.get("/").outcome == .hit(age: .seconds(0), lifetime: .seconds(10), allowance: nil))
  }

  @Test(
    "without validators the bytes tell, if they are few, whether the first was read or not",
    arguments: [true, false])
  func sameBytes(readsFirst: Bool) async throws {
    for (length, count) in [(64 << 10, 1), (64 << 10 + 1, 2)] {
      let text = String(repeating: "x", count: length)
      let path = "/\(length)"
      try await store([.cacheControl: "max-age=10"], text, path: path)
      test.clock.advance(by: 20)
      let (given, _) = try await all(path: path, readsFirst: readsFirst)
      #expect(given.count == count)
      #expect(given.last?.text == (count == 1 && !readsFirst ? "" : text))
      #expect(try await test.get(path).outcome.fetchType == .localCache)
    }
  }

  @Test(
    "other bytes of the same length, a prefix, or another type are new", arguments: ["new", "ol", "older"])
  func otherBytes(text: String) async throws {
    try await store([.cacheControl: "max-age=10", .contentType: "text/plain"])
    test.clock.advance(by: 20)
    test.origin.always(200, [.cacheControl: "max-age=10", .contentType: "text/plain"], text)
    #expect(try await all().0 == [old, Given(text: text, fetchType: .networkLoad)])
    test.clock.advance(by: 20)
    test.origin.always(200, [.cacheControl: "max-age=10", .contentType: "text/html"], text)
    #expect(try await all().0.count == 2)
  }

  @Test(
    "what forbids use without validation forbids it here",
    arguments: [
      "max-age=10, must-revalidate", "max-age=10, no-cache",
    ])
  func forbidden(cacheControl: String) async throws {
    try await store([.cacheControl: cacheControl, .eTag: "\"a\""])
    test.clock.advance(by: 20)
    test.origin.always(200, [.cacheControl: cacheControl, .eTag: "\"b\""], "new")
    #expect(try await all().0 == [new])
  }

  @Test("a request with no-cache, only-if-cached or an unsafe method gets one answer")
  func single() async throws {
    try await store()
    test.clock.advance(by: 20)
    test.origin.always(200, [.cacheControl: "no-store"], "new")
    #expect(try await all(.standard, [.cacheControl: "no-cache"]).0 == [new])
    try await store()
    test.clock.advance(by: 20)
    #expect(try await all(.revalidate, [.cacheControl: "only-if-cached"]).0.count == 1)
    #expect(try await all(.cacheElseNetwork).0 == [old])
    #expect(try await all(.cacheOnly).0 == [old])
    test.origin.always(200, [:], "new")
    #expect(try await all(.bypass).0 == [new])
    #expect(try await all(method: .post).0 == [new])
  }

  @Test(
    "revalidate, reload and networkElseCache ask the origin even of a fresh one",
    arguments: [CachePolicy.revalidate, .reload, .reloadEverywhere, .networkElseCache()])
  func always(policy: CachePolicy) async throws {
    try await store()
    test.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"b\""], "new")
    #expect(try await all(policy).0 == [old, new])
  }

  @Test("networkElseCache: nothing staler than maxStale comes first")
  func maxStale() async throws {
    try await store()
    test.clock.advance(by: 20)
    test.origin.always(200, [.cacheControl: "no-store"], "new")
    #expect(try await all(.networkElseCache(maxStale: .seconds(9))).0 == [new])
  }

  @Test("a failure after the stored one ends the sequence, and is told")
  func failing() async throws {
    try await store()
    test.clock.advance(by: 20)
    test.origin.fails(.unreachable)
    let (given, failure) = try await all()
    #expect(given == [old])
    #expect((failure as? UpstreamError)?.kind == .unreachable)
    #expect(test.events.count { if case .upstreamFailed = $0 { true } else { false } } == 1)
    test.origin.always(503, [:], "busy")
    #expect(try await all().1 as? OriginStatusError == OriginStatusError(status: 503))
    test.origin.always(429, [:], "busy")
    let (named, error) = try await all(.networkElseCache(onStatus: [429]))
    #expect(named == [old])
    #expect(error as? OriginStatusError == OriginStatusError(status: 429))
    #expect(try await all().0.last?.text == "busy")
    test.cache.isOffline = true
    #expect((try await all().1 as? UpstreamError)?.kind == .unreachable)
  }

  @Test("a body that breaks off while it is compared is a failure too")
  func breakingOff() async throws {
    try await store([.cacheControl: "max-age=10"])
    test.clock.advance(by: 20)
    test.origin.streams([.cacheControl: "max-age=10"]) { _ in
      TestBody(piece: [111], count: 3, failsAt: 1)
    }
    let (given, failure) = try await all()
    #expect(given == [old])
    #expect(failure is UpstreamError)
  }

  @Test("a caller that gives up is told so")
  func cancelled() async throws {
    try await store()
    test.clock.advance(by: 20)
    test.origin.hold()
    let task = Task { try await all() }
    await test.origin.arrived(2)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("stored redirects are followed to the stored answer")
  func redirects() async throws {
    test.origin.answers { request, _ in
      request.path == "/"
        ? (301, [.cacheControl: "max-age=99", .location: "/target"], "")
        : (200, [.cacheControl: "max-age=10", .eTag: "\"a\""], "old")
    }
    try await test.get("/")
    test.clock.advance(by: 20)
    #expect(try await all().0 == [old])
    #expect(test.origin.requests.map(\.path) == ["/", "/target", "/", "/target"])
  }

  @Test("QUERY: the content is read once and sent again")
  func query() async throws {
    let request = test.request("/", [.contentType: "text/plain"], method: .query)
    let content = { MessageBody(BodyBytes(Array("q".utf8))) }
    test.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"a\""], "old")
    _ = try await test.cache.respond(to: request, body: content(), via: test.origin)
      .body.collect()
    test.clock.advance(by: 20)
    test.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"b\""], "new")
    var texts: [String] = []
    for try await response in test.cache.responses(
      to: request, body: content(), via: test.origin)
    {
      texts.append(String(decoding: try await response.body.collect().array, as: UTF8.self))
    }
    #expect(texts == ["old", "new"])
  }
}
