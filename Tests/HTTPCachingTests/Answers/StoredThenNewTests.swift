import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("responses: the stored answer, and then the new one if it differs", .timeLimit(.minutes(10)))
struct StoredThenNewTests {
  private let kitchen = Kitchen()

  private struct Given: Equatable {
    let text: String
    let fetchType: FetchType?
  }

  /// All answers of a sequence, and the error that ended it early.
  private func all(
    _ policy: CachePolicy = .standard, _ fields: HTTPFields = [:], path: String = "/",
    method: HTTPRequest.Method = .get, readsFirst: Bool = true
  ) async throws -> ([Given], (any Error)?) {
    let responses = kitchen.cache.responses(
      to: kitchen.request(path, fields, method: method), policy: policy, via: kitchen.origin)
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
    kitchen.origin.always(200, fields, text)
    try await kitchen.get(path)
  }

  private let old = Given(text: "old", fetchType: .localCache)
  private let new = Given(text: "new", fetchType: .networkLoad)

  @Test("standard: a fresh one is the only one")
  func fresh() async throws {
    try await store()
    let (given, failure) = try await all()
    #expect(given == [old])
    #expect(failure == nil)
    #expect(kitchen.origin.requests.count == 1)
  }

  @Test("a first body that is damaged is not what the origin sends")
  func damaged() async throws {
    let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
    let store = FaultyStore(MemoryStore(capacity: 1 << 20, clock: clock))
    let kitchen = Kitchen(store: store)
    kitchen.origin.always(200, [.cacheControl: "max-age=10"], "old")
    try await kitchen.get("/")
    kitchen.clock.advance(by: 20)
    var iterator = kitchen.cache.responses(to: kitchen.request("/"), via: kitchen.origin)
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
    let kitchen = Kitchen()
    let upstream = ScriptedUpstream { received in
      ScriptedResponse(headers: ["Cache-Control": "max-age=10"], body: received.body == nil ? "no" : "yes")
    }
    var texts: [String] = []
    for _ in 0..<2 {
      let responses = kitchen.cache.responses(
        to: kitchen.request("/"), body: MessageBody(BodyBytes([1])), via: upstream)
      for try await response in responses {
        texts.append(String(decoding: try await response.body.collect().array, as: UTF8.self))
      }
      kitchen.clock.advance(by: 20)
    }
    #expect(texts == ["yes", "yes"])
  }

