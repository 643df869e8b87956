import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Validation through the engine (RFC 9111 §4.3)", .timeLimit(.minutes(10)))
struct ValidationFlowTests {
  private let test = TestCache()

  // holds 9111-4.3.4-2
  @Test("304 freshens: the stored body with the new fields, fresh again")
  func freshens() async throws {
    try await test.store([.cacheControl: "max-age=10", .eTag: "\"a\"", .xN: "1"], "body", age: 11)
    test.origin.always(304, [.cacheControl: "max-age=100", .eTag: "\"a\"", .xN: "2"], "")
    let validated = try await test.get("/")
    #expect(validated.text == "body")
    #expect(validated.head.headerFields[.xN] == "2")
    test.clock.advance(by: 50)
    #expect(
      try await test.get("/").outcome == .hit(age: .seconds(50), lifetime: .seconds(100), allowance: nil))
    #expect(test.origin.requests.count == 2)
  }

  // holds 9111-4.3.3-1
  @Test("200 to a validation replaces what was stored")
  func replaces() async throws {
    try await test.store([.cacheControl: "max-age=10", .eTag: "\"a\""], "old", age: 11)
    test.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"b\""], "new")
    #expect(try await test.get("/").text == "new")
    #expect(try await test.get("/").text == "new")
    #expect(test.origin.requests.count == 2)
  }

  // holds 9111-4.3.4-1
  @Test("304 for what is not stored: asked again without the condition")
  func unknown304() async throws {
    try await test.store([.cacheControl: "max-age=10", .eTag: "\"a\""], "old", age: 11)
    test.origin.answers { request, _ in
      request.headerFields[.ifNoneMatch] != nil
        ? (304, [.eTag: "\"never seen\""], "") : (200, [.eTag: "\"b\""], "new")
    }
    #expect(try await test.get("/").text == "new")
    #expect(test.origin.requests.count == 3)
  }

  // holds 9111-4.3.2-1, 9110-13.2.1-1
  @Test("the client's own condition is answered from the store (§4.3.2)")
  func clientCondition() async throws {
    try await test.store([.cacheControl: "max-age=10", .eTag: "\"a\""], "body")
    let answer = try await test.get("/", [.ifNoneMatch: "\"a\""])
    #expect(answer.status == 304)
    #expect(answer.text.isEmpty)
    #expect(test.origin.requests.count == 1)
  }

  // holds 9111-3.3-3, 9110-14.2-1, 9110-14.2-4, 9110-14.2-5, 9110-13.1.5-7
  @Test("a range of a complete stored response is served from it (RFC 9110 §14.2)")
  func range() async throws {
    try await test.store([.cacheControl: "max-age=10", .eTag: "\"a\""], "0123456789")
    let part = try await test.get("/", [.range: "bytes=2-4"])
    #expect(part.status == 206)
    #expect(part.text == "234")
    #expect(part.head.headerFields[.contentRange] == "bytes 2-4/10")
    #expect(try await test.get("/", [.range: "bytes=-3"]).text == "789")
    #expect(try await test.get("/", [.range: "bytes=99-"]).status == 416)
    #expect(try await test.get("/", [.range: "bytes=0-0", .ifRange: "\"b\""]).status == 200)
    #expect(test.origin.requests.count == 1)
  }

  @Test("a new response that must not be stored ends the use of the old one")
  func superseded() async throws {
    try await test.store(
      [.cacheControl: "max-age=10, stale-while-revalidate=1000", .eTag: "\"a\""], "old", age: 11)
    test.origin.always(200, [.cacheControl: "no-store"], "new")
    #expect(try await test.get("/", policy: .revalidate).text == "new")
    #expect(try await test.get("/").text == "new", "not the old one while revalidating")
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await test.get("/") }
  }

  // holds 9110-9.3.2-1, 9110-9.3.2-3
  @Test("HEAD is answered from a stored GET, without content")
  func head() async throws {
    try await test.store([.cacheControl: "max-age=10"], "body")
    let answer = try await test.get("/", method: .head)
    #expect(answer.status == 200)
    #expect(answer.text.isEmpty)
    #expect(answer.head.headerFields[.contentLength] == "4")
    #expect(test.origin.requests.count == 1)
  }

  // holds 9111-4-3, 9111-4.1-1
  @Test("variants are kept side by side and selected by Vary (§4.1)")
  func vary() async throws {
    test.origin.answers { request, _ in
      let language = request.headerFields[.acceptLanguage] ?? "none"
      return (200, [.cacheControl: "max-age=10", .vary: "Accept-Language"], language)
    }
    for language in ["de", "fr", "de", "fr"] {
      #expect(try await test.get("/", [.acceptLanguage: language]).text == language)
    }
    #expect(test.origin.requests.count == 2)
  }

  @Test("an origin that drops its Vary: the new response takes the old variant's place")
  func droppedVary() async throws {
    try await test.store([.cacheControl: "max-age=10", .vary: "Accept"], "old", age: 11)
    test.origin.always(200, [.cacheControl: "max-age=10"], "new")
    #expect(try await test.get("/").text == "new")
    #expect(try await test.get("/").text == "new")
    #expect(test.origin.requests.count == 2)
  }

  @Test("a secret that Vary nominates selects, and is not stored")
  func secretVary() async throws {
    test.origin.answers { request, _ in
      (200, [.cacheControl: "max-age=10", .vary: "Cookie"], request.headerFields[.cookie] ?? "")
    }
    #expect(try await test.get("/", [.cookie: "id=alice"]).text == "id=alice")
    #expect(try await test.get("/", [.cookie: "id=bob"]).text == "id=bob")
    #expect(try await test.get("/", [.cookie: "id=alice"]).text == "id=alice")
    #if Crypto
      #expect(test.origin.requests.count == 2)
      let page = try await test.cache.store.entries(.all, after: nil, limit: 10)
      for entry in page.entries {
        for field in entry.record.response.nominated {
          guard case .digest(let digest) = field.value else {
            return #expect(Bool(false), "stored in the clear: \(field)")
          }
          #expect(digest.count == 32)
        }
      }
    #else
      #expect(test.origin.requests.count == 3, "without cryptography it is not stored")
    #endif
  }
}
