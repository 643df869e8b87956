import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

@Suite("Offline: by force, by signal, and what ends a fallback", .timeLimit(.minutes(10)))
struct OfflineTests {
  private final class Signal: ConnectivitySignal {
    private let state = Atomic<Bool>(true)
    var isConnected: Bool { state.load(ordering: .relaxed) }
    func set(_ isConnected: Bool) { state.store(isConnected, ordering: .relaxed) }
  }

  private let fields: HTTPFields = [.cacheControl: "max-age=10", .eTag: "\"a\""]

  private func notAsked(_ test: TestCache<TestOrigin>, _ reason: OfflineReason) -> Int {
    test.events.count {
      if case .notAsked(_, let told) = $0 { told == reason } else { false }
    }
  }

  @Test("isOffline: stale responses answer, nothing else does, and the origin is not tried")
  func forced() async throws {
    let test = TestCache()
    try await test.store(fields, "one", age: 20)
    test.cache.isOffline = true
    #expect(
      try await test.get("/").outcome
        == .hit(age: .seconds(20), lifetime: .seconds(10), allowance: .disconnected))
    for (path, method) in [("/other", HTTPRequest.Method.get), ("/", .post), ("/", .put)] {
      let error = await #expect(throws: UpstreamError.self) {
        try await test.get(path, method: method)
      }
      #expect(error?.kind == .unreachable)
    }
    await #expect(throws: UpstreamError.self) { try await test.get("/", policy: .bypass) }
    await #expect(throws: UpstreamError.self) { try await test.get("/", policy: .reload) }
    #expect(test.origin.requests.count == 1)
    #expect(notAsked(test, .forced) == 6)
    #expect(test.events.count { if case .upstreamFailed = $0 { true } else { false } } == 0)
    test.cache.isOffline = false
    #expect(try await test.get("/").text == "one")
    #expect(test.origin.requests.count == 2)
  }

  @Test("isOffline: nothing is validated in the background")
  func background() async throws {
    let test = TestCache()
    try await test.store([.cacheControl: "max-age=10, stale-while-revalidate=60"], "one", age: 20)
    test.cache.isOffline = true
    #expect(try await test.get("/").text == "one")
    await test.cache.finishBackgroundWork(within: .seconds(1))
    #expect(test.origin.requests.count == 1)
    #expect(notAsked(test, .forced) == 1)
  }

  @Test("a signal that says not connected does the same, as long as it says so")
  func signal() async throws {
    let signal = Signal()
    let test = TestCache(configure: { $0.connectivity = signal })
    try await test.store(fields, "one")
    signal.set(false)
    #expect(try await test.get("/").text == "one")
    #expect(notAsked(test, .notConnected) == 0)
    test.clock.advance(by: 20)
    #expect(
      try await test.get("/").outcome
        == .hit(age: .seconds(20), lifetime: .seconds(10), allowance: .disconnected))
    #expect(notAsked(test, .notConnected) == 1)
    signal.set(true)
    try await test.get("/")
    #expect(test.origin.requests.count == 2)
  }

  @Test("must-revalidate is not undone by being offline")
  func mustRevalidate() async throws {
    let test = TestCache()
    try await test.store([.cacheControl: "max-age=10, must-revalidate"], "one", age: 20)
    test.cache.isOffline = true
    await #expect(throws: UpstreamError.self) { try await test.get("/") }
  }

  @Test("explain says that the cache is offline, and what follows")
  func explaining() async throws {
    let test = TestCache()
    try await test.store(fields, "one", age: 20)
    #expect(
      try !test.cache.explain(test.request("/")).description.contains("way to the origin"))
    test.cache.isOffline = true
    let stale = try test.cache.explain(test.request("/"))
    let question = "Is there a way to the origin?"
    let step = try #require(stale.steps.first { $0.question == question })
    #expect(step.answer.hasPrefix("no: the cache is set to be offline"))
    #expect(step.topic == .request)
    #expect(stale.steps.last?.answer == "from the store, stale for 10 s: the origin cannot be reached")
    let missing = try test.cache.explain(test.request("/other"))
    #expect(missing.steps.last?.answer == "it fails: the cache is set to be offline")
    test.cache.isOffline = false
    let signal = Signal()
    signal.set(false)
    let other = TestCache(configure: { $0.connectivity = signal })
    let explanation = try other.cache.explain(other.request("/"))
    #expect(explanation.steps.last?.answer == "it fails: there is no connection")
  }

  @Test("networkElseCache falls back on a timeout, and on each status it names")
  func kinds() async throws {
    let test = TestCache()
    try await test.store(fields, "one")
    let policy = CachePolicy.networkElseCache(onStatus: [429, 503])
    test.origin.fails(.timeout)
    #expect(try await test.get("/", policy: policy).text == "one")
    for status in [429, 503] {
      test.origin.always(status, [:], "later")
      #expect(try await test.get("/", policy: policy).text == "one")
    }
    for status in [500, 403] {
      test.origin.always(status, [:], "no")
      #expect(try await test.get("/", policy: policy).status == status)
    }
    test.origin.fails(.tls)
    await #expect(throws: UpstreamError.self) { try await test.get("/", policy: policy) }
  }

  @Test("404 and 410 end the fallback, even if nothing of them is stored", arguments: [404, 410])
  func gone(status: Int) async throws {
    let test = TestCache()
    try await test.store(fields, "one")
    test.origin.always(status, [:], "gone")
    let answer = try await test.get(
      "/", [.cacheControl: "no-store"], policy: .networkElseCache())
    #expect(answer.status == status)
    test.origin.fails(.unreachable)
    for policy in [CachePolicy.networkElseCache(), .cacheElseNetwork, .standard] {
      await #expect(throws: UpstreamError.self) { try await test.get("/", policy: policy) }
    }
    #expect(try !stored(test).isEmpty)
    test.origin.always(304, fields, "")
    #expect(try await test.get("/").text == "one")
  }

  @Test("removesGone: 404 and 410 remove what is stored, whatever the policy takes for a failure")
  func removing() async throws {
    for status in [404, 410] {
      let test = TestCache(rules: CacheRules(removesGone: true))
      try await test.store(fields, "one")
      test.origin.always(status, [.cacheControl: "no-store"], "gone")
      let policy = CachePolicy.networkElseCache(onStatus: [404, 410])
      #expect(try await test.get("/", policy: policy).status == status)
      #expect(try stored(test).isEmpty)
      #expect(
        test.events.count {
          if case .removed(_, .gone(status: let told)) = $0 { told == status } else { false }
        } == 1)
    }
  }

  @Test("removesGone: in each form, of the item that a URL shares too")
  func removingForms() async throws {
    let name = try #require(HTTPField.Name("X-Item"))
    let test = TestCache(
      rules: CacheRules(
        removesGone: true, overrides: [RuleOverride(try .glob("/**"), effects: [.alias(name)])]))
    let answer = ScriptedResponse(
      headers: ["Cache-Control": "max-age=60", "Content-Encoding": "gzip", "X-Item": "top"], body: "one")
    let response = try await test.cache.respond(
      to: test.request("/"), via: ScriptedUpstream([answer.decoded()]))
    _ = try await response.body.collect()
    #expect(try await test.cache.store.entries(.all, after: nil, limit: 9).entries.count == 2)
    // This session accepts no decoded bodies, and does not see it.
    test.origin.always(410, [.cacheControl: "no-store"], "gone")
    try await test.get("/")
    let left = try await test.cache.store.entries(.all, after: nil, limit: 9).entries
    #expect(left.allSatisfy { $0.record.key.methodClass == .pointer })
  }

  private func stored(_ test: TestCache<TestOrigin>) throws -> [StoredVariant] {
    try test.cache.store.read(
      #require(CacheKey(request: test.request("/"), rules: CacheRules())))
  }

  @Test("policies that contradict the request's directives have one meaning each")
  func contradictions() async throws {
    let test = TestCache()
    try await test.store(fields, "one")
    let only: HTTPFields = [.cacheControl: "only-if-cached"]
    for policy in [CachePolicy.reload, .reloadEverywhere, .revalidate] {
      #expect(try await test.get("/", only, policy: policy).status == 504)
    }
    let fallback = CachePolicy.networkElseCache(maxStale: .seconds(30))
    #expect(try await test.get("/", only, policy: fallback).text == "one")
    test.clock.advance(by: 40)
    #expect(
      try await test.get("/", only, policy: fallback).outcome
        == .hit(age: .seconds(40), lifetime: .seconds(10), allowance: .policy(fallback)))
    test.clock.advance(by: 1)
    #expect(try await test.get("/", only, policy: fallback).status == 504)
    #expect(test.origin.requests.count == 1)
    // Bypass does not use the cache, so the cache's offline state does not count.
    #expect(try await test.get("/", only, policy: .bypass).status == 200)
    #expect(test.origin.requests.last?.headerFields[.cacheControl] == "only-if-cached")
    let noCache: HTTPFields = [.cacheControl: "no-cache"]
    #expect(try await test.get("/", noCache, policy: .bypass).status == 200)
    #expect(try await test.get("/", noCache, policy: .cacheOnly).status == 504)
    #expect(test.origin.requests.count == 3)
    _ = try await test.get("/", noCache, policy: .cacheElseNetwork)
    #expect(test.origin.requests.count == 4)
  }
}
