import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("The store of a cache in a fleet does what every store has to", .timeLimit(.minutes(10)))
struct SharedStoreConformanceTests {
  /// Keeps caches alive as long as a check uses their stores.
  private let caches = WatchedState([HTTPCache]())

  private func store(_ requirements: StoreRequirements, isConnected: Bool) async -> any CacheStore {
    let tier = LoopbackTier(LoopbackServer(clock: requirements.clock))
    tier.isAway = !isConnected
    var configuration = HTTPCache.Configuration(clock: requirements.clock)
    configuration.shared = tier
    // The partition of the checks.
    configuration.fleet.privatePartitions = [""]
    let cache = HTTPCache(
      configuration: configuration,
      store: MemoryStore(
        capacity: requirements.capacity, largestEntry: requirements.largestEntry, clock: requirements.clock))
    if isConnected { await cache.join(within: .seconds(5)) }
    caches.withLock { $0.append(cache) }
    return cache.store
  }

  @Test("conforms, with a tier", arguments: StoreConformance.checks)
  func connected(_ check: StoreCheck) async throws {
    try await check.run { await store($0, isConnected: true) }
  }

  @Test("conforms, with a tier that cannot be reached", arguments: StoreConformance.checks)
  func away(_ check: StoreCheck) async throws {
    try await check.run { await store($0, isConnected: false) }
  }
}
