import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("TieredStore: responses of both tiers")
struct TieredRecencyTests {
  private let key = StoreSample.key()
  private let base = DiskLikeStore(
    capacity: 32 << 20, largestEntry: .default, clock: ManualClock(now: StoreSample.start))

  private func tier() -> TieredStore {
    TieredStore(memory: MemoryStore(capacity: 8 << 20), base: base)
  }

  private func begin(_ record: CacheRecord, in store: any CacheStore) async throws -> any BodyWriter {
    let writer = try await store.write(record.with(ticket: store.ticket()), variantLimit: 8)
    try await writer.append(StoreSample.body(100))
    return writer
  }

  @Test("a number tells one response of a key, whichever tier has it")
  func numbers() async throws {
    let tier = tier()
    let below = try await begin(StoreSample.record(language: "de"), in: tier).commit(trailers: [:])
    let own = try await begin(StoreSample.record(language: "en", isMemoryOnly: true), in: tier)
      .commit(trailers: [:])
    #expect(below.sequence != own.sequence)
    #expect(try await tier.invalidate(.variant(key, sequence: own.sequence)) == 1)
    for record in try tier.read(key).map(\.record) {
      #expect(record.response.isInvalidated == record.isMemoryOnly)
    }
    #expect(try await tier.remove(.variant(key, sequence: own.sequence)) == 1)
    #expect(try tier.read(key).map(\.record.isMemoryOnly) == [false])
  }
}
