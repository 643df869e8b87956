import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(10))) struct LimitTests {
  @Test("the capacity holds for bodies of all sizes, and the reported usage is correct")
  func capacity() async throws {
    let capacity: Int64 = 4 << 20
    let fixture = try Fixture(capacity: capacity, largestEntry: .bytes(1 << 20))
    let cache = fixture.directory.path("cache")
    for index in 0..<300 {
      let size = [200, 9_000, 40_000, 300_000][index % 4]
      _ = try fixture.store.read(key("/\(index)"))
      try await fixture.store.put(try record("/\(index)"), bytes(size, seed: UInt64(index + 1)))
      guard index % 20 == 0 else { continue }
      let usage = fixture.store.usage
      #expect(usage.diskBytes <= capacity + 4 << 20)
      #expect(DiskMeter.taken(below: cache) <= capacity + 4 << 20)
    }
    await fixture.store.flush()
    let usage = fixture.store.usage
    let taken = DiskMeter.taken(below: cache)
    #expect(usage.diskBytes <= capacity)
    #expect(taken <= capacity + 64 << 10)
    #expect(abs(usage.diskBytes - taken) <= 64 << 10, "told \(usage.diskBytes), taken \(taken)")
    #expect(usage.diskEntries > 5)
    #expect(try await fixture.store.counts().evictions > 50)
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test("by default, one body may take half the capacity")
  func defaultLargestEntry() async throws {
    let fixture = try Fixture(capacity: 4 << 20)
    try await fixture.store.put(try record("/a", bodyLength: 2 << 20), bytes(2 << 20))
    let error = await #expect(throws: CacheError.self) {
      try await fixture.store.put(try record("/b"), bytes(2 << 20 + 1))
    }
    #expect(error?.code == .tooLarge)
  }

  @Test("uses are written with their times, without a write for each")
  func lastUsed() async throws {
    let fixture = try Fixture()
    for index in 0..<3 { try await fixture.store.put(try record("/\(index)"), [1]) }
    fixture.clock.advance(by: 100)
    _ = try fixture.store.read(key("/1"))
    let page = try await fixture.store.entries(.all, after: nil, limit: 10)
    #expect(page.entries.map(\.lastUsed.seconds) == [1_800_000_000, 1_800_000_100, 1_800_000_000])
    let cut = Timestamp(seconds: 1_800_000_050)
    #expect(try await fixture.store.remove(.unusedSince(cut)) == 2)
    #expect(try fixture.store.read(key("/1")).count == 1)
  }

  @Test("a use within a minute of the last one, which leaves the priority as it is, is not written")
  func soonUsedAgain() async throws {
    let fixture = try Fixture()
    for path in ["/a", "/b"] { try await fixture.store.put(try record(path), [1]) }
    // The first use of an entry leaves its priority as it is.
    fixture.clock.advance(by: 59)
    _ = try fixture.store.read(key("/a"))
    await fixture.store.flush()
    fixture.clock.advance(by: 1)
    _ = try fixture.store.read(key("/b"))
    let page = try await fixture.store.entries(.all, after: nil, limit: 10)
    #expect(page.entries.map(\.lastUsed.seconds) == [1_800_000_000, 1_800_000_060])
  }

  @Test("a use that a store above answered counts like a use of this store")
  func recordedUse() async throws {
    let fixture = try Fixture()
    for index in 0..<2 { try await fixture.store.put(try record("/\(index)"), [1]) }
    fixture.clock.advance(by: 100)
    fixture.store.recordUses([KeyUses(of: key("/1"), count: 1, last: fixture.clock.now)])
    #expect(try fixture.store.variants(of: key("/0")).count == 1)
    let page = try await fixture.store.entries(.all, after: nil, limit: 10)
    #expect(page.entries.map(\.lastUsed.seconds) == [1_800_000_000, 1_800_000_100])
  }

  @Test("thousands of entries are removed and invalidated, some hundred at a time")
  func many() async throws {
    let fixture = try Fixture()
    let store = fixture.store
    for index in 0..<700 {
      try await store.put(
        try record("/\(index % 2 == 0 ? "even" : "odd")/\(index)", groups: ["g\(index % 2)"]), [1])
    }
    #expect(try await store.invalidate(.prefix("https://example.com/even/")) == nil)
    func marked(_ path: String) throws -> Bool? {
      try store.read(key(path)).first?.record.response.isInvalidated
    }
    #expect(try marked("/even/0") == true)
    #expect(try marked("/odd/1") == false)
    try await store.put(try record("/even/0"), [2])
    #expect(try marked("/even/0") == false, "what is stored later is not concerned")
    await store.flush()
    #expect(try marked("/even/2") == true)
    let origin = "https://example.com"
    #expect(try await store.invalidate(.group(origin: origin, name: "g1")) == nil)
    #expect(try marked("/odd/1") == true)
    #expect(try await store.invalidate(.group(origin: "https://other.com", name: "g0")) == 0)
    #expect(try await store.invalidate(.storedBefore(Timestamp(seconds: .max))) == nil)
    #expect(try marked("/even/698") == true)
    #expect(try await store.remove(.prefix("https://example.com/odd")) == 350)
    #expect(try await store.remove(.group(origin: origin, name: "g0")) == 349)
    #expect(try await store.remove(.all) == 1)
    #expect(store.usage.diskEntries == 0)
    #expect(try await store.verify(repair: false).isSound)
  }
}
