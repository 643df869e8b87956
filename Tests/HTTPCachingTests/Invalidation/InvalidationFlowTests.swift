import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Invalidation through the engine (RFC 9111 §4.4)", .timeLimit(.minutes(10)))
struct InvalidationFlowTests {
  private let test = TestCache()

  private func stored(_ paths: String...) async throws {
    test.origin.always(200, [.cacheControl: "max-age=60", .eTag: "\"1\""], "old")
    for path in paths { try await test.get(path) }
    test.origin.always(200, [.cacheControl: "max-age=60", .eTag: "\"2\""], "new")
  }

  // holds 9111-4.4-1
  @Test(
    "an unsafe method invalidates its target",
    arguments: [
      HTTPRequest.Method.post, .put, .delete, .patch,
    ])
  func unsafe(method: HTTPRequest.Method) async throws {
    try await stored("/", "/other")
    try await test.get("/", method: method)
    #expect(try await test.get("/").text == "new")
    #expect(try await test.get("/other").text == "old")
  }

  // holds 9111-4.4-2
  @Test("Location and Content-Location on the same origin too, on another not")
  func locations() async throws {
    try await stored("/a", "/b", "/c")
    test.origin.always(201, [.location: "/a", .contentLocation: "https://example.com/b"], "")
    try await test.get("/make", method: .post)
    test.origin.always(201, [.location: "https://evil.example/c"], "")
    try await test.get("/make", method: .post)
    test.origin.always(200, [.cacheControl: "max-age=60"], "new")
    #expect(try await test.get("/a").text == "new")
    #expect(try await test.get("/b").text == "new")
    #expect(try await test.get("/c").text == "old")
  }

  @Test("a change of a target with dot segments is one of the entry that has them")
  func dotSegments() async throws {
    try await stored("/x/../a", "/a")
    #expect(try await test.cache.remove(.target("https://example.com/x/../a")) == 1)
    #expect(test.cache.peek(test.request("/a")) != nil)
    #expect(test.cache.peek(test.request("/x/../a")) == nil)
    #expect(try await test.cache.entries(.target("https://EXAMPLE.com/a"), limit: 10).entries.count == 1)
  }

  @Test("an error response invalidates nothing")
  func errorResponse() async throws {
    try await stored("/")
    test.origin.always(500, [:], "")
    try await test.get("/", method: .post)
    #expect(try await test.get("/").text == "old")
  }

  @Test("safe methods invalidate nothing", arguments: [HTTPRequest.Method.options, .trace])
  func safe(method: HTTPRequest.Method) async throws {
    try await stored("/")
    try await test.get("/", method: method)
    #expect(try await test.get("/").text == "old")
  }

  @Test("a response that was under way when its resource changed is not reused, nor joined")
  func underWay() async throws {
    let gate = Gate()
    test.origin.streams([.cacheControl: "max-age=60"]) { _ in
      TestBody(piece: Array("old".utf8), count: 2, announced: 6, gate: (at: 1, gate: gate))
    }
    let first = try await test.respond("/")
    test.origin.always(204, [:], "")
    try await test.get("/", method: .put)
    test.origin.always(200, [.cacheControl: "max-age=60"], "new")
    #expect(try await test.get("/", policy: .reload).text == "new")
    gate.open()
    #expect(try await first.body.collect().count == 6)
    #expect(try await test.get("/").text == "new")
  }

  @Test("a 304 that names other groups moves the response to them (RFC 9875 §2.1)")
  func groupsOfFreshened() async throws {
    let (groups, invalidation) = (HTTPField.Name.cacheGroups, HTTPField.Name.cacheGroupInvalidation)
    try await test.store([.cacheControl: "max-age=60", .eTag: "\"1\"", groups: "\"x\""], "old", age: 61)
    test.origin.always(304, [.cacheControl: "max-age=60", .eTag: "\"1\"", groups: "\"y\""], "")
    try await test.get("/")
    for (group, text) in [("\"x\"", "old"), ("\"y\"", "new")] {
      test.origin.always(200, [invalidation: group], "")
      try await test.get("/do", method: .post)
      test.origin.always(200, [.cacheControl: "max-age=60"], "new")
      #expect(try await test.get("/").text == text)
    }
  }

  @Test("a response to an unsafe request invalidates the groups it names, of its origin (RFC 9875 §3)")
  func groups() async throws {
    let (groups, invalidation) = (HTTPField.Name.cacheGroups, HTTPField.Name.cacheGroupInvalidation)
    test.origin.answers { request, _ in
      (200, [.cacheControl: "max-age=60", groups: request.path == "/c" ? "\"y\"" : "\"x\""], "old")
    }
    for path in ["/a", "/b", "/c"] { try await test.get(path) }
    test.origin.always(200, [invalidation: "\"x\""], "")
    try await test.get("/form", method: .post)
    test.origin.always(200, [.cacheControl: "max-age=60"], "new")
    #expect(try await test.get("/a").text == "new")
    #expect(try await test.get("/b").text == "new")
    #expect(try await test.get("/c").text == "old")
  }
}
