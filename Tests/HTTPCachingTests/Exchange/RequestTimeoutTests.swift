import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPCaching
import HTTPTypes
import Testing

@Suite("The time limit of a request, over an upstream without limits", .timeLimit(.minutes(5)))
struct RequestTimeoutTests {
  private let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
  private let gate = Gate()
  private let request = HTTPRequest(method: .get, scheme: "https", authority: "h", path: "/")

  private func cache() throws -> HTTPCache {
    try HTTPCache.open(HTTPCache.Configuration(memoryCapacity: 1 << 20, clock: clock))
  }

  private func respond(via upstream: ScriptedUpstream, _ cache: HTTPCache) -> Task<CacheResponse, any Error> {
    let request = request
    return Task {
      try await cache.respond(to: request, options: RequestOptions(timeout: .seconds(5)), via: upstream)
    }
  }

  @Test("the upstream is cancelled, and the request fails with a timeout")
  func timeout() async throws {
    let upstream = ScriptedUpstream([ScriptedResponse(body: "late").stallingBeforeHead(at: gate)])
    let response = try respond(via: upstream, cache())
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    let error = await #expect(throws: UpstreamError.self) { _ = try await response.value }
    #expect(error?.kind == .timeout)
  }

  @Test("a stale response answers, where that is allowed (RFC 5861 §4)")
  func stale() async throws {
    let upstream = ScriptedUpstream([
      ScriptedResponse(headers: ["Cache-Control": "max-age=1, stale-if-error=60"], body: "old"),
      ScriptedResponse(body: "late").stallingBeforeHead(at: gate),
    ])
    let cache = try cache()
    _ = try await cache.respond(to: request, via: upstream).body.collect()
    clock.advance(by: .seconds(10))
    let response = respond(via: upstream, cache)
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    #expect(try await response.value.body.collect().array == Array("old".utf8))
  }

  @Test("a caller that is cancelled gets the upstream's error, and no timeout")
  func cancelled() async throws {
    let upstream = ScriptedUpstream([ScriptedResponse(body: "late").stallingBeforeHead(at: gate)])
    let response = try respond(via: upstream, cache())
    await clock.waitForSleepers(1)
    response.cancel()
    await #expect(throws: CancellationError.self) { _ = try await response.value }
  }

  @Test("an answer in time ends the wait")
  func inTime() async throws {
    let upstream = ScriptedUpstream([ScriptedResponse(body: "now")])
    let response = try await cache().respond(
      to: request, options: RequestOptions(timeout: .seconds(5)), via: upstream)
    #expect(try await response.body.collect().array == Array("now".utf8))
    #expect(clock.sleeperCount == 0)
  }
}
