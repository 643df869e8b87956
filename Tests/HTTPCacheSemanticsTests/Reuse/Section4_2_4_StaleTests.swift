import HTTPCacheSemantics
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct Section4_2_4_StaleTests {
  // holds 9111-4.2.4-2
  @Test("§4.2.4 A stale response is used when the origin cannot be reached, unless switched off")
  func disconnected() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=2"])
    #expect(try fallback(kept, after: 100) == .useStale(.disconnected))
    #expect(try fallback(kept, after: 100, .status(503)) == .fail(.serverError(503)))
    #expect(
      try fallback(kept, after: 100, rules: CacheRules(allowsStaleWhenDisconnected: false))
        == .fail(.rules))
  }

  // holds 9111-4.2.4-1, 9111-5.2.2.8-1, 9111-5.2.2.10-1, 9111-5.2.2.4-1
  @Test("§4.2.4 Directives forbid it: must-revalidate, no-cache, in shared caches two more")
  func forbidden() throws {
    func refusal(_ value: String, _ rules: CacheRules = privateRules) throws -> FailureFallback {
      try fallback(
        stored(200, ["Cache-Control": value], rules: rules), after: 100, rules: rules)
    }
    #expect(try refusal("max-age=2, must-revalidate") == .fail(.mustRevalidate))
    #expect(try refusal("max-age=2, no-cache") == .fail(.responseNoCache))
    #expect(try refusal("max-age=2, proxy-revalidate") == .useStale(.disconnected))
    #expect(try refusal("max-age=2, proxy-revalidate", sharedRules) == .fail(.proxyRevalidate))
    #expect(try refusal("max-age=2, s-maxage=2") == .useStale(.disconnected))
    #expect(try refusal("max-age=2, s-maxage=2", sharedRules) == .fail(.sMaxAge))
    #expect(
      try refusal("max-age=2, must-revalidate, stale-if-error=999") == .fail(.mustRevalidate))
  }

  // holds 9111-4.2.4-1, 9111-5.2.2.2-1, 9111-5.2.2.2-2
  @Test("§5.2.2.2 must-revalidate forbids a stale response to max-stale and to every policy")
  func mustRevalidate() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=2, must-revalidate", "ETag": "\"1\""])
    let validation = ValidationReason.stale(age: .seconds(100), lifetime: .seconds(2))
    #expect(try decide(kept, after: 1) == .fresh(age: .seconds(1), lifetime: .seconds(2)))
    #expect(try decide(kept, after: 100, ["Cache-Control": "max-stale"]) == .validate(validation))
    #expect(try decide(kept, after: 100, policy: .cacheElseNetwork) == .validate(validation))
    #expect(
      try decide(kept, after: 100, policy: .cacheOnly) == .unsatisfiable(.validation(validation)))
    #expect(
      try fallback(kept, after: 100, policy: .networkElseCache()) == .fail(.mustRevalidate))
    #expect(
      try fallback(kept, after: 1, policy: .networkElseCache())
        == .useStale(.policy(.networkElseCache())))
  }

  // holds 9111-4.2.4-2, 5861-3-2
  @Test("RFC 5861 §3 stale-while-revalidate holds within its window, unless the client objects")
  func whileRevalidate() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=10, stale-while-revalidate=5"])
    #expect(
      try decide(kept, after: 15)
        == .stale(.window(.staleWhileRevalidate), age: .seconds(15), lifetime: .seconds(10)))
    #expect(try decide(kept, after: 16) == .validate(.stale(age: .seconds(16), lifetime: .seconds(10))))
    #expect(
      try decide(kept, after: 12, ["Cache-Control": "max-age=60"])
        == .validate(.stale(age: .seconds(12), lifetime: .seconds(10))))
    #expect(
      try decide(kept, after: 12, rules: CacheRules(allowsStaleWhileRevalidate: false))
        == .validate(.stale(age: .seconds(12), lifetime: .seconds(10))))
    #expect(
      try decide(kept, after: 12, policy: .revalidate)
        == .validate(.stale(age: .seconds(12), lifetime: .seconds(10))))
  }

  // holds 5861-4-1
  @Test("RFC 5861 §4 stale-if-error covers 500, 502, 503, 504 and no answer, within its window")
  func ifError() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=10, stale-if-error=60"])
    for failure in [FailureKind.unreachable, .badGateway, .status(500), .status(502), .status(504)] {
      #expect(try fallback(kept, after: 70, failure) == .useStale(.window(.staleIfError)))
      #expect(try fallback(kept, after: 71, failure) == .fail(.tooStale(.seconds(61), limit: .seconds(60))))
    }
    #expect(try fallback(kept, after: 20, .status(501)) == .fail(.serverError(501)))
    #expect(
      try fallback(
        kept, after: 20, .status(503), rules: CacheRules(allowsStaleIfError: false))
        == .fail(.serverError(503)))
    let plain = try stored(200, ["Cache-Control": "max-age=10"])
    #expect(
      try fallback(plain, after: 20, .status(503), ["Cache-Control": "stale-if-error=60"])
        == .useStale(.window(.staleIfError)))
  }

  @Test("networkElseCache falls back within maxStale, on 5xx only if asked for")
  func networkElseCache() throws {
    let kept = try stored(200, ["Cache-Control": "max-age=10"])
    let bounded = CachePolicy.networkElseCache(maxStale: .seconds(60))
    #expect(try fallback(kept, after: 70, policy: bounded) == .useStale(.policy(bounded)))
    #expect(
      try fallback(kept, after: 71, policy: bounded) == .fail(.tooStale(.seconds(61), limit: .seconds(60))))
    #expect(
      try fallback(kept, after: 20, .status(500), policy: bounded)
        == .fail(.serverError(500)))
    let errors = CachePolicy.networkElseCache(onStatus: [500, 503])
    #expect(
      try fallback(kept, after: 9999, .status(500), policy: errors)
        == .useStale(.policy(errors)))
  }

  @Test("What the caller or the client asked for is not undone by a failure")
  func refused() throws {
    var kept = try stored(200, ["Cache-Control": "max-age=10"])
    for policy in [CachePolicy.reload, .reloadEverywhere, .revalidate, .bypass] {
      #expect(try fallback(kept, after: 1, policy: policy) == .fail(.policy(policy)))
    }
    #expect(
      try fallback(kept, after: 1, .unreachable, ["Cache-Control": "no-cache"])
        == .fail(.requestNoCache))
    #expect(
      try fallback(kept, after: 20, .unreachable, ["Cache-Control": "max-age=5"])
        == .fail(.requestFreshness))
    #expect(
      try fallback(kept, after: 20, .unreachable, ["Cache-Control": "max-stale=5"])
        == .fail(.tooStale(.seconds(10), limit: .seconds(5))))
    kept.isInvalidated = true
    #expect(try fallback(kept, after: 1) == .fail(.invalidated))
  }
}
