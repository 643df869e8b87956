import HTTPCacheTesting
import HTTPCaching
import Testing

/// Forbids storing the responses of an origin.
private struct ForbiddingUpstream: Upstream {
  let origin: TestOrigin

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    var response = try await origin.send(request)
    response.storageRefusal = .upstream
    return response
  }
}

@Suite(
  "What must not be stored leaves nothing in a stored response (RFC 9111 §3.2, §5.2.2)",
  .timeLimit(.minutes(10)))
struct ForbiddenUpdateTests {
  private let test = TestCache(rules: CacheRules(mode: .shared, targetedFields: ["CDN-Cache-Control"]))
  private let shared: HTTPFields = [.cacheControl: "public, max-age=10", .eTag: "\"a\""]

  private func record() async throws -> CacheRecord? {
    try await test.cache.store.entries(.all, after: nil, limit: 9).entries.first?.record
  }

  private func get(_ upstream: any Upstream, method: HTTPRequest.Method = .get) async throws -> CacheResponse
  {
    let response = try await test.cache.respond(
      to: test.request("/", method: method), via: upstream)
    _ = try await response.body.collect()
    return response
  }

  @Test(
    "a 304 with another one's cookie answers its own request, and nobody else's",
    arguments: ["no-store", "private, max-age=60"])
  func notModified(control: String) async throws {
    try await test.store(shared, "body", age: 20)
    test.origin.always(
      304, [.cacheControl: control, .eTag: "\"a\"", .setCookie: "sid=A"], "")
    let own = try await test.get("/")
    #expect(own.text == "body")
    #expect(own.head.headerFields[.setCookie] == "sid=A")
    #expect(own.head.headerFields[.cacheControl] == control)
    let kept = try #require(try await record()?.response)
    #expect(kept.isInvalidated)
    #expect(kept.head.headerFields[.setCookie] == nil)
    test.origin.always(304, [.eTag: "\"a\""], "")
    for _ in 0..<2 {
      let other = try await test.get("/")
      #expect(other.text == "body")
      #expect(other.head.headerFields[.setCookie] == nil)
      #expect(other.head.headerFields[.cacheControl] == "public, max-age=10")
    }
    #expect(test.origin.requests.count == 3)
  }

  @Test("a HEAD that must not be stored leaves the invalidation alone")
  func head() async throws {
    try await test.store(shared, "body")
    test.origin.always(
      200, [.cacheControl: "private", .eTag: "\"a\"", .setCookie: "sid=A"], "")
    try await test.get("/", [.cacheControl: "no-cache"], method: .head)
    let kept = try #require(try await record()?.response)
    #expect(kept.isInvalidated)
    #expect(kept.head.headerFields[.setCookie] == nil)
  }

  @Test("what the upstream forbids is not stored, whatever a targeted field says (RFC 9213 §2.2)")
  func upstreamForbids() async throws {
    let upstream = ForbiddingUpstream(origin: test.origin)
    let targeted = try #require(HTTPField.Name("CDN-Cache-Control"))
    let fields: HTTPFields = [targeted: "public, max-age=60", .eTag: "\"a\"", .setCookie: "sid=A"]
    test.origin.always(200, fields, "body")
    let answer = try await get(upstream)
    guard case .forwarded(_, _, .doNotStore(.upstream), _) = answer.outcome else {
      Issue.record("\(answer.outcome)")
      return
    }
    #expect(answer.head.headerFields[.setCookie] == "sid=A")
    #expect(try await record() == nil)
    try await test.store([targeted: "max-age=10", .eTag: "\"a\""], "body", age: 20)
    for (method, status) in [(HTTPRequest.Method.get, 304), (.head, 200)] {
      test.origin.always(status, fields, "")
      let own = try await get(upstream, method: method)
      #expect(own.head.headerFields[.setCookie] == "sid=A")
      let kept = try #require(try await record()?.response)
      #expect(kept.isInvalidated)
      #expect(kept.head.headerFields[.setCookie] == nil)
    }
    test.origin.always(200, fields, "another")
    #expect(try await get(upstream).outcome.fetchType == .networkLoad)
    #expect(try await record()?.response.isInvalidated == true)
  }

  @Test("an override that pins counts when a response is freshened")
  func pinning() async throws {
    try await test.store(shared, "body")
    #expect(try await record()?.isPinned == false)
    test.clock.advance(by: 20)
    test.origin.always(304, shared, "")
    let pinning = HTTPCache(
      configuration: HTTPCache.Configuration(
        rules: CacheRules(mode: .shared, overrides: [RuleOverride(try .glob("/**"), effects: [.pin])]),
        clock: test.clock),
      store: test.cache.store)
    let response = try await pinning.respond(to: test.request("/"), via: test.origin)
    #expect(try await response.body.collect().count == 4)
    #expect(try await record()?.isPinned == true)
  }
}
