import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Synchronization
import Testing

@Suite("TieredStore", .timeLimit(.minutes(10)))
struct TieredStoreTests {
  private let key = StoreSample.key()
  private let base = DiskLikeStore()

  private func tier(_ base: (any CacheStore)? = nil, memory: Int64 = 8 << 20) -> TieredStore {
    TieredStore(memory: MemoryStore(capacity: memory), base: base ?? self.base)
  }

  @discardableResult
  private func store(
    _ store: any CacheStore, _ record: CacheRecord, size: Int, seed: UInt64 = 1
  ) async throws -> CacheRecord {
    try await store.store(record, StoreSample.body(size, seed: seed), piece: size)
  }

  private func peeked(_ store: any CacheStore) -> [StoredVariant]? { store.peek(key) }

  private func peekedBytes(_ store: any CacheStore) throws -> [UInt8]? {
    try peeked(store)?.first?.body.open().bytesInMemory?.array
  }

  @Test("answers from memory what it has just stored, whether or not it replaced something")
  func storedIsInMemory() async throws {
    let tier = tier()
    #expect(peeked(tier) == nil)
    for seed in 1...3 as ClosedRange<UInt64> {
      try await store(tier, StoreSample.record(), size: 100_000, seed: seed)
      #expect(try peekedBytes(tier) == StoreSample.body(100_000, seed: seed).array)
    }
    #expect(base.reads == 0)
    #expect(base.uses == 0)
    await tier.flush()
    #expect(base.uses == 3)
  }

  @Test("keeps its copies when the store below gets the capacity 0, unless they are out of date")
  func baseSwitchedOff() async throws {
    let (tier, other) = (tier(), tier())
    try await store(tier, StoreSample.record(), size: 1_000)
    try await tier.setCapacity(memory: nil, disk: 0)
    #expect(try base.read(key).isEmpty)
    let kept = try #require(try tier.read(key).first)
    #expect(kept.record.isMemoryOnly && !kept.record.response.isInvalidated)
    #expect(try kept.body.open().bytesInMemory?.array == StoreSample.body(1_000).array)
    // A response that is only in memory follows later changes, also of another process.
    try await other.invalidate(.key(key))
    #expect(try tier.read(key).first?.record.response.isInvalidated == true)
    #expect(try await tier.remove(.all) == 1)
    #expect(try tier.read(key).isEmpty)

    try await tier.setCapacity(memory: nil, disk: 32 << 20)
    try await store(tier, StoreSample.record(), size: 1_000)
    try await other.invalidate(.key(key))
    try await tier.setCapacity(memory: nil, disk: 0)
    #expect(try tier.read(key).isEmpty, "the copy was out of date")
  }

  @Test("notices at once what another tier over the same store replaced, invalidated or removed")
  func otherProcesses() async throws {
    let one = tier()
    let other = tier()
    try await store(one, StoreSample.record(), size: 1_000, seed: 1)
    _ = try other.read(key).first?.body.open()
    #expect(try peekedBytes(other) == StoreSample.body(1_000, seed: 1).array)

    try await store(other, StoreSample.record(tag: "\"2\""), size: 1_000, seed: 2)
    #expect(peeked(one) == nil)
    let bytes = try await one.read(key).first?.body.open().read(0..<2_000)
    #expect(bytes?.array == StoreSample.body(1_000, seed: 2).array)
    #expect(try peekedBytes(one) == StoreSample.body(1_000, seed: 2).array)

    try await other.invalidate(.key(key))
    #expect(peeked(one) == nil)
    #expect(try one.read(key).first?.record.response.isInvalidated == true)

    try await other.remove(.key(key))
    #expect(peeked(one) == nil)
    #expect(try one.read(key).isEmpty)
  }

  @Test("copies a body that comes with its record when it is opened, a longer one when it was read")
  func promotion() async throws {
    for size in [1_000, 200_000] {
      let base = DiskLikeStore()
      try await store(base.memory, StoreSample.record(), size: size)
      let tier = tier(base)
      let reader = try #require(try tier.read(key).first).body.open()
      #expect((peeked(tier) != nil) == (size == 1_000))
      var start: Int64 = 0
      while start < Int64(size) {
        start += Int64(try await reader.read(start..<start + 64_000).count)
      }
      #expect(try peekedBytes(tier) == StoreSample.body(size).array)
    }
  }

