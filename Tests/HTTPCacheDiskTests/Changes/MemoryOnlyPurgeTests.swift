import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// Entries that are only in the memory of one process, and that another process invalidates or removes.
@Suite(.timeLimit(.minutes(10))) struct MemoryOnlyPurgeTests {
  private func tier(_ store: DiskStore, _ clock: ManualClock) -> TieredStore {
    TieredStore(memory: MemoryStore(capacity: 8 << 20, clock: clock), base: store)
  }

  @discardableResult
  private func put(_ record: CacheRecord, in store: some CacheStore) async throws -> CacheRecord {
    try await store.store(record, BodyBytes([1, 2, 3]))
  }

  private func isFresh(_ store: TieredStore, _ path: String = "/a") throws -> Bool? {
    let variants = try store.peek(key(path)) ?? store.read(key(path))
    return variants.first.map { !$0.record.response.isInvalidated }
  }

  @Test(
    "the entry must be validated before reuse, whatever selects it and however often it was used",
    arguments: [
      CacheSelection.key(key("/a")), .target("https://example.com/a"), .prefix("https://example.com/"),
      .all,
    ], [true, false])
  func purged(_ selection: CacheSelection, removes: Bool) async throws {
    let fixture = try Fixture()
    let (mine, other) = (tier(fixture.store, fixture.clock), try fixture.other())
    try await put(try record("/a", isMemoryOnly: true), in: mine)
    for _ in 0..<3 { #expect(try isFresh(mine) == true) }
    if removes {
      _ = try await other.remove(selection)
    } else {
      _ = try await other.invalidate(selection)
    }
    for _ in 0..<3 { #expect(try isFresh(mine) == false) }

    // A response to a conditional request makes the entry fresh again.
    let found = try #require(try mine.read(key("/a")).first).record
    var response = found.response
    response.isInvalidated = false
    let isUpdated = try await mine.update(found.with(response: response, ticket: mine.ticket()))
    #expect(isUpdated)
    for _ in 0..<3 { #expect(try isFresh(mine) == true) }
  }

  @Test("a response that was invalidated during its transfer is not fresh")
  func overtaken() async throws {
    let fixture = try Fixture()
    let (mine, other) = (tier(fixture.store, fixture.clock), try fixture.other())
    let writer = try await mine.write(try record("/a", isMemoryOnly: true), variantLimit: 8)
    try await writer.append(BodyBytes([1]))
    _ = try await other.remove(.key(key("/a")))
    try await writer.commit(trailers: [:])
    #expect(try isFresh(mine) == false)
  }

  @Test("freshening an older copy does not undo a removal by another process")
  func overtakenBesideOlder() async throws {
    let fixture = try Fixture()
    let (mine, other) = (tier(fixture.store, fixture.clock), try fixture.other())
    let older = try await put(try record("/a", isMemoryOnly: true), in: mine)
    let writer = try await mine.write(try record("/a", isMemoryOnly: true), variantLimit: 8)
    try await writer.append(BodyBytes([1]))
    _ = try await other.remove(.key(key("/a")))
    for _ in 0..<2 { #expect(try isFresh(mine) == false) }
    // The caller read this record before the removal.
    let isUpdated = try await mine.update(older)
    #expect(isUpdated)
    #expect(try isFresh(mine) == false)
    try await writer.commit(trailers: [:])
    for _ in 0..<2 { #expect(try isFresh(mine) == false) }
  }

  @Test("other responses stay fresh, and so does a newer one than the response on disk")
  func others() async throws {
    let fixture = try Fixture()
    let (mine, other) = (tier(fixture.store, fixture.clock), try fixture.other())
    try await put(try record("/a"), in: mine)
    try await put(try record("/a", isMemoryOnly: true), in: mine)
    try await put(try record("/b", isMemoryOnly: true), in: mine)
    _ = try await other.remove(.key(key("/c")))
    for path in ["/a", "/b"] { #expect(try isFresh(mine, path) == true) }
    #expect(try fixture.store.read(key("/a")).first?.record.response.isInvalidated == true)
  }
}
