import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Stale on purpose (RFC 9111 §4.2.4, RFC 5861)", .timeLimit(.minutes(10)))
struct StaleTests {
  private let kitchen = Kitchen()

  @Test("an unreachable origin: the stale response, and the outcome says so")
  func disconnected() async throws {
    kitchen.origin.always(200, [.cacheControl: "max-age=10"], "old")
    _ = try await kitchen.get("/")
    kitchen.clock.advance(by: 20)
    kitchen.origin.fails(.unreachable)
    let answer = try await kitchen.get("/")
    #expect(answer.text == "old")
    #expect(answer.outcome == .hit(age: .seconds(20), lifetime: .seconds(10), allowance: .disconnected))
  }

  // holds 9111-5.2.2.2-2, 9111-5.2.2.2-3, 9111-4-4
  @Test(
    "must-revalidate forbids it, and the failure is the caller's",
    arguments: [
      "max-age=10, must-revalidate", "max-age=10, no-cache",
    ])
  func forbidden(cacheControl: String) async throws {
    kitchen.origin.always(200, [.cacheControl: cacheControl, .eTag: "\"a\""], "old")
    _ = try await kitchen.get("/")
    kitchen.clock.advance(by: 20)
    kitchen.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await kitchen.get("/") }
  }

  @Test("the switch turns it off")
  func switchedOff() async throws {
    let kitchen = Kitchen(rules: CacheRules(allowsStaleWhenDisconnected: false))
    kitchen.origin.always(200, [.cacheControl: "max-age=10"], "old")
    _ = try await kitchen.get("/")
    kitchen.clock.advance(by: 20)
    kitchen.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await kitchen.get("/") }
  }

  // holds 5861-4-1
  @Test("stale-if-error: a 5xx gives way to the stale response, inside the window only")
  func staleIfError() async throws {
    kitchen.origin.always(200, [.cacheControl: "max-age=10, stale-if-error=60"], "old")
    _ = try await kitchen.get("/")
    kitchen.clock.advance(by: 20)
    kitchen.origin.always(503, [:], "busy")
    let answer = try await kitchen.get("/")
    #expect(answer.text == "old")
    #expect(
      answer.outcome == .hit(age: .seconds(20), lifetime: .seconds(10), allowance: .window(.staleIfError)))
    kitchen.clock.advance(by: 60)
    #expect(try await kitchen.get("/").status == 503)
  }

  @Test(
    "a failure is answered by what is stored then, not by what was stored when the request began",
    arguments: [true, false])
  func storedMeanwhile(isStatus: Bool) async throws {
    let policy = CachePolicy.networkElseCache(onStatus: [503])
    kitchen.origin.always(200, [.cacheControl: "max-age=10, stale-if-error=600"], "old")
    _ = try await kitchen.get("/")
    kitchen.clock.advance(by: 20)
    kitchen.origin.hold()
    async let late = kitchen.get("/", policy: policy)
    await kitchen.origin.arrived(2)
    let other = TestOrigin()
    other.always(200, [.cacheControl: "max-age=10, stale-if-error=600"], "new")
    let new = try await kitchen.cache.respond(to: kitchen.request("/"), policy: .reload, via: other)
    #expect(try await new.body.collect().count == 3)
    if isStatus { kitchen.origin.always(503, [:], "busy") } else { kitchen.origin.fails(.unreachable) }
    kitchen.origin.release()
    #expect(try await late.text == "new")
  }

  @Test("what was removed meanwhile does not answer a failure")
  func removedMeanwhile() async throws {
    kitchen.origin.always(200, [.cacheControl: "max-age=10, stale-if-error=600"], "old")
    _ = try await kitchen.get("/")
    kitchen.clock.advance(by: 20)
    kitchen.origin.hold()
    async let late = kitchen.get("/")
    await kitchen.origin.arrived(2)
    try await kitchen.cache.removeAll()
    kitchen.origin.always(503, [:], "busy")
    kitchen.origin.release()
    #expect(try await late.status == 503)
  }

  // holds 5861-3-1
  @Test("stale-while-revalidate: stale at once, validated once in the background, then fresh")
  func staleWhileRevalidate() async throws {
    kitchen.origin.always(
      200, [.cacheControl: "max-age=10, stale-while-revalidate=60", .eTag: "\"a\""], "old")
    _ = try await kitchen.get("/")
    kitchen.clock.advance(by: 20)
    kitchen.origin.always(
      200, [.cacheControl: "max-age=10, stale-while-revalidate=60", .eTag: "\"b\""], "new")
    let answer = try await kitchen.get("/")
    #expect(answer.text == "old")
    #expect(
      answer.outcome
        == .hit(age: .seconds(20), lifetime: .seconds(10), allowance: .window(.staleWhileRevalidate)))
    await kitchen.events.wait(count: 2) { if case .stored = $0 { true } else { false } }
    #expect(try await kitchen.get("/").text == "new")
    #expect(kitchen.origin.requests.count == 2)
  }

  // holds 9111-4.2.4-2
  @Test(
    "an answer that broke the protocol, or a certificate, is no disconnection",
    arguments: [UpstreamError.Kind.protocol, .tls])
  func notDisconnected(kind: UpstreamError.Kind) async throws {
    kitchen.origin.always(200, [.cacheControl: "max-age=10"], "old")
    _ = try await kitchen.get("/")
    kitchen.clock.advance(by: 20)
    kitchen.origin.fails(kind)
    await #expect(throws: UpstreamError.self) { try await kitchen.get("/") }
  }
}
