@testable import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// Look-ups use a hash that a client cannot aim at, so that few rows share one (RFC 9111 §7).
@Suite(.timeLimit(.minutes(10))) struct KeyedHashTests {
  @Test("of 10,000 keys that collide under XXH64 each has a row to itself, in memory over the disk as well")
  func collidingTargets() async throws {
    let fixture = try Fixture(capacity: 256 << 20)
    let tiers = TieredStore(memory: MemoryStore(capacity: 64 << 20), base: fixture.store)
    let keys = (0..<10_000).map { index in
      CacheKey(mode: .private, target: CollidingTargets.target(index))
    }
    // Use several writers: they share a transaction.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for key in keys[(1_250 * worker)..<(1_250 * (worker + 1))] {
            let writer = try await tiers.write(
              CacheRecord(key: key, response: StoreSample.response(), bodyLength: 1), variantLimit: 8)
            try await writer.append(BodyBytes([1]))
            try await writer.commit(trailers: [:])
          }
        }
      }
      try await group.waitForAll()
    }
    await fixture.store.flush()
    #expect(fixture.store.usage.diskEntries == 10_000)
    // A look-up reads the rows with the hash of its key, so there must be one.
    #expect(try fixture.number("SELECT max(n) FROM (SELECT count(*) AS n FROM entry GROUP BY hash)") == 1)
    for key in keys[..<100] {
      #expect(try fixture.store.read(key).map(\.record.key) == [key])
      // Keys share counters: another writer may have made this key out of date in memory, or have kept its body out of
      // memory between two steps of its commit. A reader of the body then copies it.
      let found = try tiers.read(key)
      #expect(found.map(\.record.key) == [key])
      let body = try #require(found.first).body.open()
      #expect(try await body.read(0..<1).array == [1])
      #expect(tiers.peek(key)?.map(\.record.key) == [key])
    }
    // A change of one key makes few other keys out of date in the memory of all processes.
    let before = keys.map { fixture.store.generation(of: $0) }
    try await fixture.store.remove(.key(keys[0]))
    let changed = zip(keys, before).filter { key, before in
      fixture.store.generation(of: key).changes != before.changes
        || fixture.store.hasSelected(key, groups: [], since: before.selections)
    }
    #expect(changed.contains { $0.0 == keys[0] })
    // The classes of scopes have no key, but of 10,000 targets made for one seed few collide under another.
    #expect(changed.count < 200, "\(changed.count) of 10,000 over 8,187 counters and 7,934 scopes")
  }

  @Test("a key has another hash in each directory, and the same one in all processes of a directory")
  func secretOfDirectory() async throws {
    let (first, second) = (try Fixture(), try Fixture())
    for fixture in [first, second] { try await fixture.store.put(try record("/a"), [1]) }
    let columns = "SELECT hash FROM entry"
    #expect(try first.number(columns) != second.number(columns))
    #expect(
      try first.number("SELECT variant FROM entry") != second.number("SELECT variant FROM entry"))
    #expect(try await first.other().body(key("/a")) == [1])
  }

  @Test("two variants with one variant hash both stay (RFC 9111 §4.1)")
  func variantsOfOneHash() async throws {
    let fixture = try Fixture()
    let english = try record("/a", language: "en")
    try await fixture.store.put(english, [1])
    let hash = try fixture.number("SELECT variant FROM entry")
    try await fixture.store.remove(.key(key("/a")))
    try await fixture.store.put(try record("/a", language: "de"), [2])
    await fixture.store.flush()
    try fixture.execute("UPDATE entry SET variant = \(hash)")
    let again = try await fixture.store.put(try record("/a", language: "en"), [3])
    func languages() throws -> Set<NominatedField.Value> {
      Set(try fixture.store.read(key("/a")).flatMap { $0.record.response.nominated.map(\.value) })
    }
    #expect(try languages() == [.text("en"), .text("de")])
    // Both stay when one is freshened, when one is stored again, and when a partial body of one is stored.
    #expect(try await fixture.store.update(again))
    #expect(try languages() == [.text("en"), .text("de")])
    try await fixture.store.put(english, [4])
    let part = try record("/a", language: "en").storing([0..<1], bodyLength: 10)
    try await fixture.store.put(part, [5])
    #expect(try languages() == [.text("en"), .text("de")])
    #expect(try fixture.store.read(key("/a")).count == 3)
  }

  @Test(
    "a more recent variant does not affect another one with the same variant hash (RFC 9111 §4, §4.1)")
  func recencyOfVariantsOfOneHash() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/a", language: "en"), [1])
    let hash = try fixture.number("SELECT variant FROM entry")
    let english = try record("/a", language: "en").with(ticket: fixture.store.ticket())
    let slow = try await fixture.store.write(english, variantLimit: 8)
    try await slow.append(BodyBytes([3]))
    try await fixture.store.put(try record("/a", language: "de"), [2])
    await fixture.store.flush()
    try fixture.execute("UPDATE entry SET variant = \(hash)")
    try await slow.commit(trailers: [:])
    #expect(try fixture.store.read(key("/a")).count == 2)
    #expect(try fixture.number("SELECT count(*) FROM entry WHERE body = x'03'") == 1)
  }

  @Test("a look-up reads 256 rows of one hash at most, whatever is in the index")
  func longestLookUp() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/a"), [1])
    await fixture.store.flush()
    let columns = EntryColumn.allCases.filter { ![.id, .hash, .variant].contains($0) }.map(\.name)
      .joined(separator: ", ")
    try fixture.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
      INSERT INTO entry (id, hash, variant, \(columns))
      SELECT 1000 + i, hash, variant + i, \(columns) FROM n, (SELECT * FROM entry LIMIT 1)
      """)
    #expect(try fixture.number("SELECT count(*) FROM entry") == 1_001)
    #expect(try fixture.store.read(key("/a")).count == 256)
  }
}
