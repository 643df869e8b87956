import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A store that implements the required members alone", .timeLimit(.minutes(10)))
struct DictionaryStoreTests {
  @Test("conforms", arguments: StoreConformance.minimalChecks)
  func conforms(_ check: StoreCheck) async throws {
    try await check.run {
      DictionaryStore(largestEntry: $0.largestEntry.bytes(of: $0.capacity), clock: $0.clock)
    }
  }

  @Test("answers a cache's requests")
  func answers() async throws {
    let clock = ManualClock(now: StoreSample.start)
    let store = DictionaryStore(largestEntry: 1 << 20, clock: clock)
    let cache = HTTPCache(configuration: HTTPCache.Configuration(clock: clock), store: store)
    let origin = ScriptedUpstream([
      ScriptedResponse(headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""], body: "one"),
      .notModified(headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""]),
    ])
    func get() async throws -> (String, CacheOutcome) {
      let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
      let response = try await cache.respond(to: request, via: origin)
      return (String(decoding: try await response.body.collect().array, as: UTF8.self), response.outcome)
    }
    #expect(try await get().1.isHit == false)
    let hit = try await get()
    #expect(hit.0 == "one" && hit.1.isHit)
    clock.advance(by: .seconds(61))
    guard case .validated = try await get().1 else {
      Issue.record("not validated")
      return
    }
    #expect(try await get().1.age == .zero)
    #expect(try await cache.removeAll() == 1)
    #expect(origin.requestCount == 2)
  }
}
