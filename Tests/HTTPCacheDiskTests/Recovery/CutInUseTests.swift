import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// Files that are truncated, before a process opens them and while a process has them open.
@Suite(.timeLimit(.minutes(10))) struct CutInUseTests {
  private static func fill(_ store: DiskStore) async throws {
    for index in 0..<12 {
      try await store.put(try record("/\(index)"), bytes(index * 5_000, seed: UInt64(index + 1)))
    }
  }

  /// Requires that the store returns correct bodies only, and soon stores again.
  private static func expectRight(_ store: DiskStore, _ what: String) async throws {
    for index in 0..<12 {
      guard let found = (try? await store.body(key("/\(index)"))) ?? nil else { continue }
      #expect(found == bytes(index * 5_000, seed: UInt64(index + 1)), "\(what)")
    }
    var found: [UInt8]?
    for round in 0..<50 where found == nil {
      _ = try? await store.put(try record("/new"), bytes(30_000, seed: UInt64(round + 100)))
      found = (try? await store.body(key("/new"))) ?? nil
      if let found { #expect(found == bytes(30_000, seed: UInt64(round + 100)), "\(what)") }
      await store.flush()
    }
    #expect(found != nil, "\(what): nothing is stored any more")
    let report = try await store.verify(repair: true)
    #expect(report.isSound || report.isRepaired, "\(what): \(report)")
    #expect(try await store.verify(repair: false).isSound, "\(what)")
  }

  private static func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  @Test(
    "an index or log truncated under a running process: no crash, no wrong body, and it stores again",
    arguments: ["Cache.db", "Cache.db-wal"])
  func cutInUse(name: String) async throws {
    let directory = try ScratchFolder()
    await #expect(processExitsWith: .success) { [path = directory.path as String, name = name as String] in
      var length = 0
      var wasCut = true
      while wasCut {
        let cache = "\(path)/\(length)"
        let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
        try await Self.fill(store)
        if name == "Cache.db" { try execute("PRAGMA wal_checkpoint(PASSIVE)", on: cache + "/Cache.db") }
        for index in 0..<3 { _ = try await store.body(key("/\(index)")) }
        wasCut = Self.size(cache + "/" + name) > length
        if wasCut { #expect(truncate(cache + "/" + name, off_t(length)) == 0) }
        try await Self.expectRight(store, "\(name) of \(length) bytes")
        // Lengths at the boundaries of index pages, of log frames, and at neither.
        length += length % 4_096 == 0 ? 100 : length < 40_000 ? 3_996 : 20_380
      }
      #expect(length > 40_000)
    }
  }

  @Test("an index that is truncated to nothing while the log is empty is replaced")
  func emptiedInUse() async throws {
    let fixture = try Fixture()
    try await Self.fill(fixture.store)
    await fixture.store.flush()
    #expect(Self.size(fixture.directory.path("cache/Cache.db-wal")) == 0)
    #expect(truncate(fixture.database, 0) == 0)
    for _ in 0..<5 {
      _ = try? await fixture.store.body(key("/1"))
      _ = try? await fixture.store.put(try record("/new"), bytes(30_000))
      await fixture.store.flush()
    }
    #expect(fixture.store.openingNotes.contains { $0.contains("damaged") })
    #expect(try await fixture.store.body(key("/new")) == bytes(30_000))
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test(
    "a log, its shared memory or counters truncated before opening: no crash, no wrong body, and it stores",
    arguments: ["Cache.db-wal", "Cache.db-shm", "Cache.gen"])
  func cutBefore(name: String) async throws {
    let directory = try ScratchFolder()
    let store = try DiskStore.open(directory: directory.path("cache"), capacity: 1 << 26)
    try await Self.fill(store)
    let whole = Self.size(directory.path("cache/" + name))
    #expect(whole > 20_000)
    for length in [0, 1, 31, 32, 100, 4_095, 4_096, 4_128, 4_152, 8_304, whole / 2, whole - 1] {
      // A copy is in the state that a killed process leaves.
      let copy = directory.path("copy-\(length)")
      try FileManager.default.copyItem(atPath: directory.path("cache"), toPath: copy)
      #expect(truncate(copy + "/" + name, off_t(length)) == 0)
      try await Self.expectRight(
        try DiskStore.open(directory: copy, capacity: 1 << 26), "\(name) of \(length) bytes")
    }
  }

  @Test(
    "truncated shared memory at worst ends the process, and the next process finds a sound directory",
    arguments: ["Cache.db-shm", "Cache.gen"])
  func cutMemory(name: String) async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    await #expect(processExitsWith: .signal(SIGBUS)) { [cache = cache as String, name = name as String] in
      let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
      try await Self.fill(store)
      #expect(truncate(cache + "/" + name, 0) == 0)
      for _ in 0..<3 { try? await Self.expectRight(store, name) }
    }
    let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
    #expect(store.openingNotes.isEmpty)
    for index in 0..<12 {
      #expect(try await store.body(key("/\(index)")) == bytes(index * 5_000, seed: UInt64(index + 1)))
    }
    try await Self.expectRight(store, name)
  }
}
