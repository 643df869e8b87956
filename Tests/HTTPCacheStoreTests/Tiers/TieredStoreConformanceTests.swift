import HTTPCacheStore
import HTTPCacheTesting
import Testing

@Suite("TieredStore does what every store has to", .timeLimit(.minutes(10)))
struct TieredStoreConformanceTests {
  @Test("conforms over a store that tells its generation", arguments: StoreConformance.checks)
  func conforms(_ check: StoreCheck) async throws {
    try await check.run { requirements in
      TieredStore(
        memory: MemoryStore(capacity: requirements.capacity / 2, clock: requirements.clock),
        base: DiskLikeStore(
          capacity: requirements.capacity, largestEntry: requirements.largestEntry,
          clock: requirements.clock))
    }
  }

  @Test("conforms over a store that does not tell its generation", arguments: StoreConformance.checks)
  func conformsOverPlain(_ check: StoreCheck) async throws {
    try await check.run { requirements in
      TieredStore(
        memory: MemoryStore(capacity: requirements.capacity / 8, clock: requirements.clock),
        base: PlainStore(
          DiskLikeStore(
            capacity: requirements.capacity, largestEntry: requirements.largestEntry,
            clock: requirements.clock, inline: .max)), promotionLimit: 100_000)
    }
  }
}
