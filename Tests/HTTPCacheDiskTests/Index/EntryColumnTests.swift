import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Testing

@testable import HTTPCacheDisk

/// No column of `entry` is forgotten: each one gets values, and `verify` checks them.
@Suite(.timeLimit(.minutes(10))) struct EntryColumnTests {
  @Test("each column has a value other than NULL in some row")
  func values() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/inline", groups: ["a"]), bytes(100))
    try await fixture.store.put(try record("/file"), bytes(100_000))
    await fixture.store.flush()
    let connection = try SQLiteConnection(path: fixture.database, creating: false)
    for column in EntryColumn.allCases {
      var rows: Int64 = 0
      try connection.query("SELECT count(\(column.name)) FROM entry") { row in
        rows = row.integer(0)
        return true
      }
      #expect(rows > 0, "\(column.name)")
    }
  }

  @Test("`verify` compares each column, or knows impossible values, but for four that it reads with the body")
  func compared() throws {
    let hashes = RowHashes(secret: [UInt8](repeating: 7, count: 32))
    let unchecked = try EntryColumn.allCases.filter {
      try $0.value(for: record("/"), hashes: hashes, length: 1, hasFile: true) == nil
        && $0.impossibility == nil
    }
    #expect(unchecked == [.checksum, .file, .record, .body])
  }

  @Test("an update writes each column that follows from the record, and `verify` finds the time of another")
  func updated() async throws {
    let fixture = try Fixture()
    let stored = try await fixture.store.put(try record("/a", language: "de"), bytes(100))
    var response = stored.response
    response.nominated = [NominatedField(name: .acceptLanguage, value: .text("en"))]
    response.responseTime = response.responseTime.adding(60)
    #expect(try await fixture.store.update(stored.with(response: response)))
    #expect(try await fixture.store.verify(repair: false).isSound)
    try fixture.execute("UPDATE entry SET stored = stored - 60")
    #expect(try await fixture.store.verify(repair: false).description.contains("a wrong stored for it"))
  }
}
