import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Stale on purpose (RFC 9111 §4.2.4, RFC 5861)", .timeLimit(.minutes(10)))
struct StaleTests {
  private let test = TestCache()

  @Test("an unreachable origin: the stale response, and the outcome says so")
  func disconnected() async throws {
    try await test.store([.cacheControl: "max-age=10"], "old", age: 20)
    test.origin.fails(.unreachable)
    let answer = try await test.get("/")
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
    try await test.store([.cacheControl: cacheControl, .eTag: "\"a\""], "old", age: 20)
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await test.get("/") }
  }

  @Test("the switch turns it off")
  func switchedOff() async throws {
    let test = TestCache(rules: CacheRules(allowsStaleWhenDisconnected: false))
    try await test.store([.cacheControl: "max-age=10"], "old", age: 20)
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await test.get("/") }
  }

  // holds 5861-4-1
  @Test("stale-if-error: a 5xx gives way to the stale response, inside the window only")
  func staleIfError() async throws {
    try await test.store([.cacheControl: "max-age=10, stale-if-error=60"], "old", age: 20)
    test.origin.always(503, [:], "busy")
    let answer = try await test.get("/")
    #expect(answer.text == "old")
    #expect(
      answer.outcome == .hit(age: .seconds(20), lifetime: .seconds(10), allowance: .window(.staleIfError)))
    test.clock.advance(by: 60)
    #expect(try await test.get("/").status == 503)
  }

  @Test(
    "a failure is answered by what is stored then, not by what was stored when the request began",
    arguments: [true, false])
  func storedMeanwhile(isStatus: Bool) async throws {
    let policy = CachePolicy.networkElseCache(onStatus: [503])
    try await test.store([.cacheControl: "max-age=10, stale-if-error=600"], "old", age: 20)
    test.origin.hold()
    async let late = test.get("/", policy: policy)
    await test.origin.arrived(2)
    let other = TestOrigin()
    other.always(200, [.cacheControl: "max-age=10, stale-if-error=600"], "new")
    let new = try await test.cache.respond(to: test.request("/"), policy: .reload, via: other)
    #expect(try await new.body.collect().count == 3)
    if isStatus { test.origin.always(503, [:], "busy") } else { test.origin.fails(.unreachable) }
    test.origin.release()
    #expect(try await late.text == "new")
  }

  @Test("what was removed meanwhile does not answer a failure")
  func removedMeanwhile() async throws {
    try await test.store([.cacheControl: "max-age=10, stale-if-error=600"], "old", age: 20)
    test.origin.hold()
    async let late = test.get("/")
    await test.origin.arrived(2)
    try await test.cache.removeAll()
    test.origin.always(503, [:], "busy")
    test.origin.release()
    #expect(try await late.status == 503)
  }

  // holds 5861-3-1
  @Test("stale-while-revalidate: stale at once, validated once in the background, then fresh")
  func staleWhileRevalidate() async throws {
    try await test.store(
      [.cacheControl: "max-age=10, stale-while-revalidate=60", .eTag: "\"a\""], "old", age: 20)
    test.origin.always(
      200, [.cacheControl: "max-age=10, stale-while-revalidate=60", .eTag: "\"b\""], "new")
    let answer = try await test.get("/")
    #expect(answer.text == "old")
    #expect(
      answer.outcome
        == .hit(age: .seconds(20), lifetime: .seconds(10), allowance: .window(.staleWhileRevalidate)))
    await test.events.wait(count: 2) { if case .stored = $0 { true } else { false } }
    #expect(try await test.get("/").text == "new")
    #expect(test.origin.requests.count == 2)
  }

  @Test("stale-while-revalidate: no-store in the request allows no validation in the background (§5.2.1.5)")
  func noStoreInBackground() async throws {
    test.origin.always(
      200, [.cacheControl: "max-age=10, stale-while-revalidate=60", .eTag: "\"a\""], "old")
    try await test.get("/")
    test.clock.advance(by: 20)
    #expect(try await test.get("/", [.cacheControl: "no-store"]).text == "old")
    await test.cache.finishBackgroundWork(within: .seconds(60))
    #expect(test.events.count { if case .stored = $0 { true } else { false } } == 1)
    #expect(test.events.count { if case .validatingInBackground = $0 { true } else { false } } == 0)
    #expect(test.origin.requests.count == 1)
  }

  // holds 9111-4.2.4-2
  @Test(
    "an answer that broke the protocol, or a certificate, is no disconnection",
    arguments: [UpstreamError.Kind.protocol, .tls])
  func notDisconnected(kind: UpstreamError.Kind) async throws {
    try await test.store([.cacheControl: "max-age=10"], "old", age: 20)
    test.origin.fails(kind)
    await #expect(throws: UpstreamError.self) { try await test.get("/") }
  }
}
