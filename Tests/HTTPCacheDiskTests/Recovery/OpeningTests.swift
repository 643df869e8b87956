import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("Directories that cannot be opened, or vanish", .timeLimit(.minutes(10))) struct OpeningTests {
  @Test("an index of a newer format is refused and not touched")
  func newerFormat() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    await (try DiskStore.open(directory: cache, capacity: 1 << 24)).close()
    let database = cache + "/Cache.db"
    // SQLite deletes the log with the last connection; of two that are closed at the same time, none is the last.
    try execute("PRAGMA user_version = 99", on: database)
    #expect(!FileManager.default.fileExists(atPath: database + "-wal"))
    let before = try Data(contentsOf: URL(fileURLWithPath: database))
    let generations = cache + "/Cache.gen"
    // So that a write now would have another time.
    let earlier = Date(timeIntervalSince1970: 1_700_000_000)
    try FileManager.default.setAttributes([.modificationDate: earlier], ofItemAtPath: generations)
    let error = #expect(throws: CacheError.self) {
      try DiskStore.open(directory: cache, capacity: 1 << 24)
    }
    #expect(error?.code == .newerFormat)
    #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == before)
    #expect(
      try FileManager.default.attributesOfItem(atPath: generations)[.modificationDate] as? Date == earlier)
    #expect(!FileManager.default.fileExists(atPath: database + ".damaged"))
  }

  @Test("a database of another program is refused and not touched")
  func foreign() throws {
    let directory = try ScratchFolder()
    let database = directory.path("Cache.db")
    try execute("CREATE TABLE cfurl_cache_response (entry_ID INTEGER)", on: database)
    let before = try Data(contentsOf: URL(fileURLWithPath: database))
    let error = #expect(throws: CacheError.self) {
      try DiskStore.open(directory: directory.path, capacity: 1 << 24)
    }
    #expect(error?.code == .unavailable)
    #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == before)
  }

  @Test("a directory that cannot be made is unavailable")
  func noDirectory() throws {
    let directory = try ScratchFolder()
    try Data().write(to: URL(fileURLWithPath: directory.path("file")))
    let outside = directory.path("outside")
    let linked = directory.path("linked")
    try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
    try FileManager.default.createDirectory(atPath: linked, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: linked + "/bodies", withDestinationPath: outside)
    for path in ["", directory.path("file"), directory.path("file/below"), "/proc/none/cache", linked] {
      let error = #expect(throws: CacheError.self, "\(path)") {
        try DiskStore.open(directory: path, capacity: 1 << 24)
      }
      #expect(error?.code == .unavailable, "\(path)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: outside).isEmpty)
  }

  @Test("when the directory vanishes nothing crashes, and storing makes it again")
  func vanished() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/a"), bytes(100_000))
    let variant = try #require(try fixture.store.read(key("/a")).first)
    let open = try variant.body.open()
    let writer = try await fixture.store.write(try record("/w"), variantLimit: 8)
    try await writer.append(BodyBytes(bytes(300_000)))
    let before = fixture.store.generation(of: key("/a"))
    try FileManager.default.removeItem(atPath: fixture.directory.path("cache"))
    #expect(try await open.read(0..<100_000).array == bytes(100_000))
    #expect(throws: CacheError.self) { _ = try variant.body.open() }
    await #expect(throws: CacheError.self) { try await writer.commit(trailers: [:]) }
    _ = fixture.store.usage
    _ = try? await fixture.store.put(try record("/b"), bytes(100_000))
    try await fixture.store.put(try record("/c"), bytes(100_000))
    #expect(try await fixture.store.body(key("/c")) == bytes(100_000))
    #expect(try fixture.store.read(key("/a")).isEmpty)
    #expect(fixture.store.generation(of: key("/a")).changes > before.changes)
    #expect(try await fixture.store.verify(repair: false).isSound)
  }
}
