import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct DiskStoreTests {
  @Test(
    "a body of any size is read as it was written",
    arguments: [0, 1, 16_384, 16_385, 262_143, 262_144, 262_145, 1_000_000, 3_000_001])
  func roundTrip(size: Int) async throws {
    let fixture = try Fixture()
    let body = bytes(size)
    let stored = try await fixture.store.put(try record("/a"), body, pieces: 10_007)
    #expect(stored.bodyLength == Int64(size))
    #expect(stored.sequence > 0)
    let variants = try fixture.store.read(key("/a"))
    #expect(variants.count == 1)
    let found = try #require(variants.first)
    #expect(
      found.record.response.head.headerFields.map(\.name.rawName)
        == ["Content-Type", "X-Two", "x-two"])
    #expect(found.record.userInfo == [1, 2, 3])
    #expect(found.record.sequence == stored.sequence)
    #expect(try await fixture.store.body(key("/a")) == body)
    let files = try fixture.directory.bodyFiles()
    #expect(files.count == (size > 16_384 ? 1 : 0))
    let path = try await fixture.store.entries(.all, after: nil, limit: 9).entries.first?.bodyPath
    #expect((path != nil) == (size > 16_384), "an inline body has no path")
    if let path {
      let data = FileManager.default.contents(atPath: path)
      #expect(data.map { Array($0) } == body, "the file holds exactly the body")
    }
  }

  @Test("a stored response is found after closing and opening again")
  func persists() async throws {
    let directory = try ScratchFolder()
    let body = bytes(300_000)
    let secret: [UInt8]
    do {
      let store = try DiskStore.open(directory: directory.path("cache"), capacity: 1 << 24)
      try await store.put(try record("/a"), body)
      try await store.put(try record("/b"), [1, 2, 3])
      store.count(CacheCounts(hits: 3, hitBytes: 7))
      secret = store.secret
      await store.close()
    }
    let store = try DiskStore.open(directory: directory.path("cache"), capacity: 1 << 24)
    #expect(try await store.body(key("/a")) == body)
    #expect(try await store.body(key("/b")) == [1, 2, 3])
    #expect(store.openingNotes.isEmpty)
    #expect(store.secret == secret)
    #expect(secret.count == 32)
    #expect(try await store.counts() == CacheCounts(hits: 3, hitBytes: 7))
    #expect(store.usage.diskEntries == 2)
  }

  @Test("two directories have different secrets")
  func secrets() throws {
    #expect(try Fixture().store.secret != (try Fixture().store.secret))
  }

  @Test("the directory is the user's alone")
  func modes() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/a"), bytes(300_000))
    let root = fixture.directory.path("cache")
    var seen = 0
    for name in [""] + (try FileManager.default.subpathsOfDirectory(atPath: root)) {
      let attributes = try FileManager.default.attributesOfItem(atPath: root + "/" + name)
      let mode = try #require((attributes[.posixPermissions] as? NSNumber)?.intValue)
      let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
      #expect(mode == (isFolder ? 0o700 : 0o600), "\(name) has \(String(mode, radix: 8))")
      seen += 1
    }
    #expect(seen >= 8)
  }

  @Test("an abandoned, dropped or refused writer leaves nothing")
  func abandoned() async throws {
    let fixture = try Fixture(largestEntry: .bytes(600_000))
    try await fixture.store.put(try record("/a"), [7])
    var writer: (any BodyWriter)? = try await fixture.store.write(
      try record("/a"), variantLimit: 8)
    try await writer?.append(BodyBytes(bytes(600_000)))
    #expect(try fixture.directory.bodyFiles().count == 1)
    writer = nil
    let second = try await fixture.store.write(try record("/b"), variantLimit: 8)
    try await second.append(BodyBytes(bytes(600_000)))
    let reader = try second.reader()
    second.abandon()
    second.abandon()
    await #expect(throws: CacheError.self) { try await second.append(BodyBytes([1])) }
    await #expect(throws: CacheError.self) { try await second.commit(trailers: [:]) }
    let third = await #expect(throws: CacheError.self) {
      try await fixture.store.put(try record("/c"), bytes(600_001))
    }
    #expect(third?.code == .tooLarge)
    // A thread of the store deletes the files, so wait.
    try await until { try fixture.directory.bodyFiles().isEmpty }
    #expect(try await reader.read(0..<600_000).array == bytes(600_000))
    #expect(try await fixture.store.body(key("/a")) == [7])
    #expect(try fixture.store.read(key("/b")).isEmpty)
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test("a memory-only record is refused")
  func memoryOnly() async throws {
    let fixture = try Fixture()
    await #expect(throws: CacheError.self) {
      _ = try await fixture.store.write(try record("/a", isMemoryOnly: true), variantLimit: 8)
    }
  }
}
