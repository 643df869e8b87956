import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("The most recent response is kept (RFC 9111 §4)", .timeLimit(.minutes(10)))
struct RecencyFlowTests {
  private let test = TestCache()

  private func fields(_ seconds: Int64, tag: String) -> HTTPFields {
    [
      .cacheControl: "max-age=3600", .eTag: tag,
      .date: Timestamp(seconds: 1_700_000_000 + seconds).httpDate,
    ]
  }

  /// Begins to receive a response that ends when the gate opens.
  private func slow(_ gate: Gate) async throws -> CacheResponse {
    test.origin.streams(fields(0, tag: "\"1\"")) { _ in
      TestBody(piece: Array("old".utf8), count: 2, announced: 6, gate: (at: 1, gate: gate))
    }
    return try await test.respond("/")
  }

  private func wasSuperseded() -> Bool {
    test.events.count { if case .notStored(_, .superseded) = $0 { true } else { false } } == 1
  }

  @Test("a slow older response reaches its caller and does not replace what a reload has stored")
  func slowBody() async throws {
    let gate = Gate()
    let first = try await slow(gate)
    test.clock.advance(by: 5)
    test.origin.always(200, fields(5, tag: "\"2\""), "new")
    #expect(try await test.get("/", policy: .reload).text == "new")
    gate.open()
    #expect(try await first.body.collect().count == 6)
    #expect(try await test.get("/").text == "new")
    #expect(test.origin.requests.count == 2)
    #expect(wasSuperseded())
    #expect(test.events.count { if case .storeFailed = $0 { true } else { false } } == 0)
    let refusal = try test.cache.refusals(of: test.request("/")).first
    #expect(refusal?.explanation.steps.contains { $0.section == "RFC 9111 §4" } == true)
  }

  @Test(
    "an overtaken response does not take away what was stored after the invalidation, for when the origin fails"
  )
  func overtaken() async throws {
    let gate = Gate()
    let first = try await slow(gate)
    test.origin.always(204, [:], "")
    try await test.get("/", method: .put)
    test.origin.always(200, fields(0, tag: "\"2\""), "new")
    #expect(try await test.get("/", policy: .reload).text == "new")
    gate.open()
    _ = try await first.body.collect()
    test.origin.fails(.unreachable)
    #expect(try await test.get("/").text == "new")
    #expect(wasSuperseded())
  }

  @Test("a response to a later request is stored although the origin's clock was set back")
  func clockSetBack() async throws {
    try await test.store(fields(0, tag: "\"1\""), "old")
    test.origin.always(200, fields(-3_000, tag: "\"2\""), "new")
    try await test.get("/", policy: .reload)
    #expect(try await test.get("/").text == "new")
    #expect(test.origin.requests.count == 2)
  }

  @Test("of two 304 responses, the one that was made first does not undo the other (RFC 9111 §4.3.4)")
  func validations() async throws {
    try await test.store(fields(0, tag: "\"1\""), "body", age: 10)
    test.origin.hold()
    test.origin.always(304, fields(1, tag: "\"1\""), "")
    // A request with a condition of its own goes alone.
    async let first = test.get("/", [.cacheControl: "no-cache", .ifNoneMatch: "\"9\""])
    await test.origin.arrived(2)
    let quick = TestOrigin()
    quick.always(304, fields(10, tag: "\"1\""), "")
    let second = try await test.cache.respond(
      to: test.request("/"), policy: .revalidate, via: quick)
    _ = try await second.body.collect()
    test.origin.release()
    _ = try await first
    let stored = try await test.cache.entries().entries.first?.record.response
    #expect(stored?.head.headerFields[.date] == Timestamp(seconds: 1_700_000_010).httpDate)
  }
}