  @Test("does not copy a body that was read with a gap, nor one above the limit")
  func noPromotion() async throws {
    try await store(base.memory, StoreSample.record(), size: 200_000)
    let tier = tier()
    let reader = try #require(try tier.read(key).first).body.open()
    _ = try await reader.read(0..<1_000)
    _ = try await reader.read(1_001..<200_000)
    #expect(peeked(tier) == nil)

    let small = TieredStore(
      memory: MemoryStore(capacity: 8 << 20), base: base, promotionLimit: 100_000)
    let other = try #require(try small.read(key).first).body.open()
    #expect(try await other.read(0..<200_000).count == 200_000)
    #expect(peeked(small) == nil)
    try await store(small, StoreSample.record(), size: 200_000, seed: 2)
    #expect(peeked(small) == nil)
    #expect(small.usage.memoryBytes == 0)
  }

  @Test("has all variants of a key in memory or none")
  func variantsTogether() async throws {
    try await store(base.memory, StoreSample.record(language: "de"), size: 200_000, seed: 1)
    let tier = tier()
    try await store(tier, StoreSample.record(language: "en"), size: 1_000, seed: 2)
    #expect(peeked(tier) == nil)
    try await store(tier, StoreSample.record(language: "de"), size: 1_000, seed: 3)
    #expect(peeked(tier)?.count == 2)
    try await store(tier, StoreSample.record(language: "fr"), size: 1_000, seed: 4)
    #expect(peeked(tier)?.count == 3)
  }

  @Test("keeps the body in memory when a response is freshened")
  func freshening() async throws {
    let tier = tier()
    let record = try await store(tier, StoreSample.record(), size: 200_000)
    var response = record.response
    response.responseTime = StoreSample.start.adding(60)
    #expect(try await tier.update(record.with(response: response)))
    #expect(peeked(tier)?.first?.record.response == response)
    #expect(try peekedBytes(tier) == StoreSample.body(200_000).array)
    #expect(try base.read(key).first?.record.response == response)
  }

  @Test("forgets a copy that cannot be freshened because the store below no longer has it")
  func evictedBelow() async throws {
    let tier = tier()
    let record = try await store(tier, StoreSample.record(), size: 1_000)
    try await base.memory.remove(.all)
    #expect(peeked(tier) != nil)
    #expect(try await tier.update(record) == false)
    #expect(peeked(tier) == nil)
    #expect(try tier.read(key).isEmpty)
  }

  @Test(
    "keeps in memory alone what the store below fails to store, and tells of it",
    arguments: [StoreOperation.write, .append, .commit])
  func fallback(_ operation: StoreOperation) async throws {
    let faulty = FaultyStore(base)
    let failures = Mutex<[String]>([])
    let tier = TieredStore(memory: MemoryStore(capacity: 8 << 20), base: faulty) { name, error in
      failures.withLock { $0.append("\(name) \(error.code)") }
    }
    try await store(tier, StoreSample.record(), size: 1_000, seed: 1)
    faulty.fail(operation, with: CacheError(.noSpace, "full"))
    let stored = try await store(tier, StoreSample.record(tag: "\"2\""), size: 50_000, seed: 2)
    #expect(stored.isMemoryOnly)
    #expect(failures.withLock { $0 } == ["\(operation.rawValue) no space left"])
    let variants = try tier.read(key)
    #expect(variants.count == 1)
    #expect(variants.first?.record.response.head.headerFields[.eTag] == "\"2\"")
    #expect(try peekedBytes(tier) == StoreSample.body(50_000, seed: 2).array)
    // The older response below is found when memory drops the newer one, but must then be validated.
    #expect(try base.read(key).first?.record.response.isInvalidated == true)

    try await store(tier, StoreSample.record(tag: "\"3\""), size: 1_000, seed: 3)
    #expect(try tier.read(key).map { $0.record.isMemoryOnly } == [false])
    #expect(try peekedBytes(tier) == StoreSample.body(1_000, seed: 3).array)
  }

