import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Why responses were not stored is noted, and told later", .timeLimit(.minutes(10)))
struct RefusalTests {
  private let test = TestCache(largestEntry: 1_000)

  private func notes(_ path: String = "/") throws -> [RefusalNote] {
    try test.cache.refusals(of: test.request(path))
  }

  @Test("§5.2.2.5 Of a no-store response only time, status and reason are kept")
  func noStore() async throws {
    test.origin.always(200, [.cacheControl: "no-store", .eTag: "\"hidden\""], "body")
    try await test.get("/")
    let note = try #require(try notes().first)
    #expect(note.status == 200)
    #expect(note.time == test.clock.now)
    #expect(
      note.explanation.steps.map(\.description) == [
        "Is it stored? no: no-store (RFC 9111 §5.2.2.5)"
      ])
    let explanation = try test.cache.explain(test.request("/"))
    #expect(explanation.decision == .miss(.absent))
    #expect(
      explanation.description.hasSuffix(
        """
        Last time it was not stored: Tue, 14 Nov 2023 22:13:20 GMT, status 200, no: no-store \
        (RFC 9111 §5.2.2.5)
        """))
  }

  @Test("§5.2.1.5 no-store in the request keeps the steps out, whatever the reason is")
  func requestNoStore() async throws {
    test.origin.always(429, [.eTag: "\"hidden\""], "body")
    try await test.get("/", [.cacheControl: "no-store"])
    let note = try #require(try notes().first)
    #expect(
      note.explanation.steps.map(\.description) == [
        "Is it stored? no: status 429 is never stored (RFC 6585 §4)"
      ])
  }

  @Test("§3 Other refusals keep each requirement with what was compared")
  func requirements() async throws {
    test.origin.always(302, [.location: "/b", .vary: "Accept"], "body")
    var options = RequestOptions()
    options.redirectLimit = 0
    try await test.get("/", options: options)
    let explanation = try #require(try notes().first).explanation
    #expect(explanation.steps.count == 9)
    #expect(
      explanation.steps.last?.description
        == "Is it stored? no: status 302 without explicit lifetime (RFC 9111 §3)")
    #expect(explanation.steps.contains { $0.answer == "no: no directive, no Expires, status 302" })
  }

  @Test("What is never stored, or was not to be, is not noted")
  func neverStored() async throws {
    test.origin.always(200, [.cacheControl: "max-age=60"], "body")
    for method in [HTTPRequest.Method.post, .put, .delete, .head, .options] {
      try await test.get("/", method: method)
    }
    try await test.get("/", policy: .bypass)
    #expect(try notes().isEmpty)
  }

  @Test("Hits, and what is stored, leave no note")
  func hits() async throws {
    test.origin.always(200, [.cacheControl: "max-age=60"], "body")
    for _ in 1...3 { try await test.get("/") }
    #expect(try notes().isEmpty)
    #expect(try test.cache.explain(test.request("/")).refusals.isEmpty)
  }

  @Test("§3.3 A transfer that ended early is noted after what its head allowed")
  func incomplete() async throws {
    test.origin.streams([.cacheControl: "max-age=10"]) { _ in
      TestBody(piece: [1, 2, 3], count: 9, announced: 27, failsAt: 2)
    }
    await #expect(throws: UpstreamError.self) { try await test.get("/") }
    await test.events.wait { if case .notStored = $0 { true } else { false } }
    let note = try #require(try notes().first)
    let steps = note.explanation.steps
    #expect(steps.count > 1)
    #expect(
      steps.filter { $0.question == "Is it stored?" }.map(\.answer) == ["no: the transfer ended early"])
    #expect(steps.last?.question == "Is it stored?")
  }

  @Test("What is too large for the store is noted with the limit")
  func tooLarge() async throws {
    test.origin.always(
      200, [.cacheControl: "max-age=10"], String(repeating: "x", count: 100_000))
    try await test.get("/")
    await test.events.wait { if case .notStored = $0 { true } else { false } }
    let last = try #require(try notes().first?.explanation.steps.last)
    #expect(last.answer.hasPrefix("no: larger than"))
  }

  @Test("The same refusal is noted once a second, and a flood is bounded")
  func flood() async throws {
    test.origin.always(200, [.cacheControl: "no-store"], "body")
    for _ in 1...3 { try await test.get("/") }
    #expect(try notes().count == 1)
    test.origin.always(404, [.cacheControl: "no-store"], "body")
    try await test.get("/")
    #expect(try notes().map(\.status) == [404, 200])
    test.clock.advance(by: 1)
    try await test.get("/")
    #expect(try notes().map(\.status) == [404, 404, 200])
    for number in 1...300 { try await test.get("/\(number)") }
    let noted = try (1...300).filter { try !notes("/\($0)").isEmpty }
    // The note of this second is about "/".
    #expect(noted == Array(1...63))
  }

  @Test("Refusals are told where nothing usable is stored, and only of that target")
  func told() async throws {
    test.origin.answers { request, _ in
      request.path == "/b"
        ? (200, [.cacheControl: "no-store"], "b")
        : (200, [.cacheControl: "max-age=60", .vary: "Accept"], "a")
    }
    try await test.get("/a", [.accept: "a/a"])
    try await test.get("/b")
    #expect(try test.cache.explain(test.request("/a", [.accept: "a/a"])).refusals.isEmpty)
    #expect(try test.cache.explain(test.request("/b")).refusals.count == 1)
    #expect(try test.cache.explain(test.request("/c")).refusals.isEmpty)
    let unmatched = test.request("/a", [.accept: "b/b", .cacheControl: "only-if-cached"])
    #expect(try test.cache.explain(unmatched).refusals.isEmpty)
    test.origin.always(200, [.cacheControl: "no-store"], "a")
    try await test.get("/a", [.accept: "b/b"])
    #expect(try test.cache.explain(unmatched).refusals.count == 1)
  }
}
