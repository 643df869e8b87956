import Foundation
import HTTPCacheSealing
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import SealingTesting
import Testing

/// Nothing remains of plain data from before a key was given.
@Suite(.timeLimit(.minutes(10))) struct SealedRemovalTests {
  private let directory: SealedDirectory

  init() throws { directory = try SealedDirectory() }

  private func configuration(_ name: String) -> HTTPCache.Configuration {
    HTTPCache.Configuration(
      directory: directory.path + "/" + name, memoryCapacity: 0, clock: directory.clock)
  }

  private func body(_ text: String, _ count: Int) -> BodyBytes {
    BodyBytes(
      Array(String(repeating: text + " ", count: count / (text.utf8.count + 1) + 1).utf8.prefix(count)))
  }

  private func record(_ path: String) -> CacheRecord {
    CacheRecord(
      key: CacheKey(mode: .private, target: "https://secret-host.example" + path),
      response: StoreSample.response(),
      isResumable: true)
  }

  // Files below a folder of a directory.
  private func files(_ name: String) -> [String] {
    let found = FileManager.default.enumerator(atPath: directory.path + "/" + name)
    return (found?.allObjects as? [String] ?? []).filter {
      var isFolder: ObjCBool = false
      let path = directory.path + "/" + name + "/" + $0
      return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }
  }

  @Test(
    "of what killed processes left in the clear no byte stays: bodies nobody finished, parts, copies, counts")
  func leftovers() async throws {
    let texts = ["secret-host", "secret-whole", "secret-part", "secret-unfinished", "secret-removed"]
    do {
      let cache = try HTTPCache.open(configuration("used"))
      let store = cache.store
      try await store.store(record("/whole"), body("secret-whole", 300_000))
      try await store.store(record("/removed"), body("secret-removed", 9_000))
      try await store.remove(.key(record("/removed").key))
      let part = try await store.write(record("/part"), variantLimit: 8)
      try await part.append(body("secret-part", 700_000))
      _ = try await part.keep()
      let added = try await store.extend(
        try #require(try store.read(record("/part").key).first?.record), at: 700_000)
      try await added.append(body("secret-part", 500_000))
      let unfinished = try await store.write(record("/unfinished"), variantLimit: 8)
      for _ in 0..<20 { try await unfinished.append(body("secret-unfinished", 100_000)) }
      let request = HTTPRequest(
        method: .get, scheme: "https", authority: "secret-host.example", path: "/whole")
      let file = try #require(try await cache.file(for: request))
      await cache.flush()
      // As if the process were killed now: the locks in the copy have no owner.
      try FileManager.default.copyItem(
        atPath: directory.path + "/used", toPath: directory.path + "/cache")
      withExtendedLifetime((file, unfinished, added)) {}
    }
    // The writers that were released delete their files meanwhile.
    let used = directory.path + "/used"
    while FileManager.default.fileExists(atPath: used) { try? FileManager.default.removeItem(atPath: used) }
    let before = files("cache")
    #expect(before.contains { $0.hasPrefix("files/") && !$0.hasPrefix("files/owners") })
    #expect(before.count { $0.hasPrefix("bodies/") } == 3)
    #expect(try directory.found(texts).count >= 4)

    var encrypted = configuration("cache")
    encrypted.encryption = .key(try EncryptionKey(0..<32))
    do {
      let cache = try HTTPCache.open(encrypted)
      #expect(try directory.found(texts) == [])
      #expect(!files("cache").contains { $0.hasPrefix("bodies/") })
      #expect(!files("cache").contains { $0.hasPrefix("files/") && !$0.hasPrefix("files/owners") })
      await cache.flush()
    }
    #expect(try directory.found(texts) == [])
  }

  @Test("counters that go by hashes of names are level afterwards, and go on")
  func counters() async throws {
    do {
      let cache = try HTTPCache.open(configuration("cache"))
      for _ in 0..<3 { try await cache.store.store(record("/whole"), body("secret-whole", 10)) }
      try await cache.store.invalidate(.key(record("/whole").key))
      await cache.flush()
    }
    func counters() throws -> [UInt64] {
      let data = try #require(FileManager.default.contents(atPath: directory.path + "/cache/Cache.gen"))
      return data.withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
    }
    let before = try counters()
    #expect(Set(before[5..<8_192]).count > 1)
    #expect(Set(before[8_193...]).count > 1)
    var encrypted = configuration("cache")
    encrypted.encryption = .key(try EncryptionKey(0..<32))
    let cache = try HTTPCache.open(encrypted)
    let after = try counters()
    #expect(Set(after[5..<8_192]).count == 1)
    #expect(Set(after[8_193...]).count == 1)
    #expect(zip(before, after).allSatisfy { $0 <= $1 })
    try await cache.store.store(StoreSample.record(), StoreSample.body(10))
    #expect(try await cache.store.onlyBody(StoreSample.key()) == StoreSample.body(10).array)
  }

  @Test("an index that is found damaged while the past is removed is begun anew, and used encrypted")
  func damagedIndex() async throws {
    let path = directory.path + "/cache/Cache.db"
    do {
      let cache = try HTTPCache.open(configuration("cache"))
      for number in 0..<200 { try await cache.store.store(record("/\(number)"), body("secret-body", 2_000)) }
      await cache.flush()
    }
    // The log goes with the last connection, on another thread.
    try await until { !FileManager.default.fileExists(atPath: path + "-wal") }
    // Header and schema stay, so that it is opened.
    let index = try #require(FileManager.default.contents(atPath: path))
    try index.prefix(20 * 4_096).write(to: URL(fileURLWithPath: path))
    var encrypted = configuration("cache")
    encrypted.encryption = .key(try EncryptionKey(0..<32))
    do {
      let cache = try HTTPCache.open(encrypted)
      #expect(cache.store is SealedStore)
      #expect(try directory.found(["secret-body", "secret-host"]) == [])
      try await cache.store.store(StoreSample.record(), StoreSample.body(300_000))
      await cache.flush()
    }
    let again = try HTTPCache.open(encrypted)
    #expect(try await again.store.onlyBody(StoreSample.key()) == StoreSample.body(300_000).array)
  }
}
