import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Cache-Status through the engine (RFC 9211)", .timeLimit(.minutes(10)))
struct CacheStatusFlowTests {
  private let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))

  private func cache(showingKey: Bool = false) -> HTTPCache {
    HTTPCache(
      configuration: HTTPCache.Configuration(
        cacheStatusName: "c", cacheStatusShowsKey: showingKey, clock: clock),
      store: MemoryStore(capacity: 1 << 20, largestEntry: .bytes(1 << 18), clock: clock))
  }

  private func status(
    _ cache: HTTPCache, _ fields: HTTPFields = [:], via upstream: ScriptedUpstream
  ) async throws -> String? {
    let response = try await cache.respond(
      to: HTTPRequest(
        method: .get, scheme: "https", authority: "a", path: "/?q", headerFields: fields),
      via: upstream)
    _ = try await response.body.collect()
    return response.head.headerFields[.cacheStatus]
  }

  @Test("§2.4 ttl is there for what was stored just now, for a hit, and negative for a stale one")
  func ttl() async throws {
    let cache = cache()
    let upstream = ScriptedUpstream([
      ScriptedResponse(headers: ["Cache-Control": "max-age=60", "Age": "20"], body: "x")
    ])
    #expect(try await status(cache, via: upstream) == "c; fwd=uri-miss; fwd-status=200; ttl=40; stored")
    clock.advance(by: 10)
    #expect(try await status(cache, via: upstream) == "c; hit; ttl=30")
    clock.advance(by: 100)
    #expect(
      try await status(cache, [.cacheControl: "max-stale"], via: upstream)
        == "c; hit; ttl=-70; detail=max-stale")
  }

  @Test("§2.7 The key is shown only where that is switched on")
  func key() async throws {
    let upstream = ScriptedUpstream { _ in
      ScriptedResponse(headers: ["Cache-Control": "no-store"], body: "x")
    }
    #expect(
      try await status(cache(), via: upstream) == "c; fwd=uri-miss; fwd-status=200; detail=no-store")
    #expect(
      try await status(cache(showingKey: true), via: upstream)
        == "c; fwd=uri-miss; fwd-status=200; key=\"https://a/?q\"; detail=no-store")
  }

  // holds 9211-2-4
  @Test("§2 A response of the cache's own making gets no member")
  func own() async throws {
    #expect(
      try await status(cache(), [.cacheControl: "only-if-cached"], via: ScriptedUpstream()) == nil)
  }

  // holds 9211-2-2
  @Test("§2 The members of caches closer to the origin stay before ours")
  func chain() async throws {
    let upstream = ScriptedUpstream([
      ScriptedResponse(headers: ["Cache-Control": "max-age=60", "Cache-Status": "o; hit"], body: "x")
    ])
    let cache = cache()
    _ = try await status(cache, via: upstream)
    #expect(try await status(cache, via: upstream) == "o; hit, c; hit; ttl=60")
  }
}
