import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPTypes
import Testing

@testable import HTTPCacheStore

@Suite("MemoryStore", .timeLimit(.minutes(10)))
struct MemoryStoreTests {
  private func store(
    _ store: MemoryStore, _ path: String, size: Int = 1_000, isPinned: Bool = false
  ) async throws {
    let key = StoreSample.key(path)
    _ = try store.read(key)
    let record = CacheRecord(
      key: key, response: StoreSample.response(), bodyLength: Int64(size), isPinned: isPinned)
    try await store.store(record, StoreSample.body(size), piece: size)
  }

  private func has(_ store: MemoryStore, _ path: String) -> Bool {
    store.group(StoreSample.key(path)) != nil
  }

  @Test("knows what it does not have")
  func absent() async throws {
    let memory = MemoryStore(capacity: 1 << 20)
    #expect(memory.peek(StoreSample.key())?.isEmpty == true)
    try await store(memory, "/")
    let variants = memory.peek(StoreSample.key())
    #expect(try variants?.first?.body.open().bytesInMemory?.array == StoreSample.body(1_000).array)
  }

  @Test("evicts what is worth least: the large before the small, the unused before the used")
  func worth() async throws {
    let memory = MemoryStore(capacity: 100_000, largestEntry: 100_000)
    try await store(memory, "/large", size: 40_000)
    try await store(memory, "/used", size: 20_000)
    try await store(memory, "/unused", size: 20_000)
    for _ in 0..<3 { _ = memory.peek(StoreSample.key("/used")) }
    try await store(memory, "/new", size: 30_000)
    #expect(!has(memory, "/large"))
    #expect(has(memory, "/used") && has(memory, "/unused") && has(memory, "/new"))
    try await store(memory, "/newer", size: 20_000)
    try await store(memory, "/newest", size: 20_000)
    #expect(has(memory, "/used"))
    #expect(memory.usage.memoryBytes <= 100_000)
  }

  @Test("commits what it refuses without an error, and does not keep what that was to replace")
  func refusal() async throws {
    let memory = MemoryStore(capacity: 50_000, largestEntry: 50_000)
    let key = StoreSample.key("/small")
    try await store(memory, "/small", size: 10_000)
    for index in 0..<2 { try await store(memory, "/\(index)", size: 15_000) }
    for index in 0..<2 {
      for _ in 0..<10 { _ = memory.peek(StoreSample.key("/\(index)")) }
    }
    try await store(memory, "/small", size: 45_000)
    #expect(has(memory, "/0") && has(memory, "/1"))
    #expect(memory.group(key) == nil)
    #expect(try await memory.counts().evictions == 1)
  }

  @Test("a peek that finds nothing is no use of the key, the read after it is")
  func absentPeek() async throws {
    let memory = MemoryStore(capacity: 100_000, largestEntry: 100_000)
    try await store(memory, "/kept", size: 60_000)
    for _ in 0..<3 { _ = memory.peek(StoreSample.key("/kept")) }
    for _ in 0..<10 { _ = memory.peek(StoreSample.key("/new")) }
    try await store(memory, "/new", size: 60_000)
    #expect(has(memory, "/kept") && !has(memory, "/new"))
    for _ in 0..<10 { _ = try memory.read(StoreSample.key("/new")) }
    try await store(memory, "/new", size: 60_000)
    #expect(has(memory, "/new"))
  }

  @Test("what is stored at the same time stays within the capacity")
  func together() async throws {
    for _ in 0..<20 {
      let memory = MemoryStore(capacity: 100_000, largestEntry: .share(1))
      await withTaskGroup(of: Void.self) { group in
        for index in 0..<16 { group.addTask { try? await store(memory, "/\(index)", size: 30_000) } }
      }
      #expect(memory.usage.memoryBytes <= 100_000 && memory.usage.memoryEntries > 0)
    }
  }

  @Test("is not stuck with entries that were popular once")
  func shiftOfInterest() async throws {
    let memory = MemoryStore(capacity: 200_000, largestEntry: 50_000)
    for index in 0..<60 {
      try await store(memory, "/old/\(index)", size: 2_000)
      for _ in 0..<20 { _ = memory.peek(StoreSample.key("/old/\(index)")) }
    }
    var hits = 0
    for _ in 0..<2_000 {
      let key = StoreSample.key("/new")
      if memory.peek(key)?.isEmpty == false {
        hits += 1
      } else {
        try await store(memory, "/new", size: 30_000)
      }
    }
    #expect(hits > 1_000)
  }

  @Test("refuses a new entry where everything else is pinned")
  func pinned() async throws {
    let memory = MemoryStore(capacity: 50_000, largestEntry: 50_000)
    try await store(memory, "/pinned", size: 40_000, isPinned: true)
    try await store(memory, "/new", size: 20_000)
    #expect(has(memory, "/pinned") && !has(memory, "/new"))
    await #expect(throws: CacheError.self) {
      try await store(memory, "/new", size: 20_000, isPinned: true)
    }
    memory.trimMemory(to: 0)
    #expect(has(memory, "/pinned"))
  }

  @Test("what is pinned at the same time does not take the same room")
  func pinnedTogether() async throws {
    for _ in 0..<20 {
      let memory = MemoryStore(capacity: 1 << 20, largestEntry: .share(1))
      let stored = await withTaskGroup(of: Bool.self) { group in
        for index in 0..<16 {
          group.addTask {
            (try? await store(memory, "/\(index)", size: 250_000, isPinned: true)) != nil
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(memory.usage.memoryBytes <= 1 << 20)
      #expect((1...4).contains(stored))
      #expect(memory.usage.memoryEntries == stored)
    }
  }

  @Test("trims no more than it must")
  func trim() async throws {
    let memory = MemoryStore(capacity: 1 << 20)
    for index in 0..<20 { try await store(memory, "/\(index)", size: 10_000) }
    memory.trimMemory(to: 50_000)
    #expect((30_000...50_000).contains(memory.usage.memoryBytes))
  }

  @Test("stores nothing with no capacity")
  func noCapacity() async throws {
    let memory = MemoryStore(capacity: 0)
    await #expect(throws: CacheError.self) { try await store(memory, "/", size: 1) }
    await #expect(throws: CacheError.self) { try await store(memory, "/", size: 0) }
    #expect(memory.usage == StoreUsage())
  }

  @Test("an announced length that is not kept costs no memory")
  func announcedLength() async throws {
    let memory = MemoryStore(capacity: .max, largestEntry: .bytes(.max))
    let record = StoreSample.record(bodyLength: .max)
    let writer = try await memory.write(record, variantLimit: 8)
    try await writer.append(StoreSample.body(10))
    #expect(try await writer.reader().read(0..<100).array == StoreSample.body(10).array)
    #expect(memory.usage.memoryBytes == 10)
    writer.abandon()
  }

  // holds 9875-2-2
  @Test("groups are scoped to their origin, not to what begins like it")
  func origins() {
    let group = CacheSelection.group(origin: "https://a.example", name: "g")
    func isSelected(_ target: String) -> Bool {
      let record = StoreSample.record(CacheKey(mode: .private, target: target), groups: ["g"])
      return group.matches(record, lastUsed: Timestamp(seconds: 0))
    }
    #expect(isSelected("https://a.example/x"))
    #expect(isSelected("https://a.example"))
    #expect(!isSelected("https://a.example:444/"))
    #expect(!isSelected("https://a.example.net/"))
  }
}
