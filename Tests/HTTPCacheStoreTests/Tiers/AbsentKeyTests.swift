import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Synchronization
import Testing

@Suite("What the store below a tier does not have", .timeLimit(.minutes(10)))
struct AbsentKeyTests {
  private let key = StoreSample.key()
  private let base = DiskLikeStore()

  private func tier(_ base: any CacheStore) -> TieredStore {
    TieredStore(memory: MemoryStore(capacity: 8 << 20), base: base)
  }

  private func store(_ store: any CacheStore) async throws {
    try await store.store(StoreSample.record(), StoreSample.body(1_000))
  }

  @Test("is not read for, until this tier or another one stores it")
  func absent() async throws {
    let (one, other) = (tier(base), tier(base))
    for _ in 1...3 { #expect(try one.read(key).isEmpty) }
    #expect(base.reads == 0)
    #expect(try other.read(key).isEmpty)
    try await store(other)
    #expect(try one.read(key).count == 1)

    try await one.remove(.key(key))
    for _ in 1...3 { #expect(try other.read(key).isEmpty) }
    try await store(other)
    #expect(try other.read(key).count == 1)
    #expect(try one.read(key).count == 1)
  }

  @Test("a first response is copied without a look below, unless it replaces another one")
  func firstCopy() async throws {
    let (one, other) = (tier(base), tier(base))
    func copied() -> CacheRecord? { one.peek(key)?.first?.record }
    #expect(try one.read(key).isEmpty)
    try await store(one)
    #expect(base.variantReads == 0)
    #expect(try copied()?.sequence == base.memory.read(key).first?.record.sequence)

    // Nothing is known of what a response replaces.
    try await store(one)
    #expect(base.variantReads == 1)
    try await one.remove(.key(key))
    #expect(try one.read(key).isEmpty)
    let writer = try await one.write(StoreSample.record(), variantLimit: 8)
    try await writer.append(StoreSample.body(1_000))
    _ = try await base.remove(.key(StoreSample.key("/other")))
    _ = try await writer.commit(trailers: [:])
    #expect(base.variantReads == 1, "what changed before the commit does not matter")

    // A copy goes with the next change, as each does.
    #expect(copied() != nil)
    try await other.invalidate(.key(key))
    #expect(copied() == nil)
  }

  @Test("all variants are found over a store whose generations never change")
  func mute() async throws {
    base.tells.store(false, ordering: .relaxed)
    let tier = tier(base)
    #expect(try tier.read(key).isEmpty)
    // Too long for a copy.
    try await tier.store(StoreSample.record(language: "de"), StoreSample.body(1_100_000))
    try await tier.store(StoreSample.record(language: "en"), StoreSample.body(1_000))
    #expect(try tier.read(key).count == 2)
  }

  @Test("a response that the store below has not admitted is not copied")
  func notAdmitted() async throws {
    let tier = tier(base)
    base.admits.store(false, ordering: .relaxed)
    #expect(try tier.read(key).isEmpty)
    try await store(tier)
    #expect(tier.peek(key) == nil, "a response that is not below must not be above it")
    #expect(try tier.read(key).isEmpty)
  }

  @Test("is looked for each time if that store does not tell of changes")
  func untold() async throws {
    let tier = tier(base.memory)
    #expect(try tier.read(key).isEmpty)
    try await store(base.memory)
    #expect(try tier.read(key).count == 1)
  }
}
