import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Set-Cookie in a shared cache (RFC 9111 §7.3)", .timeLimit(.minutes(10)))
struct CookieFlowTests {
  private let test = TestCache(rules: CacheRules(mode: .shared))
  private let modified = "Sun, 19 May 2002 14:49:00 GMT"

  @Test("a page of 2002 without a lifetime gives its cookie to one client only")
  func guessed() async throws {
    test.origin.answers { [modified] _, number in
      (200, [.lastModified: modified, .setCookie: "sid=\(number)"], "page")
    }
    for number in 1...3 {
      #expect(try await test.get("/").head.headerFields[.setCookie] == "sid=\(number)")
      test.clock.advance(by: 60)
    }
    #expect(test.events.count { if case .notStored(_, .setCookie) = $0 { true } else { false } } == 3)
    let note = try #require(try test.cache.refusals(of: test.request("/")).first)
    #expect(note.explanation == CacheExplanation.refusal(.setCookie), "nothing of the cookie is noted")
  }

  @Test("a 304 that brings a cookie hands it to its client, and to no other")
  func validated() async throws {
    test.origin.answers { [modified] request, number in
      request.headerFields[.ifModifiedSince] == nil
        ? (200, [.lastModified: modified], "page")
        : (304, [.lastModified: modified, .setCookie: "sid=\(number)"], "")
    }
    try await test.get("/")
    for number in 2...4 {
      test.clock.advance(by: 90_000)
      let answer = try await test.get("/")
      #expect(answer.text == "page")
      #expect(answer.head.headerFields[.setCookie] == "sid=\(number)")
      let other = try await test.get("/")
      #expect(other.text == "page")
      #expect(other.head.headerFields[.setCookie] == nil)
    }
    #expect(test.origin.requests.count == 4)
  }

  @Test("a stored response has no cookie; the client of the miss gets its own")
  func missed() async throws {
    test.origin.answers { _, number in
      (200, [.cacheControl: "public, max-age=60", .setCookie: "sid=\(number)"], "page")
    }
    #expect(try await test.get("/").head.headerFields[.setCookie] == "sid=1")
    let other = try await test.get("/")
    #expect(other.text == "page")
    #expect(other.head.headerFields[.setCookie] == nil)
    #expect(test.origin.requests.count == 1)
  }

  @Test("a page with an old Last-Modified that depends on a cookie goes to its user only (RFC 9111 §4.2.2)")
  func users() async throws {
    test.origin.answers { [modified] request, _ in
      (200, [.lastModified: modified], "page of \(request.headerFields[.cookie] ?? "no one")")
    }
    for user in ["anna", "bert", "anna"] {
      #expect(try await test.get("/", [.cookie: user]).text == "page of \(user)")
    }
    #expect(try await test.get("/").text == "page of no one")
    // The stored page of no one answers no one, and no user.
    #expect(try await test.get("/").text == "page of no one")
    #expect(test.origin.requests.count == 4)
    #expect(try await test.get("/", [.cookie: "anna"]).text == "page of anna")
    #expect(try await test.get("/").text == "page of no one")
    #expect(test.origin.requests.count == 5)
  }

  @Test("what is adopted obeys the same rule")
  func adopted() async throws {
    for (fields, isStored) in [
      ([.lastModified: modified, .setCookie: "a=b"], false),
      ([.cacheControl: "max-age=60", .setCookie: "a=b"], false),
      ([.cacheControl: "public, max-age=60", .setCookie: "a=b"], true),
    ] as [(HTTPFields, Bool)] {
      let test = TestCache(rules: CacheRules(mode: .shared))
      await test.cache.adopt(
        AdoptedResponse(
          HTTPResponse(status: .ok, headerFields: fields), body: BodyBytes(Array("x".utf8)),
          isDecoded: false, userInfo: [], isMemoryOnly: false),
        to: test.request("/"), asking: .concurrent(test.clock, executor: nil))
      #expect((test.cache.stored(for: test.request("/")) != nil) == isStored)
    }
  }

  @Test("a new answer that is refused for its cookie ends the use of the old one")
  func superseded() async throws {
    let modified = modified
    try await test.store([.cacheControl: "max-age=600"], "old")
    test.origin.always(200, [.lastModified: modified, .setCookie: "a=b"], "new")
    #expect(try await test.get("/", policy: .reload).text == "new")
    #expect(try await test.get("/").text == "new")
  }
}
