import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("The most recent response is kept (RFC 9111 §4)", .timeLimit(.minutes(10)))
struct RecencyFlowTests {
  private let kitchen = Kitchen()

  private func fields(_ seconds: Int64, tag: String) -> HTTPFields {
    [
      .cacheControl: "max-age=3600", .eTag: tag,
      .date: Timestamp(seconds: 1_700_000_000 + seconds).httpDate,
    ]
  }

  /// Begins to receive a response that ends when the gate opens.
  private func slow(_ gate: Gate) async throws -> CacheResponse {
    kitchen.origin.streams(fields(0, tag: "\"1\"")) { _ in
      TestBody(piece: Array("old".utf8), count: 2, announced: 6, gate: (at: 1, gate: gate))
    }
    return try await kitchen.respond("/")
  }

  private func wasSuperseded() -> Bool {
    kitchen.events.count { if case .notStored(_, .superseded) = $0 { true } else { false } } == 1
  }

  @Test("a slow older response reaches its caller and does not replace what a reload has stored")
  func slowBody() async throws {
    let gate = Gate()
    let first = try await slow(gate)
    kitchen.clock.advance(by: 5)
    kitchen.origin.always(200, fields(5, tag: "\"2\""), "new")
    #expect(try await kitchen.get("/", policy: .reload).text == "new")
    gate.open()
    #expect(try await first.body.collect().count == 6)
    #expect(try await kitchen.get("/").text == "new")
    #expect(kitchen.origin.requests.count == 2)
    #expect(wasSuperseded())
    #expect(kitchen.events.count { if case .storeFailed = $0 { true } else { false } } == 0)
    let refusal = try kitchen.cache.refusals(of: kitchen.request("/")).first
    #expect(refusal?.explanation.steps.contains { $0.section == "RFC 9111 §4" } == true)
  }

  @Test(
    "an overtaken response does not take away what was stored after the invalidation, for when the origin fails"
  )
  func overtaken() async throws {
    let gate = Gate()
    let first = try await slow(gate)
    kitchen.origin.always(204, [:], "")
    try await kitchen.get("/", method: .put)
    kitchen.origin.always(200, fields(0, tag: "\"2\""), "new")
    #expect(try await kitchen.get("/", policy: .reload).text == "new")
    gate.open()
    _ = try await first.body.collect()
    kitchen.origin.fails(.unreachable)
    #expect(try await kitchen.get("/").text == "new")
    #expect(wasSuperseded())
  }

  @Test("a response to a later request is stored although the origin's clock was set back")
  func clockSetBack() async throws {
    kitchen.origin.always(200, fields(0, tag: "\"1\""), "old")
    try await kitchen.get("/")
    kitchen.origin.always(200, fields(-3_000, tag: "\"2\""), "new")
    try await kitchen.get("/", policy: .reload)
    #expect(try await kitchen.get("/").text == "new")
    #expect(kitchen.origin.requests.count == 2)
  }

  @Test("of two 304 responses, the one that was made first does not undo the other (RFC 9111 §4.3.4)")
  func validations() async throws {
    kitchen.origin.always(200, fields(0, tag: "\"1\""), "body")
    try await kitchen.get("/")
    kitchen.clock.advance(by: 10)
    kitchen.origin.hold()
    kitchen.origin.always(304, fields(1, tag: "\"1\""), "")
    // A request with a condition of its own goes alone.
    async let first = kitchen.get("/", [.cacheControl: "no-cache", .ifNoneMatch: "\"9\""])
    await kitchen.origin.arrived(2)
    let quick = TestOrigin()
    quick.always(304, fields(10, tag: "\"1\""), "")
    let second = try await kitchen.cache.respond(
      to: kitchen.request("/"), policy: .revalidate, via: quick)
    _ = try await second.body.collect()
    kitchen.origin.release()
    _ = try await first
    let stored = try await kitchen.cache.entries().entries.first?.record.response
    #expect(stored?.head.headerFields[.date] == Timestamp(seconds: 1_700_000_010).httpDate)
  }
}
