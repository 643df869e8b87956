import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import Testing

@Suite("SeedLayer does what every store has to", .timeLimit(.minutes(10)))
struct SeedLayerConformanceTests {
  @Test("conforms over a store in memory, with seeds for other targets", arguments: StoreConformance.checks)
  func conforms(_ check: StoreCheck) async throws {
    let seed = try #require(
      ListedSeeds.seed("https://seed.example/", at: Timestamp(seconds: 1_600_000_000)))
    try await check.run { requirements in
      let layer = SeedLayer(
        base: MemoryStore(
          capacity: requirements.capacity, largestEntry: requirements.largestEntry,
          clock: requirements.clock),
        seeds: [ListedSeeds([seed])], clock: requirements.clock
      ) { _, _ in }
      // The checks count entries: hide the seed from the list, and keep the mark.
      try await layer.remove(.target("https://seed.example/"))
      return layer
    }
  }
}
