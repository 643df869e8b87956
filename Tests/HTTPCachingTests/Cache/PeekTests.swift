import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Peek: a fresh answer from memory without suspending", .timeLimit(.minutes(10)))
struct PeekTests {
  private let test = TestCache()

  // holds 9111-4-6
  @Test("fresh and in memory: answered, with Age")
  func fresh() async throws {
    try await test.store([.cacheControl: "max-age=60"], "body", age: 7)
    let answer = try #require(test.cache.peek(test.request("/")))
    #expect(answer.head.headerFields[.age] == "7")
    #expect(try await answer.body.collect().array == Array("body".utf8))
  }

  @Test("anything else is left to respond")
  func others() async throws {
    test.origin.always(200, [.cacheControl: "max-age=60"], "body")
    #expect(test.cache.peek(test.request("/")) == nil)
    try await test.get("/")
    #expect(test.cache.peek(test.request("/", method: .post)) == nil)
    #expect(test.cache.peek(test.request("/", [.cacheControl: "no-cache"])) == nil)
    test.clock.advance(by: 60)
    #expect(test.cache.peek(test.request("/")) == nil)
    #expect(test.origin.requests.count == 1)
  }

  @Test("§5.1 Age is that of now, in every answer of a second and of the next")
  func age() async throws {
    try await test.store([.cacheControl: "max-age=60", .age: "5", .server: "s"], "body")
    for (seconds, age) in [(0, "5"), (0, "5"), (3, "8"), (0, "8"), (1, "9")] {
      test.clock.advance(by: Int64(seconds))
      let answer = try #require(test.cache.peek(test.request("/")))
      #expect(answer.head.headerFields[.age] == age)
      #expect(answer.head.headerFields[.server] == "s")
      guard case .hit(let current, lifetime: .seconds(60), allowance: nil) = answer.outcome else {
        Issue.record("\(answer.outcome)")
        continue
      }
      #expect(String(current.wholeSeconds) == age)
    }
  }

  @Test("what a caller does to the head of an answer does not reach the next one")
  func headsAreValues() async throws {
    try await test.store([.cacheControl: "max-age=60"], "body")
    var first = try #require(test.cache.peek(test.request("/")))
    first.head.headerFields[.age] = "99"
    first.head.status = .noContent
    let second = try #require(test.cache.peek(test.request("/")))
    #expect(second.head.headerFields[.age] == "0")
    #expect(second.head.status == .ok)
  }

  @Test("answers share the head of their record, unless the request or a validation changed it")
  func sharedHead() async throws {
    try await test.store([.cacheControl: "max-age=60", .eTag: "\"a\""], "body")
    let owner = try #require(test.cache.peek(test.request("/"))?.headOwner)
    #expect(test.cache.peek(test.request("/"))?.headOwner === owner)
    let changed = [
      test.request("/", [.range: "bytes=0-1"]), test.request("/", [.ifNoneMatch: "\"a\""]),
      test.request("/", method: .head),
    ]
    for request in changed { #expect(try #require(test.cache.peek(request)).headOwner == nil) }
    test.origin.always(304, [.eTag: "\"a\""], "")
    #expect(try await test.respond("/", [.cacheControl: "no-cache"]).headOwner == nil)
  }

  @Test("§4.1 of several variants the one that matches")
  func variants() async throws {
    test.origin.always(200, [.cacheControl: "max-age=60", .vary: "Accept-Language"], "body")
    try await test.get("/", [.acceptLanguage: "de"])
    let both: HTTPFields = [.acceptLanguage: "en;q=0.5, fr"]
    #expect(test.cache.peek(test.request("/", both)) == nil)
    try await test.get("/", both)
    #expect(test.cache.peek(test.request("/", [.acceptLanguage: "FR,en;q=0.50"])) != nil)
    #expect(test.cache.peek(test.request("/", [.acceptLanguage: "de"])) != nil)
    #expect(test.cache.peek(test.request("/", [.acceptLanguage: "en"])) == nil)
    #expect(test.cache.peek(test.request("/")) == nil)
  }

  @Test("§4.3.2 the client's own conditions and ranges are obeyed; those for the origin are left to respond")
  func conditions() async throws {
    try await test.store([.cacheControl: "max-age=60", .eTag: "\"a\""], "body")
    func status(_ fields: HTTPFields) -> Int? {
      test.cache.peek(test.request("/", fields))?.head.status.code
    }
    #expect(status([.ifNoneMatch: "\"a\""]) == 304)
    #expect(status([.ifNoneMatch: "\"b\""]) == 200)
    #expect(status([.range: "bytes=1-2"]) == 206)
    #expect(status([.range: "bytes=9-"]) == 416)
    #expect(status([.ifMatch: "\"a\""]) == nil)
    #expect(status([.ifUnmodifiedSince: "Fri, 06 Nov 2020 12:00:00 GMT"]) == nil)
    #expect(status([.cacheControl: "max-age=0"]) == nil)
    #expect(status([.cacheControl: "max-age=1"]) == 200)
  }

  @Test("§4.2.4 stale where the request allows it, but not where it is validated in the background")
  func stale() async throws {
    try await test.store([.cacheControl: "max-age=60, stale-while-revalidate=60"], "body", age: 70)
    #expect(test.cache.peek(test.request("/")) == nil)
    let answer = test.cache.peek(test.request("/", [.cacheControl: "max-stale=60"]))
    #expect(answer?.outcome == .hit(age: .seconds(70), lifetime: .seconds(60), allowance: .maxStale))
  }
}