  @Test("passes on the error of the store below where memory has not the whole body")
  func noFallback() async throws {
    let faulty = FaultyStore(base)
    let tier = TieredStore(
      memory: MemoryStore(capacity: 8 << 20), base: faulty, promotionLimit: 1_000)
    faulty.fail(.append, at: 2, with: CacheError(.noSpace, "full"))
    let writer = try await tier.write(StoreSample.record(), variantLimit: 8)
    try await writer.append(StoreSample.body(5_000))
    let reader = try writer.reader()
    await #expect(throws: CacheError.self) { try await writer.append(StoreSample.body(10)) }
    await #expect(throws: CacheError.self) { try await writer.commit(trailers: [:]) }
    #expect(try await reader.read(0..<9_000).array == StoreSample.body(5_000).array)
    #expect(try tier.read(key).isEmpty)
    #expect(tier.usage.memoryBytes == 0)
  }

  @Test(
    "what many receive at once is copied into memory up to a quarter of its capacity, and read all the same")
  func receivedTogether() async throws {
    let tier = TieredStore(memory: MemoryStore(capacity: 1 << 20), base: base)
    var writers: [(writer: any BodyWriter, reader: any BodyReader)] = []
    for index in 0..<40 {
      let record = StoreSample.record(StoreSample.key("/\(index)"))
      let writer = try await tier.write(record, variantLimit: 8)
      writers.append((writer, try writer.reader()))
    }
    for piece in 0..<4 {
      for (index, pair) in writers.enumerated() {
        try await pair.writer.append(StoreSample.body(20_000, seed: UInt64(index * 4 + piece)))
        #expect(tier.usage.memoryBytes <= 256 << 10)
      }
    }
    for (index, pair) in writers.enumerated() {
      try await pair.writer.commit(trailers: [:])
      let read = try await pair.reader.read(40_000..<60_000)
      #expect(read.array == StoreSample.body(20_000, seed: UInt64(index * 4 + 2)).array)
    }
    #expect(tier.usage.memoryBytes <= 1 << 20)
  }

  @Test("a reader of a growing body goes on when the copy in memory gets too long")
  func growingBeyondTheLimit() async throws {
    let tier = TieredStore(
      memory: MemoryStore(capacity: 8 << 20), base: base, promotionLimit: 10_000)
    let body = StoreSample.body(30_000)
    let writer = try await tier.write(StoreSample.record(), variantLimit: 8)
    let reader = try writer.reader()
    for start in stride(from: 0, to: 30_000, by: 6_000) {
      try await writer.append(body[start..<start + 6_000])
      #expect(try await reader.read(0..<40_000).array == body.prefix(start + 6_000).array)
    }
    try await writer.commit(trailers: [:])
    #expect(try await reader.read(0..<40_000).array == body.array)
    #expect(tier.usage.memoryBytes == 0)
  }

  @Test("responses for memory only never reach the store below, and are listed and removed")
  func memoryOnly() async throws {
    let tier = tier()
    try await store(tier, StoreSample.record(language: "de"), size: 1_000, seed: 1)
    let record = try await store(
      tier, StoreSample.memoryOnly(language: "en", time: StoreSample.start.adding(5)),
      size: 1_000, seed: 2)
    #expect(try base.read(key).count == 1)
    #expect(try tier.read(key).map { $0.record.isMemoryOnly } == [true, false])
    #expect(peeked(tier)?.count == 2)

    var listed: [Bool] = []
    var cursor: EntryCursor?
    repeat {
      let page = try await tier.entries(.all, after: cursor, limit: 1)
      listed += page.entries.map(\.record.isMemoryOnly)
      cursor = page.next
    } while cursor != nil
    #expect(listed == [false, true])

    #expect(try await tier.update(record.with(userInfo: [9])))
    #expect(try tier.read(key).first?.record.userInfo == [9])
    #expect(try await tier.invalidate(.key(key)) == 2)
    #expect(try tier.read(key).allSatisfy { $0.record.response.isInvalidated })
    #expect(try await tier.remove(.all) == 2)
    #expect(try tier.read(key).isEmpty)
    #expect(tier.usage.memoryBytes == 0)
  }

  @Test("answers from memory what is only there when the store below cannot be read")
  func unreadableBase() async throws {
    let faulty = FaultyStore(PlainStore(base))
    let tier = TieredStore(memory: MemoryStore(capacity: 8 << 20), base: faulty)
    faulty.fail(.read)
    #expect(throws: CacheError.self) { try tier.read(key) }
    try await store(tier, StoreSample.memoryOnly(), size: 10)
    try await faulty.base.invalidate(.all)
    faulty.fail(.read, times: .max)
    #expect(try tier.read(key).count == 1)
  }
}
