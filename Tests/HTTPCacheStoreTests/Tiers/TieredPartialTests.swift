import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("TieredStore and parts of bodies", .timeLimit(.minutes(10)))
struct TieredPartialTests {
  private let key = StoreSample.key()
  private let body = StoreSample.body(40_000)
  private let base = DiskLikeStore()

  private func begin(
    _ tier: TieredStore, isMemoryOnly: Bool = false, time: Int64 = 0, keeping count: Int
  ) async throws -> CacheRecord? {
    let record = CacheRecord(
      key: key, response: StoreSample.response(time: StoreSample.start.adding(time)),
      bodyLength: 40_000, isMemoryOnly: isMemoryOnly, isResumable: true)
    let writer = try await tier.write(record, variantLimit: 8)
    try await writer.append(body.prefix(count))
    return try await writer.keep()
  }

  @Test("memory has no copies of parts, and still answers the whole one right")
  func noCopies() async throws {
    let tier = base.tier()
    let whole = try await tier.write(StoreSample.record(tag: "\"old\""), variantLimit: 8)
    try await whole.append(StoreSample.body(1_000, seed: 9))
    let old = try await whole.commit(trailers: [:])
    #expect(tier.usage.memoryEntries == 1)
    let part = try #require(try await begin(tier, keeping: 10_000))
    #expect(tier.usage.memoryBytes == 0)
    for _ in 0..<3 {
      let found = try tier.read(key)
      #expect(found.map(\.record.sequence) == [part.sequence, old.sequence])
      let bytes = try await found.last?.body.open().read(0..<1_000)
      #expect(bytes?.array == StoreSample.body(1_000, seed: 9).array)
      #expect(tier.peek(key) == nil, "memory tells of some variants only")
    }
    let writer = try await tier.extend(part, at: 10_000)
    try await writer.append(body.dropFirst(10_000))
    try await writer.commit(trailers: [:])
    #expect(try tier.read(key).map(\.record.isComplete) == [true])
    let found = try await tier.read(key).first?.body.open().read(0..<40_000)
    #expect(found?.array == body.array)
  }

  @Test(
    "parts for memory only are not stored, and what is stored goes, if another process wipes their partition")
  func wiped() async throws {
    let tier = base.tier()
    let part = try #require(try await begin(tier, isMemoryOnly: true, keeping: 10_000))
    let writer = try await tier.extend(part.with(ticket: tier.ticket()), at: 10_000)
    try await writer.append(body.dropFirst(10_000))
    let ticket = tier.ticket()
    _ = try await base.wipe(mode: key.mode, partition: key.partition)
    let error = await #expect(throws: CacheError.self) { try await writer.commit(trailers: [:]) }
    #expect(error?.code == .wiped)
    let late = try await tier.write(
      StoreSample.memoryOnly(key).storing([5..<10], bodyLength: 100).with(ticket: ticket), variantLimit: 8)
    try await late.append(body.prefix(5))
    let second = await #expect(throws: CacheError.self) { try await late.commit(trailers: [:]) }
    #expect(second?.code == .wiped)
    #expect(try tier.read(key).isEmpty)
    #expect(tier.usage.memoryEntries == 0)
  }

  @Test("parts for memory only stay in memory, and are completed there")
  func memoryOnly() async throws {
    let tier = base.tier()
    let part = try #require(try await begin(tier, isMemoryOnly: true, keeping: 10_000))
    #expect(part.storedRanges == [0..<10_000])
    #expect(try base.read(key).isEmpty)
    let writer = try await tier.extend(part, at: 10_000)
    try await writer.append(body.dropFirst(10_000))
    #expect(try await writer.commit(trailers: [:]).isComplete)
    #expect(try base.read(key).isEmpty)
    let ranged = StoreSample.memoryOnly(StoreSample.key("/part"))
      .storing([5..<10], bodyLength: 100)
    let other = try await tier.write(ranged, variantLimit: 8)
    try await other.append(body.prefix(5))
    try await other.commit(trailers: [:])
    #expect(try base.read(StoreSample.key("/part")).isEmpty)
    #expect(try tier.read(StoreSample.key("/part")).first?.record.storedRanges == [5..<10])
  }

  @Test("a part in memory alone does not hide the whole one below, nor one below the whole in memory")
  func bothTiers() async throws {
    let tier = base.tier()
    let whole = try await tier.write(StoreSample.record(), variantLimit: 8)
    try await whole.append(StoreSample.body(1_000, seed: 9))
    try await whole.commit(trailers: [:])
    _ = try await begin(tier, isMemoryOnly: true, time: 5, keeping: 10_000)
    for _ in 0..<2 { #expect(try tier.read(key).map(\.record.isComplete) == [false, true]) }
    let other = base.tier()
    let own = try await other.write(
      StoreSample.memoryOnly(time: StoreSample.start.adding(9)), variantLimit: 8)
    try await own.append(StoreSample.body(500))
    try await own.commit(trailers: [:])
    _ = try await begin(other, time: 10, keeping: 10_000)
    for _ in 0..<2 { #expect(try other.read(key).contains { $0.record.isMemoryOnly }) }
  }

  @Test("what the store below refuses to keep is not kept in memory instead")
  func failures() async throws {
    let faulty = FaultyStore(base)
    let tier = TieredStore(memory: MemoryStore(capacity: 8 << 20), base: faulty)
    faulty.fail(.keep)
    await #expect(throws: CacheError.self) { _ = try await begin(tier, keeping: 10_000) }
    #expect(try tier.read(key).isEmpty)
    faulty.fail(.append)
    #expect(try await begin(tier, keeping: 10_000) == nil)
    #expect(try tier.read(key).isEmpty)
    #expect(tier.usage.memoryBytes == 0)
  }
}
