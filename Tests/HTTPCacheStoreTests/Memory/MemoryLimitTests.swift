import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPTypes
import Testing

@testable import HTTPCacheStore

@Suite("Memory counts what is coming in", .timeLimit(.minutes(5)))
struct MemoryLimitTests {
  private static let (capacity, slack): (Int64, Int64) = (4 << 20, 1 << 20)

  private func record(
    _ path: String, length: Int64?, isPinned: Bool = false, isMemoryOnly: Bool = false
  ) -> CacheRecord {
    CacheRecord(
      key: StoreSample.key(path), response: StoreSample.response(), bodyLength: length,
      isPinned: isPinned, isMemoryOnly: isMemoryOnly)
  }

  /// Writes `count` bodies at once, a piece of each in turn.
  ///
  /// - Returns: the number of committed bodies, and the highest usage that the store reported.
  private func writeTogether(
    _ count: Int, of size: Int64, isAnnounced: Bool, isMemoryOnly: Bool = false, in store: some CacheStore
  ) async throws -> (committed: Int, peak: Int64) {
    var writers: [any BodyWriter] = []
    for index in 0..<count {
      let record = record("/\(index)", length: isAnnounced ? size : nil, isMemoryOnly: isMemoryOnly)
      do { writers.append(try await store.write(record, variantLimit: 8)) } catch {
        #expect(error.code == .notAdmitted)
      }
    }
    let piece = StoreSample.body(64 << 10)
    var peak: Int64 = 0
    var written: Int64 = 0
    while written < size {
      for (index, writer) in writers.enumerated().reversed() {
        do { try await writer.append(piece) } catch {
          #expect(error.code == .notAdmitted)
          writer.abandon()
          writers.remove(at: index)
        }
        peak = max(peak, store.usage.memoryBytes)
      }
      written += Int64(piece.count)
    }
    for writer in writers { try await writer.commit(trailers: [:]) }
    return (writers.count, max(peak, store.usage.memoryBytes))
  }

  @Test(
    "bodies that are written together take no more than the capacity, and as many as fit are stored, in a tier too",
    arguments: [true, false], [true, false])
  func together(isAnnounced: Bool, inTier: Bool) async throws {
    let memory = MemoryStore(capacity: Self.capacity, largestEntry: .share(0.5))
    let store: any CacheStore = inTier ? TieredStore(memory: memory, base: DiskLikeStore()) : memory
    let (committed, peak) = try await writeTogether(
      60, of: 1 << 20, isAnnounced: isAnnounced, isMemoryOnly: inTier, in: store)
    #expect(peak <= Self.capacity + Self.slack)
    #expect(committed >= 3)
    #expect(memory.usage.memoryEntries >= 3)
    try await store.remove(.all)
    #expect(store.usage.memoryBytes == 0)
  }

  @Test("bodies that grow make room for themselves")
  func makesRoom() async throws {
    let memory = MemoryStore(capacity: Self.capacity, largestEntry: .share(0.75))
    for index in 0..<30 {
      let writer = try await memory.write(record("/old/\(index)", length: 120_000), variantLimit: 8)
      try await writer.append(StoreSample.body(120_000))
      try await writer.commit(trailers: [:])
    }
    // A large body may displace entries that are worth less: it was requested more often.
    for _ in 0..<15 { _ = try memory.read(StoreSample.key("/new")) }
    let writer = try await memory.write(record("/new", length: nil), variantLimit: 8)
    let piece = StoreSample.body(128 << 10)
    for _ in 0..<20 {
      try await writer.append(piece)
      #expect(memory.usage.memoryBytes <= Self.capacity + Self.slack)
    }
    try await writer.commit(trailers: [:])
    #expect(memory.group(StoreSample.key("/new")) != nil)
    #expect(memory.usage.memoryBytes <= Self.capacity)
  }