  @Test("standard: a stale one first, then the new one, which is stored")
  func stale() async throws {
    try await store()
    kitchen.clock.advance(by: 20)
    kitchen.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"b\""], "new")
    #expect(try await all().0 == [old, new])
    #expect(try await kitchen.get("/").text == "new")
    #expect(kitchen.origin.requests.count == 2)
  }

  @Test("nothing stored: the new one alone, and errors are thrown")
  func nothing() async throws {
    kitchen.origin.always(200, [.cacheControl: "max-age=10"], "new")
    #expect(try await all().0 == [new])
    kitchen.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await all(path: "/other") }
    await #expect(throws: UpstreamError.self) { try await all(.reload, path: "/other") }
  }

  @Test("a 304 confirms the stored one: no second, but it is freshened")
  func confirmed() async throws {
    try await store()
    kitchen.clock.advance(by: 20)
    kitchen.origin.always(304, [.cacheControl: "max-age=10", .eTag: "\"a\""], "")
    var iterator = kitchen.cache.responses(to: kitchen.request("/"), via: kitchen.origin)
      .makeAsyncIterator()
    #expect(try await iterator.next() != nil)
    #expect(iterator.confirmation == nil)
    #expect(try await iterator.next() == nil)
    #expect(
      iterator.confirmation
        == .validated(
          .stale(age: .seconds(20), lifetime: .seconds(10)), age: .seconds(0), lifetime: .seconds(10)))
    #expect(
      try await kitchen.get("/").outcome == .hit(age: .seconds(0), lifetime: .seconds(10), allowance: nil))
  }

  @Test("the same strong validator is the same response, and is stored")
  func sameValidator() async throws {
    try await store()
    kitchen.clock.advance(by: 20)
    kitchen.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"a\""], "old")
    #expect(try await all().0 == [old])
    await kitchen.cache.finishBackgroundWork(within: .seconds(60))
    #expect(
      try await kitchen.get("/").outcome == .hit(age: .seconds(0), lifetime: .seconds(10), allowance: nil))
  }

  @Test(
    "without validators the bytes tell, if they are few, whether the first was read or not",
    arguments: [true, false])
  func sameBytes(readsFirst: Bool) async throws {
    for (length, count) in [(64 << 10, 1), (64 << 10 + 1, 2)] {
      let text = String(repeating: "x", count: length)
      let path = "/\(length)"
      try await store([.cacheControl: "max-age=10"], text, path: path)
      kitchen.clock.advance(by: 20)
      let (given, _) = try await all(path: path, readsFirst: readsFirst)
      #expect(given.count == count)
      #expect(given.last?.text == (count == 1 && !readsFirst ? "" : text))
      #expect(try await kitchen.get(path).outcome.fetchType == .localCache)
    }
  }

  @Test(
    "other bytes of the same length, a prefix, or another type are new", arguments: ["new", "ol", "older"])
  func otherBytes(text: String) async throws {
    try await store([.cacheControl: "max-age=10", .contentType: "text/plain"])
    kitchen.clock.advance(by: 20)
    kitchen.origin.always(200, [.cacheControl: "max-age=10", .contentType: "text/plain"], text)
    #expect(try await all().0 == [old, Given(text: text, fetchType: .networkLoad)])
    kitchen.clock.advance(by: 20)
    kitchen.origin.always(200, [.cacheControl: "max-age=10", .contentType: "text/html"], text)
    #expect(try await all().0.count == 2)
  }

  @Test(
    "what forbids use without validation forbids it here",
    arguments: [
      "max-age=10, must-revalidate", "max-age=10, no-cache",
    ])
  func forbidden(cacheControl: String) async throws {
    try await store([.cacheControl: cacheControl, .eTag: "\"a\""])
    kitchen.clock.advance(by: 20)
    kitchen.origin.always(200, [.cacheControl: cacheControl, .eTag: "\"b\""], "new")
    #expect(try await all().0 == [new])
  }

  @Test("a request with no-cache, only-if-cached or an unsafe method gets one answer")
  func single() async throws {
    try await store()
    kitchen.clock.advance(by: 20)
    kitchen.origin.always(200, [.cacheControl: "no-store"], "new")
    #expect(try await all(.standard, [.cacheControl: "no-cache"]).0 == [new])
    try await store()
    kitchen.clock.advance(by: 20)
    #expect(try await all(.revalidate, [.cacheControl: "only-if-cached"]).0.count == 1)
    #expect(try await all(.cacheElseNetwork).0 == [old])
    #expect(try await all(.cacheOnly).0 == [old])
    kitchen.origin.always(200, [:], "new")
    #expect(try await all(.bypass).0 == [new])
    #expect(try await all(method: .post).0 == [new])
  }

  @Test(
    "revalidate, reload and networkElseCache ask the origin even of a fresh one",
    arguments: [CachePolicy.revalidate, .reload, .reloadEverywhere, .networkElseCache()])
  func always(policy: CachePolicy) async throws {
    try await store()
    kitchen.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"b\""], "new")
    #expect(try await all(policy).0 == [old, new])
  }

  @Test("networkElseCache: nothing staler than maxStale comes first")
  func maxStale() async throws {
    try await store()
    kitchen.clock.advance(by: 20)
    kitchen.origin.always(200, [.cacheControl: "no-store"], "new")
    #expect(try await all(.networkElseCache(maxStale: .seconds(9))).0 == [new])
  }

  @Test("a failure after the stored one ends the sequence, and is told")
  func failing() async throws {
    try await store()
    kitchen.clock.advance(by: 20)
    kitchen.origin.fails(.unreachable)
    let (given, failure) = try await all()
    #expect(given == [old])
    #expect((failure as? UpstreamError)?.kind == .unreachable)
    #expect(kitchen.events.count { if case .upstreamFailed = $0 { true } else { false } } == 1)
    kitchen.origin.always(503, [:], "busy")
    #expect(try await all().1 as? OriginStatusError == OriginStatusError(status: 503))
    kitchen.origin.always(429, [:], "busy")
    let (named, error) = try await all(.networkElseCache(onStatus: [429]))
    #expect(named == [old])
    #expect(error as? OriginStatusError == OriginStatusError(status: 429))
    #expect(try await all().0.last?.text == "busy")
    kitchen.cache.isOffline = true
    #expect((try await all().1 as? UpstreamError)?.kind == .unreachable)
  }

  @Test("a body that breaks off while it is compared is a failure too")
  func breakingOff() async throws {
    try await store([.cacheControl: "max-age=10"])
    kitchen.clock.advance(by: 20)
    kitchen.origin.streams([.cacheControl: "max-age=10"]) { _ in
      TestBody(piece: [111], count: 3, failsAt: 1)
    }
    let (given, failure) = try await all()
    #expect(given == [old])
    #expect(failure is UpstreamError)
  }

  @Test("a caller that gives up is told so")
  func cancelled() async throws {
    try await store()
    kitchen.clock.advance(by: 20)
    kitchen.origin.hold()
    let task = Task { try await all() }
    await kitchen.origin.arrived(2)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("stored redirects are followed to the stored answer")
  func redirects() async throws {
    kitchen.origin.answers { request, _ in
      request.path == "/"
        ? (301, [.cacheControl: "max-age=99", .location: "/target"], "")
        : (200, [.cacheControl: "max-age=10", .eTag: "\"a\""], "old")
    }
    try await kitchen.get("/")
    kitchen.clock.advance(by: 20)
    #expect(try await all().0 == [old])
    #expect(kitchen.origin.requests.map(\.path) == ["/", "/target", "/", "/target"])
  }

  @Test("QUERY: the content is read once and sent again")
  func query() async throws {
    let request = kitchen.request("/", [.contentType: "text/plain"], method: .query)
    let content = { MessageBody(BodyBytes(Array("q".utf8))) }
    kitchen.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"a\""], "old")
    _ = try await kitchen.cache.respond(to: request, body: content(), via: kitchen.origin)
      .body.collect()
    kitchen.clock.advance(by: 20)
    kitchen.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"b\""], "new")
    var texts: [String] = []
    for try await response in kitchen.cache.responses(
      to: request, body: content(), via: kitchen.origin)
    {
      texts.append(String(decoding: try await response.body.collect().array, as: UTF8.self))
    }
    #expect(texts == ["old", "new"])
  }
}
