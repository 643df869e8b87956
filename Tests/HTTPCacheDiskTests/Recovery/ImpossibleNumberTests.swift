import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import Testing

/// An index that SQLite finds sound, but that has impossible values.
@Suite(.timeLimit(.minutes(10))) struct ImpossibleNumberTests {
  @Test(
    "impossible numbers are damage, found on opening and in use",
    arguments: [
      "UPDATE state SET bodies = 9223372036854775807", "UPDATE state SET entries = -1",
      "UPDATE state SET sequence = 9223372036854775807",
    ])
  func impossibleState(sql: String) async throws {
    let fixture = try Fixture()
    let store = fixture.store
    try await store.put(try record("/a"), [1])
    await store.flush()
    try fixture.execute(sql)
    #expect(try fixture.other().openingNotes.contains { $0.contains("damaged") })
    // The first attempt may fail because the index was replaced.
    _ = try? await store.put(try record("/b"), [2])
    try await store.put(try record("/b"), [2])
    #expect(try store.read(key("/b")).count == 1)
  }

  @Test("a row with impossible sizes can be removed")
  func impossibleRow() async throws {
    let fixture = try Fixture()
    for index in 0..<3 { try await fixture.store.put(try record("/\(index)"), [1]) }
    await fixture.store.flush()
    try fixture.execute(
      """
      UPDATE entry SET size = 9223372036854775807, cost = 9223372036854775807, groups = -1
      WHERE id <= (SELECT sequence FROM state)
      """)
    #expect(try await fixture.store.remove(.prefix("https://example.com/")) == 3)
    #expect(fixture.store.usage.diskEntries == 0)
  }

  @Test(
    "an impossible row is found and removed, and other rows stay",
    arguments: [
      "id = -1", "id = -9223372036854775808", "id = 0",
      "cost = -9000000000000000000", "pinned = 7",
      "mode = mode + 1", "method = method + 1", "partition = 'x'", "digest = x'00'",
      "mark = 'x'", "touched = x'00'", "priority = 'x'", "groups = -1", "invalid = 3",
    ])
  func impossibleRow(changes: String) async throws {
    let fixture = try Fixture()
    for index in 0..<5 { try await fixture.store.put(try record("/\(index)"), bytes(20_000)) }
    await fixture.store.flush()
    try fixture.execute("UPDATE entry SET \(changes) WHERE target = 'https://example.com/0'")
    let report = try await fixture.store.verify(repair: true)
    #expect(!report.isSound)
    #expect(report.entries == 5)
    #expect(try await fixture.store.verify(repair: false).isSound)
    let other = try fixture.other()
    #expect(other.openingNotes.isEmpty)
    for index in 1..<5 { #expect(try await other.body(key("/\(index)")) == bytes(20_000)) }
  }

  @Test("impossible numbers in several rows stop neither the store nor its repair")
  func impossibleRows() async throws {
    let fixture = try Fixture()
    for index in 0..<4 { try await fixture.store.put(try record("/\(index)"), bytes(20_000)) }
    let database = fixture.database
    try execute("UPDATE entry SET size = 9223372036854775807, cost = 9223372036854775807", on: database)
    let other = try fixture.other()
    for entry in try await other.entries(.all, after: nil, limit: 10).entries {
      #expect(entry.size <= 1 << 50)
    }
    let report = try await other.verify(repair: true)
    #expect(report.description.contains("wrong cost"), "\(report)")
    #expect(try await other.verify(repair: false).isSound)
    try await other.put(try record("/b"), bytes(20_000))
    #expect(try await other.body(key("/b")) == bytes(20_000))
    #expect(try await other.remove(.all) == 1)
    #expect(other.usage.diskEntries == 0)
  }

  @Test(
    "an entry with an impossible length is a miss, and verify finds it",
    arguments: [Int64.min, -1, 1 << 51, .max])
  func impossibleLength(length: Int64) async throws {
    let fixture = try Fixture()
    for size in [0, 100, 20_000, 600_000] { try await fixture.store.put(try record("/\(size)"), bytes(size)) }
    try await fixture.store.putPart("/part", bytes(9_000), 0..<100)
    try fixture.execute("UPDATE entry SET length = \(length)")
    let report = try await fixture.store.verify(repair: false)
    #expect(report.findings.count >= 5, "\(report)")
    for path in ["/0", "/100", "/20000", "/600000"] {
      #expect(((try? await fixture.store.body(key(path))) ?? nil) == nil)
    }
    _ = try fixture.store.read(key("/part"))
    _ = try await fixture.store.verify(repair: true)
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test("an entry with an impossible time of last use is used", arguments: [Int64.min, .max])
  func impossibleUse(time: Int64) async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/a"), [1])
    await fixture.store.flush()
    try fixture.execute("UPDATE entry SET touched = \(time)")
    #expect(try fixture.store.read(key("/a")).count == 1)
    let page = try await fixture.store.entries(.all, after: nil, limit: 10)
    #expect(page.entries.map(\.lastUsed.seconds) == [max(time, 1_800_000_000)])
  }

  @Test("an index with triggers or views is set aside")
  func foreignSchema() async throws {
    for sql in [
      "CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM entry; END",
      "ALTER TABLE block RENAME TO b; CREATE VIEW block AS SELECT * FROM b",
    ] {
      let fixture = try Fixture()
      try await fixture.store.put(try record("/a"), [1])
      try fixture.execute(sql)
      let other = try fixture.other()
      #expect(other.openingNotes.contains { $0.contains("damaged") }, "\(sql)")
      try await other.put(try record("/b"), [2])
      #expect(try await other.body(key("/b")) == [2])
    }
  }

  @Test("everything can be removed although the sums of the rows are impossible")
  func impossibleSum() async throws {
    let fixture = try Fixture()
    for index in 0..<4 { try await fixture.store.put(try record("/\(index)"), bytes(20_000)) }
    _ = try await fixture.store.entries(.all, after: nil, limit: 1)
    try fixture.execute("UPDATE entry SET cost = 9223372036854775807")
    #expect(try await fixture.store.remove(.all) == 4)
    #expect(try fixture.directory.bodyFiles().isEmpty)
  }

  @Test("impossible counters can be added up")
  func impossibleCounts() async throws {
    let fixture = try Fixture()
    for value in [Int64.max, Int64.min] {
      try fixture.execute(
        "UPDATE counts SET hits = \(value), validated = \(value), misses = \(value), hitBytes = \(value)")
      fixture.store.count(CacheCounts(hits: 1, hitBytes: 1))
      let counts = try await fixture.store.counts()
      #expect(counts.hits + counts.validated + counts.misses >= 0)
      #expect(counts.hitBytes >= 0)
    }
  }
}
