import CSQLite
import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// Runs SQL statements on an index without the store's knowledge.
func execute(_ sql: String, on path: String) throws {
  var handle: OpaquePointer?
  defer { sqlite3_close_v2(handle) }
  try #require(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil) == SQLITE_OK)
  sqlite3_busy_timeout(handle, 2_000)
  try #require(
    sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
}

@Suite(.timeLimit(.minutes(10))) struct DamageTests {
  @Test(
    "one changed byte anywhere in a body file is found, and the entry is removed",
    arguments: [0, 1, 262_143, 262_144, 400_000, 599_999])
  func flippedBody(offset: Int) async throws {
    let fixture = try Fixture()
    let body = bytes(600_000)
    try await fixture.store.put(try record("/a"), body)
    try overwrite(try fixture.bodyPath(), at: UInt64(offset), with: [body[offset] ^ 0x10])
    let reader = try #require(try fixture.store.read(key("/a")).first).body.open()
    let error = await #expect(throws: CacheError.self) { _ = try await reader.read(0..<600_000) }
    #expect(error?.code == .damaged)
    // The entry is a miss at once, although it is removed in the background.
    #expect(try fixture.store.read(key("/a")).isEmpty)
    try await until { try fixture.directory.bodyFiles().isEmpty }
  }

  @Test("blocks that are not damaged are still read from the body that was opened")
  func otherBlocks() async throws {
    let fixture = try Fixture()
    let body = bytes(600_000)
    try await fixture.store.put(try record("/a"), body)
    try overwrite(try fixture.bodyPath(), at: 300_000, with: [body[300_000] ^ 1])
    let reader = try #require(try fixture.store.read(key("/a")).first).body.open()
    #expect(try await reader.read(100..<200).array == Array(body[100..<200]))
    #expect(try await reader.read(530_000..<540_000).array == Array(body[530_000..<540_000]))
    await #expect(throws: CacheError.self) { _ = try await reader.read(262_144..<262_145) }
  }

  @Test("a body file that is truncated, longer or missing is not opened, and the entry is removed")
  func wrongLength() async throws {
    for change in ["cut", "grown", "gone", "folder", "link"] {
      let fixture = try Fixture()
      try await fixture.store.put(try record("/a"), bytes(100_000))
      let path = try fixture.bodyPath()
      let variant = try #require(try fixture.store.read(key("/a")).first)
      switch change {
      case "cut": try #require(FileHandle(forWritingAtPath: path)).truncate(atOffset: 99_999)
      case "grown": try overwrite(path, at: 100_000, with: [0])
      default:
        try FileManager.default.moveItem(atPath: path, toPath: fixture.directory.path("moved"))
        if change == "folder" {
          try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        if change == "link" {
          try FileManager.default.createSymbolicLink(
            atPath: path, withDestinationPath: fixture.directory.path("moved"))
        }
      }
      #expect(throws: CacheError.self, "\(change)") { _ = try variant.body.open() }
      try await until { try fixture.store.read(key("/a")).isEmpty }
    }
  }

  @Test("bodies swapped with one another are found")
  func swapped() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/a"), bytes(300_000, seed: 1))
    try await fixture.store.put(try record("/b"), bytes(300_000, seed: 2))
    let files = try fixture.directory.bodyFiles().map { fixture.directory.path("cache/bodies/" + $0) }
    try #require(files.count == 2)
    let spare = fixture.directory.path("spare")
    try FileManager.default.moveItem(atPath: files[0], toPath: spare)
    try FileManager.default.moveItem(atPath: files[1], toPath: files[0])
    try FileManager.default.moveItem(atPath: spare, toPath: files[1])
    for path in ["/a", "/b"] {
      await #expect(throws: CacheError.self) { _ = try await fixture.store.body(key(path)) }
    }
  }

  @Test("an inline body or a record changed in the index is a miss, and the entry is removed")
  func changedRow() async throws {
    for column in [
      "body = x'010204'", "checksum = checksum + 1", "record = x'0102030405060708090a'", "length = 2",
    ] {
      let fixture = try Fixture()
      try await fixture.store.put(try record("/a"), [1, 2, 3])
      try fixture.execute("UPDATE entry SET \(column)")
      #expect((try? await fixture.store.body(key("/a"))) ?? nil == nil, "\(column)")
      try await until { try fixture.store.read(key("/a")).isEmpty }
    }
  }

  @Test("a name of a body that leads elsewhere is not followed")
  func hostileName() async throws {
    for name in ["../../secret", "/etc/passwd", "00/../../secret", "00/0000000000000000-0/../../x", ""] {
      let fixture = try Fixture()
      try await fixture.store.put(try record("/a"), bytes(20_000))
      try fixture.execute("UPDATE entry SET file = '\(name)'")
      #expect(try fixture.store.read(key("/a")).isEmpty)
    }
  }

  @Test(
    "an index that is not a database is set aside and a new one started",
    arguments: ["text", "zeros", "half", "folder", "link"])
  func noDatabase(kind: String) async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    do {
      let store = try DiskStore.open(directory: cache, capacity: 1 << 24)
      try await store.put(try record("/a"), bytes(40_000))
      await store.flush()
    }
    let database = cache + "/Cache.db"
    switch kind {
    case "text":
      try Data("this is no database, but it is long enough to be one".utf8).write(
        to: URL(fileURLWithPath: database))
    case "zeros": try Data(count: 8_192).write(to: URL(fileURLWithPath: database))
    case "half":
      var data = try Data(contentsOf: URL(fileURLWithPath: database))
      for index in 4_096..<data.count { data[index] = 0xAA }
      try data.write(to: URL(fileURLWithPath: database))
    case "folder":
      try FileManager.default.removeItem(atPath: database)
      try FileManager.default.createDirectory(atPath: database, withIntermediateDirectories: false)
    default:
      try FileManager.default.moveItem(atPath: database, toPath: directory.path("elsewhere"))
      try FileManager.default.createSymbolicLink(
        atPath: database, withDestinationPath: directory.path("elsewhere"))
    }
    let store = try DiskStore.open(directory: cache, capacity: 1 << 24)
    #expect(store.openingNotes.count == 1)
    #expect(FileManager.default.fileExists(atPath: database + ".damaged"))
    #expect(try store.read(key("/a")).isEmpty)
    try await store.put(try record("/b"), [5])
    #expect(try await store.body(key("/b")) == [5])
    // The body files of the lost index are deleted in the background.
    try await until { try directory.bodyFiles().isEmpty }
  }

  @Test("an emptied index is told, if bodies are left of it")
  func emptied() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    for length in [10, 40_000] {
      do {
        let store = try DiskStore.open(directory: cache, capacity: 1 << 24)
        try await store.put(try record("/a"), bytes(length))
        await store.flush()
      }
      try await until { !FileManager.default.fileExists(atPath: cache + "/Cache.db-wal") }
      try Data().write(to: URL(fileURLWithPath: cache + "/Cache.db"))
      // A process that was killed while it made the directory leaves an empty index, too.
      #expect(try notes(opening: cache) == (length > 10 ? 1 : 0))
    }
  }

  @Test("only the latest damaged index is kept")
  func damagedOnes() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    for round in 0..<4 {
      #expect(try notes(opening: cache) == (round == 0 ? 0 : 1))
      // SQLite deletes the log with the last connection.
      try await until { !FileManager.default.fileExists(atPath: cache + "/Cache.db-wal") }
      try Data("damage \(round)".utf8).write(to: URL(fileURLWithPath: cache + "/Cache.db"))
    }
    #expect(try notes(opening: cache) == 1)
    let names = try FileManager.default.contentsOfDirectory(atPath: cache)
    #expect(
      names.filter { $0.hasPrefix("Cache.db.damaged") && !$0.hasSuffix("-wal") } == ["Cache.db.damaged"])
    #expect(try String(contentsOfFile: cache + "/Cache.db.damaged", encoding: .utf8) == "damage 3")
  }

  private func notes(opening cache: String) throws -> Int {
    try DiskStore.open(directory: cache, capacity: 1 << 24).openingNotes.count
  }

  /// A store with 200 entries, and all pages of its index but the first overwritten in place.
  private func damagedInUse() async throws -> Fixture {
    let fixture = try Fixture()
    for index in 0..<200 { try await fixture.store.put(try record("/\(index)"), bytes(5_000)) }
    try await fixture.overwriteIndex()
    return fixture
  }

  @Test("an index found damaged while in use is replaced, and storing goes on")
  func foundInUse() async throws {
    let fixture = try await damagedInUse()
    for index in 0..<200 { _ = try? fixture.store.read(key("/\(index)")) }
    try await until { fixture.store.openingNotes.count == 1 }
    try await fixture.store.put(try record("/after"), [7])
    #expect(try await fixture.store.body(key("/after")) == [7])
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test("an index that another process replaced is noticed")
  func replacedByOther() async throws {
    let fixture = try await damagedInUse()
    let before = fixture.store.generation(of: key("/a"))
    let other = try fixture.other()
    #expect(other.openingNotes.count == 1)
    #expect(fixture.store.generation(of: key("/a")).changes > before.changes)
    try await fixture.store.put(try record("/after"), [7])
    #expect(try await other.body(key("/after")) == [7])
    #expect(fixture.store.secret == other.secret)
  }
}
