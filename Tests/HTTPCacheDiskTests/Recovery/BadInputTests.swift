import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@testable import HTTPCacheDisk

/// The outcome is defined for any files in the place of the store's files.
@Suite(.timeLimit(.minutes(10))) struct BadInputTests {
  /// A directory with some responses that no store has open.
  private func filled() async throws -> ScratchFolder {
    let directory = try ScratchFolder()
    let store = try DiskStore.open(directory: directory.path("cache"), capacity: 1 << 26)
    for index in 0..<12 {
      try await store.put(try record("/\(index)"), bytes(index * 7_000, seed: UInt64(index + 1)))
    }
    await store.flush()
    return directory
  }

  private func expectRight(_ store: DiskStore, _ what: String) async throws {
    for index in 0..<12 {
      guard let found = (try? await store.body(key("/\(index)"))) ?? nil else { continue }
      #expect(found == bytes(index * 7_000, seed: UInt64(index + 1)), "\(what)")
    }
    for _ in 0..<3 {
      do { try await store.put(try record("/new"), bytes(30_000)) } catch {}
    }
    #expect(try await store.body(key("/new")) == bytes(30_000), "\(what)")
  }

  @Test("an index cut at any page opens, has no wrong body, and stores again")
  func cutAtPages() async throws {
    let directory = try await filled()
    let content = try Data(contentsOf: URL(fileURLWithPath: directory.path("cache/Cache.db")))
    #expect(content.count > 20 * 4_096)
    for length in stride(from: 0, to: content.count, by: 4_096).flatMap({ [$0, $0 + 100] }) {
      // Copy to a new path each time: the previous store may still be closing.
      let copy = directory.path("copy-\(length)")
      try FileManager.default.copyItem(atPath: directory.path("cache"), toPath: copy)
      try content.prefix(length).write(to: URL(fileURLWithPath: copy + "/Cache.db"))
      try await expectRight(try DiskStore.open(directory: copy, capacity: 1 << 26), "\(length) bytes")
    }
  }

  @Test(
    "a file of counters that is missing, truncated, foreign, a folder or a link is made again",
    arguments: ["gone", "empty", "cut", "zeros", "garbage", "folder", "link", "pipe"])
  func counters(kind: String) async throws {
    let directory = try await filled()
    let path = directory.path("cache/Cache.gen")
    let content = try Data(contentsOf: URL(fileURLWithPath: path))
    try FileManager.default.removeItem(atPath: path)
    switch kind {
    case "gone": break
    case "empty": try Data().write(to: URL(fileURLWithPath: path))
    case "cut": try content.prefix(5_000).write(to: URL(fileURLWithPath: path))
    case "zeros": try Data(count: content.count).write(to: URL(fileURLWithPath: path))
    case "garbage":
      try Data(bytes(content.count)).write(to: URL(fileURLWithPath: path))
    case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    case "link":
      try Data("elsewhere".utf8).write(to: URL(fileURLWithPath: directory.path("elsewhere")))
      try FileManager.default.createSymbolicLink(
        atPath: path, withDestinationPath: directory.path("elsewhere"))
    default: #expect(mkfifo(path, 0o600) == 0)
    }
    let store = try DiskStore.open(directory: directory.path("cache"), capacity: 1 << 26)
    #expect(store.sharesGenerations)
    let before = store.generation(of: key("/0"))
    try await store.remove(.key(key("/0")))
    #expect(store.generation(of: key("/0")).changes > before.changes)
    try await expectRight(store, kind)
    if kind == "link" {
      #expect(try String(contentsOfFile: directory.path("elsewhere"), encoding: .utf8) == "elsewhere")
    }
  }

  @Test("counters that are replaced while two processes run are noticed with the next change of each")
  func replacedCounters() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    try await fixture.store.put(try record("/a"), bytes(10))
    try FileManager.default.removeItem(atPath: fixture.directory.path("cache/Cache.gen"))
    let before = other.generation(of: key("/a"))
    try await other.put(try record("/b"), bytes(10))
    #expect(other.generation(of: key("/a")).changes > before.changes)
    try await fixture.store.put(try record("/c"), bytes(10))
    let shared = other.generation(of: key("/a"))
    try await fixture.store.remove(.key(key("/a")))
    #expect(other.generation(of: key("/a")).changes > shared.changes)
    #expect(try other.read(key("/a")).isEmpty)
  }

  @Test("a store uses the new directory after its directory was replaced")
  func replacedDirectory() async throws {
    let (first, second) = (try await filled(), try await filled())
    let store = try DiskStore.open(directory: first.path("cache"), capacity: 1 << 26)
    let old = try #require(try store.read(key("/11")).first).body.open()
    try FileManager.default.moveItem(atPath: first.path("cache"), toPath: first.path("away"))
    try FileManager.default.moveItem(atPath: second.path("cache"), toPath: first.path("cache"))
    try await store.remove(.key(key("/3")))
    #expect(try store.read(key("/3")).isEmpty)
    #expect(try await old.read(0..<77_000).array == bytes(77_000, seed: 12))
    try await expectRight(store, "replaced")
    #expect(try await store.verify(repair: true).entries > 0)
    #expect(try await store.verify(repair: false).isSound)
  }

  @Test("folders and pipes in the place of the store's files neither hang nor crash it")
  func strange() async throws {
    for name in ["writers", "bodies", "Cache.db-wal", "Cache.db-shm"] {
      for kind in ["folder", "pipe", "file"] where !(kind == "folder" && !name.hasPrefix("Cache")) {
        let directory = try await filled()
        let path = directory.path("cache/" + name)
        try? FileManager.default.removeItem(atPath: path)
        switch kind {
        case "folder":
          try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        default: try Data(bytes(5_000)).write(to: URL(fileURLWithPath: path))
        }
        do throws(CacheError) {
          let store = try DiskStore.open(directory: directory.path("cache"), capacity: 1 << 26)
          for index in 0..<12 {
            guard let found = (try? await store.body(key("/\(index)"))) ?? nil else { continue }
            #expect(found == bytes(index * 7_000, seed: UInt64(index + 1)), "\(name) \(kind)")
          }
        } catch {
          #expect([.unavailable, .io, .damaged].contains(error.code), "\(name) \(kind): \(error)")
        }
      }
    }
  }

  @Test(
    "a pipe, folder or link in the place of a journal is removed, and no store waits for it",
    arguments: ["pipe", "folder", "link"])
  func journal(kind: String) async throws {
    let directory = try await filled()
    let path = directory.path("cache/Cache.db-journal")
    switch kind {
    case "pipe": #expect(mkfifo(path, 0o600) == 0)
    case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
    }
    let store = try DiskStore.open(directory: directory.path("cache"), capacity: 1 << 26)
    #expect(store.openingNotes.isEmpty)
    #expect(try await store.body(key("/11")) == bytes(77_000, seed: 12))
    try await expectRight(store, kind)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("an index that a newer version takes over while it is in use is neither written nor read any more")
  func takenOver() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/a"), bytes(100))
    let writer = try await fixture.store.write(try record("/b"), variantLimit: 8)
    try await writer.append(BodyBytes(bytes(300_000)))
    let path = fixture.database
    try execute("PRAGMA user_version = 99; CREATE TABLE later (x)", on: path)
    let error = await #expect(throws: CacheError.self) { try await writer.commit(trailers: [:]) }
    #expect(error?.code == .newerFormat)
    #expect(throws: CacheError.self) { _ = try fixture.store.read(key("/a")) }
    for _ in 0..<2 {
      let error = await #expect(throws: CacheError.self) {
        try await fixture.store.put(try record("/a"), bytes(100))
      }
      #expect(error?.code == .newerFormat)
      await #expect(throws: CacheError.self) { try await fixture.store.remove(.all) }
    }
    try execute("DROP TABLE later; PRAGMA user_version = \(Schema.indexFormat)", on: path)
    try await fixture.store.put(try record("/c"), bytes(100))
    #expect(try await fixture.store.body(key("/a")) == bytes(100))
    #expect(fixture.store.openingNotes.isEmpty)
  }
}
