import HTTPCacheStore
import HTTPCacheTesting
import Testing

@Suite("MemoryStore does what every store has to", .timeLimit(.minutes(10)))
struct MemoryStoreConformanceTests {
  @Test("conforms", arguments: StoreConformance.checks)
  func conforms(_ check: StoreCheck) async throws {
    try await check.run { requirements in
      MemoryStore(
        capacity: requirements.capacity, largestEntry: requirements.largestEntry,
        clock: requirements.clock)
    }
  }
}
