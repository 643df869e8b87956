import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Testing

@testable import HTTPCacheDisk

@Suite(.timeLimit(.minutes(10)))
struct RecentRecordTests {
  private func record(of fixture: Fixture, _ path: String = "/a") throws -> CacheRecord? {
    try fixture.store.read(key(path)).first?.record
  }

  /// A store with one response that was read three times, so that its record is kept.
  private func warmFixture() async throws -> Fixture {
    let fixture = try Fixture()
    try await fixture.store.put(try HTTPCacheDiskTests.record("/a"), [1, 2, 3])
    for _ in 0..<3 { _ = try record(of: fixture) }
    return fixture
  }

  @Test("a record that is read often is decoded twice, and a record that is read once is not kept")
  func kept() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try HTTPCacheDiskTests.record("/a"), [1, 2, 3])
    let read = try (0..<4).map { _ in try #require(try record(of: fixture)) }
    #expect(read[0] !== read[1])
    #expect(read[1] === read[2])
    #expect(read[2] === read[3])
  }

  @Test("a changed row is never answered from a record that was decoded before")
  func changed() async throws {
    let fixture = try await warmFixture()
    let before = try #require(try record(of: fixture))
    let other = try fixture.other()
    let now = try #require(try other.read(key("/a")).first).record
    var response = now.response
    response.head.headerFields[.contentType] = "text/html"
    let isUpdated = try await other.update(now.with(response: response))
    #expect(isUpdated)
    let after = try #require(try record(of: fixture))
    #expect(after.response.head.headerFields[.contentType] == "text/html")
    #expect(before.response.head.headerFields[.contentType] == "text/plain")
  }

  @Test("a damaged record is a miss, though it was decoded while it was sound")
  func damaged() async throws {
    let fixture = try await warmFixture()
    let database = fixture.database
    // Change one byte that the checksum covers.
    try execute(
      "UPDATE entry SET record = CAST(substr(record, 1, 8) || x'FF' || substr(record, 10) AS BLOB)",
      on: database)
    let found = try record(of: fixture)
    #expect(found == nil)
  }

  @Test("an invalidation by another store applies, by the row or by an epoch")
  func invalidated() async throws {
    for selection in [CacheSelection.key(key("/a")), .prefix("https://example.com/")] {
      let fixture = try await warmFixture()
      let before = try record(of: fixture)
      #expect(before?.response.isInvalidated == false)
      _ = try await fixture.other().invalidate(selection)
      for _ in 0..<3 {
        let found = try record(of: fixture)
        #expect(found?.response.isInvalidated == true)
      }
    }
  }

  @Test("long records are not kept, and none after memory was trimmed")
  func forgotten() async throws {
    let fixture = try await warmFixture()
    let first = try #require(try record(of: fixture))
    fixture.store.trimMemory(to: 0)
    let second = try record(of: fixture)
    #expect(second !== first)

    var long = try HTTPCacheDiskTests.record("/long")
    var response = long.response
    response.head.headerFields[.server] = String(repeating: "x", count: RecentRecords.longest)
    long = long.with(response: response)
    try await fixture.store.put(long, [1])
    let read = try (0..<3).map { _ in try #require(try record(of: fixture, "/long")) }
    #expect(read[1] !== read[2])
  }

  @Test("many threads that read few rows each get what was stored")
  func manyReaders() async throws {
    let fixture = try Fixture()
    // Twice as many records as there are places.
    let count = RecentRecords.count * 2
    for number in 0..<count { try await fixture.store.put(try HTTPCacheDiskTests.record("/\(number)"), [1]) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for lane in 0..<4 {
        group.addTask {
          for number in 0..<count * 2 {
            let path = "/\((number * (lane + 1)) / 3 % count)"
            let found = try fixture.store.read(key(path)).first
            #expect(found?.record.key == key(path))
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
