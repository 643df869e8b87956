import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("TieredStore: uses and counts", .timeLimit(.minutes(10)))
struct TieredUsesTests {
  private let base = DiskLikeStore()

  @Test(
    "the store below is told of uses in memory when there are many, and before it lists, counts or removes")
  func toldUses() async throws {
    let tier = base.tier(memory: 32 << 20)
    let keys = (0..<2_000).map { StoreSample.key("/\($0)") }
    for key in keys {
      let writer = try await tier.write(StoreSample.record(key), variantLimit: 8)
      try await writer.append(StoreSample.body(10))
      try await writer.commit(trailers: [:])
    }
    // Storing any response makes all copies of this test's store below out of date.
    for key in keys { _ = try tier.read(key) }
    await tier.flush()
    let before = base.uses
    for key in keys { _ = tier.peek(key) }
    // 16 shards keep the uses of at most 63 keys each.
    #expect(base.uses - before >= 2_000 - 16 * 63)
    await tier.flush()
    #expect(base.uses - before == 2_000)
    for _ in 0..<5 { _ = tier.peek(keys[0]) }
    #expect(base.uses - before == 2_000)
    _ = try await tier.entries(.all, after: nil, limit: 1)
    #expect(base.uses - before == 2_005)
    _ = tier.peek(keys[1])
    // The use of a group that leaves memory is told, too.
    tier.trimMemory(to: 0)
    _ = try await tier.remove(.key(keys[2]))
    #expect(base.uses - before == 2_006)
  }

  @Test("counts reach the store below when there are many, and before they are read")
  func toldCounts() async throws {
    let tier = base.tier()
    for _ in 0..<100 { tier.count(CacheCounts(hits: 1, hitBytes: 2)) }
    #expect(try await base.counts().hits == 0)
    #expect(try await tier.counts().hits == 100)
    for _ in 0..<5_000 { tier.count(CacheCounts(hits: 1)) }
    #expect(try await base.counts().hits >= 100 + 5_000 - 16 * 255)
    await tier.flush()
    #expect(try await base.counts().hits == 5_100)
  }
}
