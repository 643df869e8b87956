import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("The store of a cache in a fleet does what every store has to", .timeLimit(.minutes(10)))
struct SharedStoreConformanceTests {
  private static func store(_ requirements: StoreRequirements, mode: CacheMode) async -> (
    any CacheStore, HTTPCache
  ) {
    var configuration = HTTPCache.Configuration(rules: CacheRules(mode: mode), clock: requirements.clock)
    configuration.shared = LoopbackTier(LoopbackServer(clock: requirements.clock))
    configuration.fleet.privatePartitions = [""]
    let cache = HTTPCache(
      configuration: configuration,
      store: MemoryStore(
        capacity: requirements.capacity, largestEntry: requirements.largestEntry, clock: requirements.clock))
    await cache.join(within: .seconds(5))
    return (cache.store, cache)
  }

  @Test("conforms, connected with a tier", arguments: StoreConformance.checks)
  func conforms(_ check: StoreCheck) async throws {
    let caches = KeptCaches()
    try await check.run { requirements in
      let (store, cache) = await Self.store(requirements, mode: .private)
      caches.keep(cache)
      return store
    }
  }
}

/// Keeps caches alive as long as a check uses their stores.
private final class KeptCaches: Sendable {
  private let caches = WatchedState([HTTPCache]())
  func keep(_ cache: HTTPCache) { caches.withLock { $0.append(cache) } }
}
