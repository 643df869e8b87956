import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Conditions of clients, and HEAD, through the engine (RFC 9111 §4.3)", .timeLimit(.minutes(10)))
struct ConditionFlowTests {
  private let test = TestCache()

  // holds 9111-4.3.2-3, 9110-13.2.1-3, 9110-13.2.1-4, 9110-15.4.5-3
  @Test("with nothing stored a condition is the origin's, and its 304 the client's")
  func nothingStored() async throws {
    test.origin.always(304, [.eTag: "\"a\""], "")
    for condition: HTTPFields in [
      [.ifNoneMatch: "\"a\", W/\"b\""], [.ifModifiedSince: "Fri, 06 Nov 2020 10:00:00 GMT"],
    ] {
      let answer = try await test.get("/", condition)
      #expect(answer.status == 304)
      #expect(answer.head.headerFields[.eTag] == "\"a\"")
      #expect(test.origin.requests.last?.headerFields == condition)
    }
  }

  // holds 9111-4.3.2-2, 9111-4.3.2-3, 9110-13.2.1-3, 9110-13.2.1-4, 9110-13.2.1-5
  @Test(
    "conditions that the store cannot answer are forwarded as they are",
    arguments: [
      ("GET", HTTPFields([HTTPField(name: .ifMatch, value: "\"a\"")])),
      ("GET", HTTPFields([HTTPField(name: .ifUnmodifiedSince, value: "Fri, 06 Nov 2020 10:00:00 GMT")])),
      ("PUT", HTTPFields([HTTPField(name: .ifNoneMatch, value: "*")])),
      ("POST", HTTPFields([HTTPField(name: .ifNoneMatch, value: "\"a\"")])),
      ("OPTIONS", HTTPFields([HTTPField(name: .ifNoneMatch, value: "\"a\"")])),
      ("TRACE", HTTPFields([HTTPField(name: .ifNoneMatch, value: "\"a\"")])),
    ])
  func forwarded(name: String, condition: HTTPFields) async throws {
    let method = try #require(HTTPRequest.Method(name))
    try await test.store([.cacheControl: "max-age=60", .eTag: "\"a\""], "stored")
    test.origin.always(412, [:], "origin's")
    let answer = try await test.get("/", condition, method: method)
    #expect(answer.status == 412)
    #expect(answer.text == "origin's")
    #expect(test.origin.requests.last?.headerFields == condition)
  }

  // holds 9111-4.3.2-6
  @Test("304 with a tag that the client did not list: the stored response, whole; with one, 304")
  func clientList() async throws {
    try await test.store([.cacheControl: "max-age=10", .eTag: "\"ours\""], "body", age: 11)
    test.origin.always(304, [.eTag: "\"ours\"", .cacheControl: "max-age=20", .xN: "new"], "")
    let whole = try await test.get("/", [.ifNoneMatch: "\"theirs\""])
    #expect(whole.status == 200)
    #expect(whole.text == "body")
    #expect(whole.head.headerFields[.xN] == "new")
    let sent = try #require(test.origin.requests.last?.headerFields[.ifNoneMatch])
    #expect(sent.contains("\"ours\""))
    test.clock.advance(by: 21)
    #expect(try await test.get("/", [.ifNoneMatch: "\"x\", \"ours\""]).status == 304)
    #expect(test.origin.requests.count == 3)
  }

  // holds 9111-4.3.2-5
  @Test("the tag of a part is offered only where the part is what was asked for")
  func partTag() async throws {
    let test = try TestCache(.memory)
    try await test.range("bytes=0-9")
    test.clock.advance(by: 61)
    try await test.range("bytes=20-22")
    #expect(try test.lastRequest()[.ifNoneMatch] == nil)
    test.clock.advance(by: 61)
    try await test.get([.ifNoneMatch: "\"z\""])
    #expect(try test.lastRequest()[.ifNoneMatch]?.contains("\"a\"") != true)
  }

  // holds 9110-13.1.5-2, 9110-13.2.2-1
  @Test("a condition that holds goes before a range, and If-Range alone means nothing")
  func order() async throws {
    try await test.store([.cacheControl: "max-age=10", .eTag: "\"a\""], "0123456789")
    #expect(try await test.get("/", [.ifNoneMatch: "\"a\"", .range: "bytes=0-1"]).status == 304)
    #expect(try await test.get("/", [.ifNoneMatch: "\"b\"", .range: "bytes=0-1"]).text == "01")
    let alone = try await test.get("/", [.ifRange: "\"b\""])
    #expect(alone.status == 200)
    #expect(alone.text == "0123456789")
    #expect(test.origin.requests.count == 1)
  }

  // holds 9111-4.3.5-1, 9111-4.3.5-2, 9111-4.3.5-3, 9111-4.3.5-4
  @Test("a 200 to HEAD updates what is stored for GET if it is the same, else ends its use")
  func headUpdates() async throws {
    let fields: HTTPFields = [.cacheControl: "max-age=10", .eTag: "\"a\"", .contentLength: "4"]
    try await test.store(fields, "body", age: 11)
    test.origin.always(
      200, [.cacheControl: "max-age=99", .eTag: "\"a\"", .contentLength: "4", .xN: "2"], "")
    try await test.get("/", method: .head)
    let updated = try await test.get("/")
    #expect(updated.text == "body")
    #expect(updated.head.headerFields[.xN] == "2")
    #expect(updated.outcome == .hit(age: .seconds(0), lifetime: .seconds(99), allowance: nil))
    test.clock.advance(by: 100)
    test.origin.always(200, [.cacheControl: "max-age=99", .eTag: "\"b\""], "")
    try await test.get("/", method: .head)
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await test.get("/", policy: .cacheElseNetwork) }
  }

  // holds 9111-4.3.5-1
  @Test("a HEAD that has to ask the origin updates what is stored too")
  func headReload() async throws {
    try await test.store([.cacheControl: "max-age=10", .eTag: "\"a\""], "body")
    test.origin.always(200, [.cacheControl: "max-age=99", .eTag: "\"a\""], "")
    try await test.get("/", method: .head, policy: .reload)
    #expect(
      try await test.get("/").outcome == .hit(age: .seconds(0), lifetime: .seconds(99), allowance: nil))
  }

  // holds 9110-9.3.2-1, 9110-9.3.2-2
  @Test("HEAD gets the fields of GET and no content, from the origin and from the store")
  func headFields() async throws {
    test.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"a\"", .xN: "1"], "body")
    let get = try await test.get("/")
    let head = try await test.get("/", method: .head)
    #expect(head.text.isEmpty)
    for field in get.head.headerFields {
      #expect(head.head.headerFields[values: field.name] == [field.value])
    }
  }
}
