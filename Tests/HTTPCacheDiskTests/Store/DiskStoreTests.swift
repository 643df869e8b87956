import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
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
    for file in files {
      let data = FileManager.default.contents(
        atPath: fixture.directory.path("cache/bodies/" + file))
      #expect(data.map { Array($0) } == body, "the file holds exactly the body")
    }
  }

  @Test("a stored response is found after closing and opening again")
  func persists() async throws {
    let directory = try TemporaryDirectory()
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

  @Test("variants differ by their nominated fields, newest first, and the oldest are removed")
  func variants() async throws {
    let fixture = try Fixture()
    for (index, language) in ["de", "en", "fr"].enumerated() {
      try await fixture.store.put(
        try record("/a", language: language), [UInt8(index)], variantLimit: 2)
    }
    let found = try fixture.store.read(key("/a"))
    #expect(found.map { $0.record.response.nominated.first?.value } == [.text("fr"), .text("en")])
    try await fixture.store.put(try record("/a", language: "en"), [9], variantLimit: 2)
    let again = try fixture.store.read(key("/a"))
    #expect(again.map { $0.record.response.nominated.first?.value } == [.text("en"), .text("fr")])
    #expect(try await fixture.store.body(key("/a")) == [9])
    #expect(fixture.store.usage.diskEntries == 2)
  }

  @Test("keys that differ in partition, mode or method do not see each other")
  func partitions() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/a", partition: "one"), [1])
    #expect(try fixture.store.read(key("/a", partition: "one")).count == 1)
    #expect(try fixture.store.read(key("/a")).isEmpty)
    #expect(try fixture.store.read(key("/a", partition: "one", mode: .shared)).isEmpty)
  }

  @Test("freshening keeps the body and clears an invalidation; updating a replaced record does nothing")
  func update() async throws {
    let fixture = try Fixture()
    let body = bytes(20_000)
    let old = try await fixture.store.put(try record("/a"), body)
    #expect(try await fixture.store.invalidate(.prefix("https://example.com/")) == 1)
    let marked = try #require(try fixture.store.read(key("/a")).first?.record)
    #expect(marked.response.isInvalidated)
    var response = old.response
    response.head.headerFields[.eTag] = "\"new\""
    let ticket = fixture.store.ticket()
    #expect(
      try await fixture.store.update(marked.with(response: response, groups: ["g"], ticket: ticket)))
    let fresh = try #require(try fixture.store.read(key("/a")).first?.record)
    #expect(!fresh.response.isInvalidated)
    #expect(fresh.response.head.headerFields[.eTag] == "\"new\"")
    #expect(fresh.groups == ["g"])
    #expect(try await fixture.store.body(key("/a")) == body)
    try await fixture.store.put(try record("/a"), [1])
    #expect(try await fixture.store.update(old) == false)
    #expect(try await fixture.store.body(key("/a")) == [1])
  }

  @Test("an abandoned or dropped writer leaves nothing")
  func abandoned() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/a"), [7])
    var writer: (any BodyWriter)? = try await fixture.store.write(
      try record("/a"), variantLimit: 8)
    try await writer?.append(BodyBytes(bytes(600_000)))
    #expect(try fixture.directory.bodyFiles().count == 1)
    writer = nil
    let second = try await fixture.store.write(try record("/b"), variantLimit: 8)
    try await second.append(BodyBytes(bytes(600_000)))
    second.abandon()
    second.abandon()
    await #expect(throws: CacheError.self) { try await second.append(BodyBytes([1])) }
    await #expect(throws: CacheError.self) { try await second.commit(trailers: [:]) }
    // A thread of the store deletes the files, so wait.
    try await until { try fixture.directory.bodyFiles().isEmpty }
    #expect(try await fixture.store.body(key("/a")) == [7])
    #expect(try fixture.store.read(key("/b")).isEmpty)
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test("a body that is not as long as announced is not stored")
  func announcedLength() async throws {
    let fixture = try Fixture()
    for length in [2, 4] as [Int64] {
      let writer = try await fixture.store.write(
        try record("/a", bodyLength: length), variantLimit: 8)
      try await writer.append(BodyBytes([1, 2, 3]))
      await #expect(throws: CacheError.self) { try await writer.commit(trailers: [:]) }
    }
    #expect(try fixture.store.read(key("/a")).isEmpty)
  }

  @Test("a memory-only record is refused")
  func memoryOnly() async throws {
    let fixture = try Fixture()
    await #expect(throws: CacheError.self) {
      _ = try await fixture.store.write(try record("/a", isMemoryOnly: true), variantLimit: 8)
    }
  }

  @Test("trailers are stored and read")
  func trailers() async throws {
    let fixture = try Fixture()
    let writer = try await fixture.store.write(try record("/a"), variantLimit: 8)
    try await writer.append(BodyBytes([1]))
    let stored = try await writer.commit(trailers: [.eTag: "\"t\""])
    #expect(stored.response.trailers[.eTag] == "\"t\"")
    #expect(try fixture.store.read(key("/a")).first?.record.response.trailers[.eTag] == "\"t\"")
    #expect(stored.response.head.headerFields[.eTag] == nil)
  }

  @Test("a body stored in ranges has those ranges only")
  func ranges() async throws {
    let fixture = try Fixture()
    let body = bytes(50_000)
    let stored = try record("/a", bodyLength: 50_000, storedRanges: [0..<10_000, 30_000..<40_000])
    try await fixture.store.put(stored, Array(body[0..<10_000] + body[30_000..<40_000]))
    let variant = try #require(try fixture.store.read(key("/a")).first)
    #expect(variant.record.storedRanges == [0..<10_000, 30_000..<40_000])
    let reader = try variant.body.open()
    #expect(reader.length == 50_000)
    #expect(reader.availableRanges == [0..<10_000, 30_000..<40_000])
    #expect(try await reader.read(9_000..<50_000).array == Array(body[9_000..<10_000]))
    #expect(try await reader.read(20_000..<30_000).isEmpty)
    #expect(try await reader.read(35_000..<36_000).array == Array(body[35_000..<36_000]))
    #expect(reader.fileRegion == nil)
    #expect(reader.bytesInMemory == nil)
  }
}
