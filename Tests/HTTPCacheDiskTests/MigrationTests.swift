import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Testing

/// Directories of older formats.
@Suite(.timeLimit(.minutes(10))) struct MigrationTests {
  // The tables as format 1 made them.
  private static let format1 = """
    PRAGMA page_size = 4096;
    PRAGMA auto_vacuum = INCREMENTAL;
    PRAGMA journal_mode = WAL;
    BEGIN;
    CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE state (
      id INTEGER PRIMARY KEY CHECK (id = 0), sequence INTEGER NOT NULL, entries INTEGER NOT NULL,
      bodies INTEGER NOT NULL);
    CREATE TABLE counts (
      id INTEGER PRIMARY KEY CHECK (id = 0), hits INTEGER NOT NULL, validated INTEGER NOT NULL,
      misses INTEGER NOT NULL, stores INTEGER NOT NULL, evictions INTEGER NOT NULL,
      hitBytes INTEGER NOT NULL, originBytes INTEGER NOT NULL);
    CREATE TABLE entry (
      id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, variant INTEGER NOT NULL,
      mark INTEGER NOT NULL, invalid INTEGER NOT NULL, pinned INTEGER NOT NULL,
      stored INTEGER NOT NULL, touched INTEGER NOT NULL, priority REAL NOT NULL,
      size INTEGER NOT NULL, cost INTEGER NOT NULL, length INTEGER NOT NULL,
      checksum INTEGER NOT NULL, mode INTEGER NOT NULL, method INTEGER NOT NULL,
      groups INTEGER NOT NULL, partition TEXT NOT NULL, target TEXT NOT NULL,
      digest BLOB NOT NULL, file TEXT, record BLOB NOT NULL, body BLOB);
    CREATE UNIQUE INDEX entryKey ON entry (hash, variant);
    CREATE INDEX entryTarget ON entry (target);
    CREATE INDEX entryPartition ON entry (partition) WHERE partition <> '';
    CREATE INDEX entryStored ON entry (stored);
    CREATE INDEX entryOrder ON entry (priority, touched) WHERE pinned = 0;
    CREATE UNIQUE INDEX entryFile ON entry (file) WHERE file IS NOT NULL;
    CREATE TABLE block (
      entry INTEGER NOT NULL, part INTEGER NOT NULL, checksums BLOB NOT NULL,
      PRIMARY KEY (entry, part)) WITHOUT ROWID;
    CREATE TABLE membership (
      origin TEXT NOT NULL, name TEXT NOT NULL, entry INTEGER NOT NULL,
      PRIMARY KEY (origin, name, entry)) WITHOUT ROWID;
    CREATE INDEX membershipEntry ON membership (entry);
    CREATE TABLE epoch (
      kind INTEGER NOT NULL, mode INTEGER NOT NULL, scope TEXT NOT NULL, name TEXT NOT NULL,
      sequence INTEGER NOT NULL, PRIMARY KEY (kind, mode, scope, name)) WITHOUT ROWID;
    INSERT INTO state VALUES (0, 3, 2, 602176);
    INSERT INTO counts VALUES (0, 7, 0, 2, 2, 0, 0, 0);
    INSERT INTO meta VALUES ('secret', zeroblob(32));
    PRAGMA application_id = 1212375912;
    PRAGMA user_version = 1;
    COMMIT;
    """

  /// Makes a directory of format 1 with a small body in the index and a large one in a file.
  private func makeFormat1(_ directory: TemporaryDirectory, large: [UInt8]) throws -> String {
    let cache = directory.path("cache")
    let name = "00c0ffee00c0ffee-1"
    try FileManager.default.createDirectory(
      atPath: cache + "/bodies/00", withIntermediateDirectories: true)
    try Data(large).write(to: URL(fileURLWithPath: cache + "/bodies/00/" + name))
    let database = cache + "/Cache.db"
    try execute(Self.format1, on: database)
    try insert(1, try record("/small"), body: [1, 2, 3], file: nil, on: database)
    try insert(3, try record("/large"), body: large, file: "00/" + name, on: database)
    return cache
  }

  private func insert(
    _ id: Int64, _ record: CacheRecord, body: [UInt8], file: String?, on database: String
  ) throws {
    let whole = record.isComplete ? record.with(bodyLength: Int64(body.count)) : record
    let encoded = try RecordCodec.encode(whole)
    let blocks = stride(from: 0, to: body.count, by: 262_144).map {
      XXH64.hash(Array(body[$0..<min(body.count, $0 + 262_144)]))
    }
    let cost = file == nil ? 0 : (Int64(body.count) + 4_095) / 4_096 * 4_096 + 64
    try execute(
      """
      INSERT INTO entry VALUES (\(id), \(Self.oldHash(record.key)), \(id), \(id), 0, 0,
      1800000001, 1800000001, 1.0, \(Int64(encoded.count) + 320 + max(cost, Int64(body.count))),
      \(cost), \(body.count), \(Int64(bitPattern: blocks[0])), 0, 0, 0, '', '\(record.key.target)',
      x'', \(file.map { "'\($0)'" } ?? "NULL"), \(hex(encoded)),
      \(file == nil ? hex(body) : "NULL"))
      """, on: database)
    guard blocks.count > 1 else { return }
    let checksums = blocks.flatMap { block in (0..<8).map { UInt8(block >> (8 * $0) & 0xFF) } }
    try execute("INSERT INTO block VALUES (\(id), 0, \(hex(checksums)))", on: database)
  }

  // What found rows until format 3: the same for everybody.
  private static func oldHash(_ key: CacheKey) -> Int64 {
    Int64(bitPattern: XXH64.hash(Array(key.target.utf8)))
  }

  private func hex(_ bytes: [UInt8]) -> String {
    "x'" + bytes.map { String(format: "%02x", $0) }.joined() + "'"
  }

  @Test("a directory of format 1 keeps its entries and counters, and takes parts from then on")
  func fromFormat1() async throws {
    let directory = try TemporaryDirectory()
    let large = bytes(600_000)
    let cache = try makeFormat1(directory, large: large)
    let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
    #expect(store.openingNotes.isEmpty)
    #expect(try await store.body(key("/small")) == [1, 2, 3])
    #expect(try await store.body(key("/large")) == large)
    #expect(try await store.counts().hits == 7)
    let report = try await store.verify(repair: false)
    #expect(report.isSound, "\(report)")
    #expect(try number("PRAGMA user_version", on: cache + "/Cache.db") == 4)
    // Beside the whole one of the same variant, which the old index did not allow.
    try await store.putPart("/large", large, 0..<300_000)
    #expect(try store.read(key("/large")).count == 2)
    let stored = try await store.put(try record("/small"), [4])
    #expect(stored.sequence > 3)
    let again = try DiskStore.open(directory: cache, capacity: 1 << 26)
    #expect(again.openingNotes.isEmpty)
    #expect(try await again.body(key("/small")) == [4])
    #expect(try again.read(key("/large")).count == 2)
  }

  @Test("a directory of format 2 keeps its entries, and what is new is found beside them")
  func fromFormat2() async throws {
    let directory = try TemporaryDirectory()
    let cache = try makeFormat1(directory, large: bytes(600_000))
    try execute(Self.format2FromFormat1, on: cache + "/Cache.db")
    let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
    #expect(store.openingNotes.isEmpty)
    #expect(try await store.body(key("/small")) == [1, 2, 3])
    #expect(try await store.body(key("/large")) == bytes(600_000))
    try await store.put(try record("/new"), [4])
    #expect(store.usage.diskEntries == 3)
    let all = try await store.entries(.prefix("https://example.com/"), after: nil, limit: 10)
    #expect(all.entries.count == 3)
    #expect(try number("PRAGMA user_version", on: cache + "/Cache.db") == 4)
    let report = try await store.verify(repair: false)
    #expect(report.isSound, "\(report)")
    // In the order of eviction, too.
    try await store.setCapacity(memory: nil, disk: 0)
    #expect(store.usage.diskEntries == 0)
  }

  @Test("what an older version deleted without overwriting it is gone once the format is new")
  func overwrites() async throws {
    let directory = try TemporaryDirectory()
    let cache = try makeFormat1(directory, large: bytes(600_000))
    try execute(
      """
      PRAGMA secure_delete = OFF;
      INSERT INTO meta VALUES ('old', 'deleted-long-ago-by-somebody');
      DELETE FROM meta WHERE name = 'old';
      """, on: cache + "/Cache.db")
    #expect(DiskMeter.files(below: cache, containing: "long-ago-by-somebody") == ["Cache.db"])
    let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
    #expect(DiskMeter.files(below: cache, containing: "long-ago-by-somebody") == [])
    #expect(try number("PRAGMA auto_vacuum", on: cache + "/Cache.db") == 2)
    #expect(try await store.body(key("/small")) == [1, 2, 3])
  }

  // What version 2 made of it.
  private static let format2FromFormat1 = """
    BEGIN;
    ALTER TABLE entry ADD COLUMN partial INTEGER NOT NULL DEFAULT 0;
    DROP INDEX entryKey;
    CREATE UNIQUE INDEX entryKey ON entry (hash, variant, partial);
    PRAGMA user_version = 2;
    CREATE TABLE piece (
      entry INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
      checksum INTEGER NOT NULL, PRIMARY KEY (entry, start)) WITHOUT ROWID;
    CREATE TABLE refusal (
      id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, time INTEGER NOT NULL,
      status INTEGER NOT NULL, steps BLOB NOT NULL);
    CREATE INDEX refusalHash ON refusal (hash);
    COMMIT;
    """

  @Test("a directory of format 3 keeps its entries, but not why others were not stored")
  func fromFormat3() async throws {
    let directory = try TemporaryDirectory()
    let cache = try makeFormat1(directory, large: bytes(600_000))
    try execute(Self.format2FromFormat1 + Self.format3FromFormat2, on: cache + "/Cache.db")
    let old = Self.oldHash(key("/small"))
    try execute(
      "INSERT INTO refusal (hash, time, status, steps) VALUES (\(old), 1, 200, x'00')",
      on: cache + "/Cache.db")
    try execute(
      """
      INSERT INTO entry SELECT 2, hash, variant + 100, mark, invalid, pinned, stored, touched, priority, size, cost,
      length, checksum, mode, method, groups, partition, target, digest, NULL, x'00', body, partial, listed
      FROM entry WHERE id = 1;
      UPDATE state SET entries = 3
      """, on: cache + "/Cache.db")
    let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
    #expect(store.openingNotes.isEmpty)
    #expect(try await store.body(key("/small")) == [1, 2, 3])
    #expect(try await store.body(key("/large")) == bytes(600_000))
    #expect(try number("SELECT count(*) FROM entry WHERE hash = \(old)", on: cache + "/Cache.db") == 0)
    #expect(try number("SELECT count(*) FROM refusal", on: cache + "/Cache.db") == 0)
    // A record that cannot be read is no key's any more, and goes.
    #expect(try number("SELECT hash FROM entry WHERE id = 2", on: cache + "/Cache.db") == 0)
    #expect(try await store.verify(repair: true).findings.count == 1)
    #expect(try await store.verify(repair: false).isSound)
    #expect(try number("PRAGMA user_version", on: cache + "/Cache.db") == 4)
  }

  @Test("an index of format 3 counts on from where a new one begins, and counts the rows that were new")
  func numbersOfFormat3() async throws {
    let directory = try TemporaryDirectory()
    let cache = try makeFormat1(directory, large: bytes(600_000))
    try execute(Self.format2FromFormat1 + Self.format3FromFormat2, on: cache + "/Cache.db")
    // The large one is new: it is not in the row of the state yet.
    try execute(
      "UPDATE entry SET listed = 0 WHERE id = 3; UPDATE state SET sequence = 2, entries = 1, bodies = 0",
      on: cache + "/Cache.db")
    let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
    #expect(store.usage.diskEntries == 2)
    let stored = try await store.put(try record("/new"), [4])
    // As in `Schema.firstSequence`: microseconds of a time after 2020.
    #expect(stored.sequence > 1_577_836_800_000_000)
    #expect(try await store.body(key("/large")) == bytes(600_000))
    let report = try await store.verify(repair: false)
    #expect(report.isSound, "\(report)")
  }

  // What version 3 made of it.
  private static let format3FromFormat2 = """
    BEGIN;
    ALTER TABLE entry ADD COLUMN listed INTEGER NOT NULL DEFAULT 1;
    DROP INDEX entryTarget;
    DROP INDEX entryStored;
    DROP INDEX entryOrder;
    DROP INDEX entryFile;
    CREATE INDEX entryTarget ON entry (target) WHERE listed = 1;
    CREATE INDEX entryStored ON entry (stored) WHERE listed = 1;
    CREATE INDEX entryOrder ON entry (priority, touched) WHERE pinned = 0 AND listed = 1;
    CREATE INDEX entryFile ON entry (file) WHERE file IS NOT NULL AND listed = 1;
    PRAGMA user_version = 3;
    COMMIT;
    """

  @Test("several processes may open a directory of format 1 at once")
  func atOnce() async throws {
    let directory = try TemporaryDirectory()
    let cache = try makeFormat1(directory, large: bytes(600_000))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
          #expect(store.openingNotes.isEmpty)
          #expect(try await store.body(key("/large")) == bytes(600_000))
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("a part in a row of format 1 is a miss, since it lies elsewhere than parts do now")
  func oldPart() async throws {
    let directory = try TemporaryDirectory()
    let cache = try makeFormat1(directory, large: bytes(600_000))
    let part = try record("/part").storing([10..<13], bodyLength: 100)
    try insert(4, part, body: [1, 2, 3], file: nil, on: cache + "/Cache.db")
    let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
    #expect(try store.read(key("/part")).isEmpty)
    try await until {
      try number("SELECT count(*) FROM entry WHERE id = 4", on: cache + "/Cache.db") == 0
    }
  }

  @Test("an index of format 1 that lacks a table is set aside like any other")
  func halfFormat1() async throws {
    let directory = try TemporaryDirectory()
    let cache = try makeFormat1(directory, large: bytes(600_000))
    try execute("DROP TABLE epoch", on: cache + "/Cache.db")
    let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
    #expect(store.openingNotes.count == 1)
    #expect(try store.read(key("/large")).isEmpty)
  }
}
