import CSQLite
import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import Testing

/// One transaction inserts the rows of many responses.
@Suite(.timeLimit(.minutes(10))) struct InsertionTests {
  @Test("entries that were just stored are read, counted and selected by another process too")
  func selected() async throws {
    let fixture = try Fixture()
    for index in 0..<10 {
      try await fixture.store.put(try record("/a/\(index)", groups: ["g"]), [1, 2, 3])
    }
    let other = try fixture.other()
    #expect(try await other.body(key("/a/7")) == [1, 2, 3])
    #expect(other.usage.diskEntries == 10)
    #expect(fixture.store.usage.diskEntries == 10)
    #expect(try await other.invalidate(.prefix("https://example.com/a/")) == 10)
    #expect(try fixture.store.read(key("/a/3")).first?.record.response.isInvalidated == true)
    #expect(
      try await fixture.store.entries(.prefix("https://example.com/a/"), after: nil, limit: 100).entries.count
        == 10)
    #expect(try await other.remove(.group(origin: "https://example.com", name: "g")) == 10)
    #expect(other.usage.diskEntries == 0)
    #expect(try await other.verify(repair: false).isSound)
  }

  @Test("two stores that write by turns keep ids and counts correct")
  func byTurns() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    for index in 0..<150 {
      try await (index % 3 == 0 ? other : fixture.store).put(
        try record("/\(index % 100)"), bytes(index % 5 == 0 ? 20_000 : 100))
    }
    #expect(fixture.store.usage.diskEntries == 100)
    #expect(other.usage.diskEntries == 100)
    let report = try await other.verify(repair: false)
    #expect(report.isSound, "\(report)")
  }

  @Test("entries of a store that has ended are evicted in their turn")
  func evictedLater() async throws {
    let directory = try ScratchFolder()
    let path = directory.path("cache")
    do {
      let store = try DiskStore.open(directory: path, capacity: 1 << 26)
      for index in 0..<40 { try await store.put(try record("/\(index)"), bytes(10_000)) }
    }
    let store = try DiskStore.open(directory: path, capacity: 1 << 26)
    try await store.setCapacity(memory: nil, disk: 600_000)
    #expect(store.usage.diskEntries < 40)
    #expect(try await store.verify(repair: false).isSound)
  }

  @Test("of entries in one transaction, only the one that cannot be stored is refused")
  func refusedAlone() async throws {
    let fixture = try Fixture(capacity: 700_000, largestEntry: .bytes(1 << 20))
    let records = try (0..<60).map { try record("/\($0)") }
    let tooLarge = try record("/large").with(userInfo: [UInt8](repeating: 1, count: 900_000))
    let stored = await withTaskGroup(of: Bool.self) { group in
      for record in records + [tooLarge] + records {
        group.addTask { (try? await fixture.store.putIfLatest(record, [1, 2, 3])) != nil }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(stored == 120)
    #expect(fixture.store.usage.diskEntries == 60)
    #expect(try fixture.store.read(key("/large")).isEmpty)
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test("while another process writes, storing tasks wait without holding a thread")
  func waitsForOthers() async throws {
    let fixture = try Fixture()
    for index in 0..<3 { try await fixture.store.put(try record("/\(index)"), [1]) }
    let other = try HeldDatabase(fixture.database)
    // More tasks than there are threads for tasks.
    let waiting = try (0..<16).map { index in
      let record = try record("/waiting/\(index)")
      return Task {
        // On a busy machine, the wait may reach its limit; try again.
        while true {
          do { return try await fixture.store.put(record, [2]) } catch let error as CacheError
            where error.code == .busy
          {}
        }
      }
    }
    // Other tasks continue meanwhile.
    #expect(try await fixture.store.body(key("/1")) == [1])
    await Task.yield()
    other.release()
    for task in waiting { _ = try await task.value }
    #expect(fixture.store.usage.diskEntries == 19)
  }

  @Test("the log stays below its limit")
  func logLimit() async throws {
    let fixture = try Fixture()
    var largest: Int64 = 0
    for index in 0..<900 {
      try await fixture.store.put(try record("/\(index)"), bytes(3_000))
      let path = fixture.directory.path("cache/Cache.db-wal")
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64
      largest = max(largest, size ?? 0)
    }
    #expect(largest > 1 << 20)
    #expect(largest <= 4 << 20)
  }
}

/// The write lock of an index, held as by another process.
final class HeldDatabase {
  private var handle: OpaquePointer?

  init(_ path: String) throws {
    try #require(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    sqlite3_busy_timeout(handle, 2_000)
    try #require(sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
  }

  deinit { sqlite3_close_v2(handle) }

  func release() { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
}
