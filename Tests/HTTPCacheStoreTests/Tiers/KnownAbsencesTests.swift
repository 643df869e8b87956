import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("What the store below a tier does not have", .timeLimit(.minutes(10)))
struct KnownAbsencesTests {
  private let key = StoreSample.key()
  private let base = DiskLikeStore(
    capacity: 32 << 20, largestEntry: .default, clock: ManualClock(now: StoreSample.start))

  private func tier(_ base: any CacheStore) -> TieredStore {
    TieredStore(memory: MemoryStore(capacity: 8 << 20), base: base)
  }

  private func store(_ store: any CacheStore) async throws {
    let writer = try await store.write(StoreSample.record(), variantLimit: 8)
    try await writer.append(StoreSample.body(1_000))
    _ = try await writer.commit(trailers: [:])
  }

  @Test("is looked for once, until this tier or another one stores it")
  func absent() async throws {
    let (one, other) = (tier(base), tier(base))
    for _ in 1...3 { #expect(try one.read(key).isEmpty) }
    #expect(base.reads == 1)
    #expect(try other.read(key).isEmpty)
    try await store(other)
    #expect(try one.read(key).count == 1)

    try await one.remove(.key(key))
    for _ in 1...3 { #expect(try other.read(key).isEmpty) }
    try await store(other)
    #expect(try other.read(key).count == 1)
    #expect(try one.read(key).count == 1)
  }

  @Test("is looked for each time if that store does not tell of changes")
  func untold() async throws {
    let tier = tier(base.store)
    #expect(try tier.read(key).isEmpty)
    try await store(base.store)
    #expect(try tier.read(key).count == 1)
  }
}
