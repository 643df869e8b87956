import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("FaultyStore", .timeLimit(.minutes(10)))
struct FaultyStoreTests {
  private let store = FaultyStore(MemoryStore(capacity: 1 << 20))

  private func write() async throws {
    let writer = try await store.write(StoreSample.record(), variantLimit: 8)
    try await writer.append(StoreSample.body(10))
    try await writer.append(StoreSample.body(10))
    try await writer.commit(trailers: [:])
  }

  @Test("conforms as long as nothing is made to fail", arguments: StoreConformance.checks)
  func conforms(_ check: StoreCheck) async throws {
    try await check.run { requirements in
      FaultyStore(
        MemoryStore(
          capacity: requirements.capacity, largestEntry: requirements.largestEntry,
          clock: requirements.clock))
    }
  }

  @Test(
    "fails the call it is told to, and nothing is stored by it",
    arguments: [(StoreOperation.write, 1), (.append, 2), (.commit, 1)])
  func failures(_ operation: StoreOperation, _ number: Int) async throws {
    store.fail(operation, at: number, with: CacheError(.noSpace, "full"))
    await #expect {
      try await write()
    } throws: { error in
      (error as? CacheError)?.code == .noSpace
    }
    #expect(store.calls(operation) == number)
    #expect(try store.read(StoreSample.key()).isEmpty)
    try await write()
    #expect(try store.read(StoreSample.key()).count == 1)
  }

  @Test("fails to keep and to add to a part, and what was stored stays as it was")
  func parts() async throws {
    let record = CacheRecord(
      key: StoreSample.key(), response: StoreSample.response(), bodyLength: 20, isResumable: true)
    store.fail(.keep)
    for isKept in [false, true] {
      let writer = try await store.write(record, variantLimit: 8)
      try await writer.append(StoreSample.body(10))
      if isKept {
        try await writer.keep()
      } else {
        await #expect(throws: CacheError.self) { try await writer.keep() }
      }
      #expect(try store.read(StoreSample.key()).count == (isKept ? 1 : 0))
    }
    let part = try #require(try store.read(StoreSample.key()).first).record
    store.fail(.extend)
    await #expect(throws: CacheError.self) { _ = try await store.extend(part, at: 10) }
    store.fail(.commit)
    let writer = try await store.extend(part, at: 10)
    try await writer.append(StoreSample.body(10))
    await #expect(throws: CacheError.self) { try await writer.commit(trailers: [:]) }
    #expect(try store.read(StoreSample.key()).first?.record.storedRanges == [0..<10])
    #expect(store.calls(.extend) == 2)
  }

  @Test("fails opening and reading bodies, until it is healed")
  func bodies() async throws {
    try await write()
    let body = try #require(try store.read(StoreSample.key()).first).body
    let reader = try body.open()
    store.fail(.open, times: .max)
    store.fail(.readBody, at: 2)
    #expect(throws: CacheError.self) { try body.open() }
    #expect(throws: CacheError.self) { try body.open() }
    #expect(try await reader.read(0..<5).count == 5)
    await #expect(throws: CacheError.self) { try await reader.read(0..<5) }
    store.heal()
    #expect(try body.open().length == 20)
  }

  @Test("fails to clone a body, and leaves no file")
  func clone() async throws {
    let store = FaultyStore(MemoryStore(capacity: 1 << 20))
    try await store.write(StoreSample.record(), variantLimit: 8).commit(trailers: [:])
    let reader = try #require(try store.read(StoreSample.key()).first).body.open()
    let folder = try ScratchFolder()
    store.fail(.clone)
    await #expect(throws: CacheError.self) { try await reader.clone(to: folder.file("a").path) }
    #expect(folder.names == [])
    try await reader.clone(to: folder.file("a").path)
    #expect(folder.names == ["a"])
  }
}
