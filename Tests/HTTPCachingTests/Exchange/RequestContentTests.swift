import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPCaching
import Testing

/// A GET or HEAD with content: the key does not include the content.
@Suite("A GET or HEAD with content passes the store by (RFC 9110 §9.3.1, §9.3.2)", .timeLimit(.minutes(10)))
struct RequestContentTests {
  private let test = TestCache()
  private let fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"1\""]

  private func send(
    _ text: String?, method: HTTPRequest.Method = .get, policy: CachePolicy = .standard,
    _ fields: HTTPFields = [:], isChunked: Bool = false
  ) async throws -> (text: String, outcome: CacheOutcome, status: Int) {
    let body = text.map { text in
      let bytes = Array(text.utf8)
      return isChunked
        ? MessageBody(TestBody(piece: bytes, count: 1)) : MessageBody(BodyBytes(bytes))
    }
    let response = try await test.cache.respond(
      to: test.request("/", fields, method: method), body: body, policy: policy, via: test.origin)
    let answer = try await response.body.collect()
    return (String(decoding: answer.array, as: UTF8.self), response.outcome, response.head.status.code)
  }

  @Test("a GET with content is neither stored nor answered from the store", arguments: [false, true])
  func get(isChunked: Bool) async throws {
    test.origin.answers { [fields] _, number in (200, fields, "\(number)") }
    #expect(try await send("a", isChunked: isChunked).text == "1")
    #expect(try await send(nil).text == "2", "not what the content was answered")
    #expect(try await send("b", isChunked: isChunked).text == "3", "not what is stored")
    #expect(try await send(nil).text == "2")
  }

  @Test("the outcome tells why, and Cache-Status that the cache was passed by")
  func outcome() async throws {
    test.origin.always(200, fields, "x")
    let outcome = try await send("a").outcome
    #expect(
      outcome
        == .forwarded(
          .miss(.content(.undefinedSemantics(.get))), status: 200,
          storage: .doNotStore(.content(.undefinedSemantics(.get))), collapsed: false))
    let status = CacheStatus(outcome: outcome, name: "c")
    #expect(status.fwd == .bypass && status.detail == "content")
  }

  @Test("content of length 0 is no content")
  func empty() async throws {
    test.origin.answers { [fields] _, number in (200, fields, "\(number)") }
    #expect(try await send("").text == "1")
    #expect(try await send("", [.contentLength: "0"]).text == "1")
    #expect(try await send(nil).text == "1")
  }

  @Test("fields that announce content count as content, for peek and adopting too")
  func announced() async throws {
    test.origin.answers { [fields] _, number in (200, fields, "\(number)") }
    try await test.get("/")
    for fields in [[.contentLength: "3"], [.transferEncoding: "chunked"]] as [HTTPFields] {
      let request = test.request("/", fields)
      #expect(test.cache.peek(request) == nil)
      #expect(test.cache.stored(for: request) == nil)
      #expect(try await test.get("/", fields).text != "1")
    }
    #expect(test.cache.peek(test.request("/", [.contentLength: "0"])) != nil)
    await test.cache.adopt(
      AdoptedResponse(
        HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]),
        body: BodyBytes(Array("other".utf8)), isDecoded: false, userInfo: [], isMemoryOnly: false),
      to: test.request("/new", [.contentLength: "3"]), asking: .concurrent(test.clock, executor: nil))
    #expect(test.cache.stored(for: test.request("/new")) == nil)
  }

  @Test("a HEAD with content freshens and invalidates nothing (RFC 9111 §4.3.5)")
  func head() async throws {
    try await test.store(fields, "one")
    test.origin.always(200, [.cacheControl: "max-age=999", .eTag: "\"2\""], "")
    #expect(try await send("a", method: .head).status == 200)
    #expect(test.origin.requests.count == 2)
    #expect(
      try await test.get("/").outcome == .hit(age: .seconds(0), lifetime: .seconds(60), allowance: nil))
  }

  @Test("where the origin must not be asked it is a miss, and it stands in for no failure")
  func unasked() async throws {
    try await test.store(fields, "one")
    #expect(try await send("a", policy: .cacheOnly).status == 504)
    #expect(try await send("a", [.cacheControl: "only-if-cached"]).status == 504)
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await send("a", policy: .networkElseCache()) }
  }

  @Test("an unsafe method's content stays its own business: it invalidates as before (RFC 9111 §4.4)")
  func unsafe() async throws {
    test.origin.answers { [fields] _, number in (200, fields, "\(number)") }
    try await test.get("/")
    #expect(try await send("a", method: .put).text == "2")
    #expect(try await test.get("/").text == "3")
  }
}