  @Test("a body that grows displaces nothing that is worth more")
  func worthMore() async throws {
    let memory = MemoryStore(capacity: Self.capacity, largestEntry: .share(0.75))
    for index in 0..<34 {
      let writer = try await memory.write(record("/old/\(index)", length: 120_000), variantLimit: 8)
      try await writer.append(StoreSample.body(120_000))
      try await writer.commit(trailers: [:])
      for _ in 0..<10 { _ = memory.peek(StoreSample.key("/old/\(index)")) }
    }
    let writer = try await memory.write(record("/new", length: nil), variantLimit: 8)
    let piece = StoreSample.body(128 << 10)
    let error = await #expect(throws: CacheError.self) {
      for _ in 0..<20 { try await writer.append(piece) }
    }
    #expect(error?.code == .notAdmitted)
    writer.abandon()
    #expect(memory.usage.memoryEntries == 34)
  }

  @Test("an announced length that does not come leaves room when its writer gives up")
  func announcedOnly() async throws {
    let memory = MemoryStore(capacity: Self.capacity, largestEntry: .share(1))
    let first = try await memory.write(record("/1", length: 3 << 20), variantLimit: 8)
    await #expect(throws: CacheError.self) {
      try await memory.write(record("/2", length: 2 << 20), variantLimit: 8)
    }
    first.abandon()
    let second = try await memory.write(record("/2", length: 2 << 20), variantLimit: 8)
    second.abandon()
  }

  @Test("bytes that a reader still holds count after their writer gave up")
  func heldByReader() async throws {
    let memory = MemoryStore(capacity: Self.capacity)
    let writer = try await memory.write(record("/", length: nil), variantLimit: 8)
    try await writer.append(StoreSample.body(100_000))
    do {
      let reader = try writer.reader()
      writer.abandon()
      #expect(memory.usage.memoryBytes == 100_000)
      #expect(try await reader.read(0..<100_000).count == 100_000)
    }
    let unread = try await memory.write(record("/", length: nil), variantLimit: 8)
    try await unread.append(StoreSample.body(50_000))
    unread.abandon()
    #expect(memory.usage.memoryBytes == 100_000)
    #expect(throws: CacheError.self) { try unread.reader() }
  }

  @Test("parts that are added to count, and are refused without room")
  func extensions() async throws {
    let memory = MemoryStore(capacity: Self.capacity, largestEntry: .share(1))
    var parts: [CacheRecord] = []
    for index in 0..<6 {
      let part = CacheRecord(
        key: StoreSample.key("/\(index)"), response: StoreSample.response(), bodyLength: 3 << 20,
        storedRanges: [0..<1_000], isPinned: true)
      let writer = try await memory.write(part, variantLimit: 8)
      try await writer.append(StoreSample.body(1_000))
      parts.append(try await writer.commit(trailers: [:]))
    }
    var writers: [any BodyWriter] = []
    for part in parts { writers.append(try await memory.extend(part, at: 1_000)) }
    let piece = StoreSample.body(64 << 10)
    var refused = 0
    for _ in 0..<40 {
      for (index, writer) in writers.enumerated().reversed() {
        do { try await writer.append(piece) } catch {
          writer.abandon()
          writers.remove(at: index)
          refused += 1
        }
        #expect(memory.usage.memoryBytes <= Self.capacity + Self.slack)
      }
    }
    #expect(refused > 0 && refused < 6)
    for writer in writers { writer.abandon() }
    try await memory.remove(.all)
    #expect(memory.usage.memoryBytes == 0)
  }

  @Test("evicts what can go in the shard of the entry that has to stay")
  func sparedIsLowest() async throws {
    let memory = MemoryStore(capacity: 200_000, largestEntry: .share(1))
    let spared = StoreSample.key("/spared")
    // One entry beside the spared one, and one in another shard, worth more than the first and less than the
    // second.
    let keys = (0...).lazy.map { StoreSample.key("/\($0)") }
    let beside = try #require(keys.first { memory.shard(of: $0) === memory.shard(of: spared) })
    let elsewhere = try #require(keys.first { memory.shard(of: $0) !== memory.shard(of: spared) })
    for (key, size, uses) in [(spared, 100_000, 0), (elsewhere, 2_000, 0), (beside, 90_000, 15)] {
      let record = CacheRecord(key: key, response: StoreSample.response(), bodyLength: Int64(size))
      let writer = try await memory.write(record, variantLimit: 8)
      try await writer.append(StoreSample.body(size))
      try await writer.commit(trailers: [:])
      for _ in 0..<uses { _ = memory.peek(key) }
    }
    #expect(memory.usage.memoryEntries == 3)
    memory.evictExcess(over: 120_000, sparing: spared)
    #expect(memory.group(spared) != nil)
    #expect(memory.group(beside) == nil)
    #expect(memory.usage.memoryBytes <= 120_000)
  }
}
