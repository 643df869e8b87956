import Foundation
@testable import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import Testing

/// Removals and invalidations of more entries than one transaction changes, by a process that ended right after
/// the transaction that wrote the epoch.
@Suite(.timeLimit(.minutes(5)))
struct EpochTests {
  private static let count = 600

  /// The epoch of a process that ended right after it wrote the epoch.
  enum Left: CaseIterable, Sendable {
    case prefix, partition, group, site, storedBefore

    // Kind, number, scope and name; the kind of a removal has bit 4 set, that of an expiry bit 5.
    func values(_ effect: Epoch.Effect) -> String {
      let bit = effect == .removes ? 16 : effect == .marks(.expired) ? 32 : 0
      return switch self {
      case .prefix: "\(2 | bit), 0, 'https://example.com/many/', ''"
      case .partition: "\(1 | bit), \(CacheMode.private.rawValue), 'many', ''"
      case .group: "\(3 | bit), 0, 'https://example.com', 'g'"
      case .site: "\(6 | bit), \(CacheMode.private.rawValue), 'https://example.com', 'many'"
      case .storedBefore: "\(4 | bit), 1800000001, '', ''"
      }
    }
  }

  private func key(_ index: Int) -> CacheKey {
    CacheKey(mode: .private, partition: "many", target: "https://example.com/many/\(index)")
  }

  private func fill(_ fixture: Fixture) async throws -> CacheKey {
    for index in 0..<Self.count {
      let response = StoreSample.response(time: Timestamp(seconds: 1_800_000_000))
      try await fixture.store.put(
        CacheRecord(key: key(index), response: response, groups: ["g"]), index % 50 == 0 ? bytes(20_000) : [1]
      )
    }
    let other = CacheKey(mode: .private, target: "https://example.net/other")
    let response = StoreSample.response(time: Timestamp(seconds: 1_800_000_010))
    try await fixture.store.put(CacheRecord(key: other, response: response), [2])
    // Writes the batch, as a process does before it writes an epoch.
    _ = try await fixture.store.entries(.all, after: nil, limit: 1)
    return other
  }

  private func leave(_ left: Left, _ effect: Epoch.Effect, in fixture: Fixture) throws {
    try fixture.execute(
      """
      UPDATE state SET sequence = sequence + 1;
      INSERT INTO epoch SELECT \(left.values(effect)), sequence FROM state;
      """)
  }

  private func check(_ store: DiskStore, _ effect: Epoch.Effect, other: CacheKey) throws {
    for index in [0, 1, 300, Self.count - 1] {
      let found = try store.read(key(index)).first?.record.response
      #expect(found?.isInvalidated == (effect == .removes ? nil : effect == .marks(.invalidated)))
      #expect(found?.isExpired == (effect == .removes ? nil : effect == .marks(.expired)))
    }
    let kept = try store.read(other).first?.record.response
    #expect(kept?.isInvalidated == false && kept?.isExpired == false)
  }

  @Test(
    "the epoch applies in a store that has the directory open, and the next reader continues it",
    arguments: Left.allCases, [Epoch.Effect.marks(.invalidated), .marks(.expired), .removes])
  func besideRunningStore(_ left: Left, _ effect: Epoch.Effect) async throws {
    let fixture = try Fixture()
    let other = try await fill(fixture)
    let stored = try #require(try fixture.store.read(key(1)).first?.record)
    try leave(left, effect, in: fixture)
    try check(fixture.store, effect, other: other)
    if effect == .removes {
      #expect(try await fixture.store.update(stored.with(ticket: fixture.store.ticket())) == false)
      let listed = try await fixture.store.entries(.all, after: nil, limit: 1_000).entries
      #expect(listed.map(\.record.key) == [other])
    }
    // The epoch does not apply to a response that is stored afterwards.
    try await fixture.store.put(CacheRecord(key: key(1), response: StoreSample.response()), [3])
    #expect(try fixture.store.read(key(1)).first?.record.response.isInvalidated == false)
    fixture.clock.advance(by: 2)
    _ = try fixture.store.read(key(2))
    try await waitUntilWorkedOff(fixture)
    #expect(fixture.store.usage.diskEntries == (effect == .removes ? 2 : Self.count + 1))
    #expect(try fixture.store.read(key(1)).first?.record.response.isInvalidated == false)
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test(
    "the epoch has its effect after reopening", arguments: Left.allCases,
    [Epoch.Effect.marks(.invalidated), .marks(.expired), .removes])
  func reopened(_ left: Left, _ effect: Epoch.Effect) async throws {
    let fixture = try Fixture()
    let other = try await fill(fixture)
    try leave(left, effect, in: fixture)
    let again = try fixture.other()
    try check(again, effect, other: other)
    try await waitUntilWorkedOff(fixture)
    try check(again, effect, other: other)
    #expect(again.usage.diskEntries == (effect == .removes ? 1 : Self.count + 1))
    #expect(try await again.verify(repair: false).isSound)
  }

  @Test("two removals of the same entries at once count each of them once")
  func twice() async throws {
    let fixture = try Fixture()
    _ = try await fill(fixture)
    let store = fixture.store
    let selection = CacheSelection.prefix("https://example.com/many/")
    async let first = store.remove(selection)
    async let second = store.remove(selection)
    let removed = try await (first, second)
    #expect(removed.0 + removed.1 == Self.count)
    #expect(store.usage.diskEntries == 1)
    #expect(try await store.verify(repair: false).isSound)
  }

  @Test("a store that continues an epoch holds an owner lock: if it ends, its files without rows are swept")
  func announced() async throws {
    let fixture = try Fixture()
    _ = try await fill(fixture)
    try leave(.prefix, .removes, in: fixture)
    let before = try owners(fixture)
    let again = try fixture.other()
    try await waitUntilWorkedOff(fixture)
    let names = try owners(fixture).subtracting(before)
    #expect(names.count == 1)
    withExtendedLifetime(again) {}
  }

  @Test("the files that a killed purge left beside their living writer are swept by a later opener")
  func killedBesideWriter() async throws {
    let directory = try ScratchFolder()
    let clock = ManualClock(now: Timestamp(seconds: 1_800_000_000))
    func open() throws -> DiskStore {
      try DiskStore.open(directory: directory.path("cache"), capacity: 64 << 20, clock: clock)
    }
    var writer: DiskStore? = try open()
    try await writer?.put(CacheRecord(key: key(1), response: StoreSample.response()), bytes(100_000))
    await writer?.flush()
    let writers = directory.path("cache/writers")
    let owner = try #require(try FileManager.default.contentsOfDirectory(atPath: writers).first)
    // As a process does that ends between the commit and the deletion of the file.
    try execute(
      "DELETE FROM block; DELETE FROM entry; UPDATE state SET entries = 0, bodies = 0",
      on: directory.path("cache/Cache.db"))
    let lock = writers + "/00000000000000aa"
    try Data().write(to: URL(fileURLWithPath: lock))
    let second = try open()
    try await second.sweeper.removeLeftovers()
    #expect(try directory.bodyFiles().count == 1)
    #expect(FileManager.default.fileExists(atPath: lock))
    await writer?.close()
    writer = nil
    // Threads of the store may release it later.
    try await until { !FileManager.default.fileExists(atPath: writers + "/" + owner) }
    let third = try open()
    try await until { try directory.bodyFiles().isEmpty }
    try await until { !FileManager.default.fileExists(atPath: lock) }
    withExtendedLifetime((second, third)) {}
  }

  private func owners(_ fixture: Fixture) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path("cache/writers")))
  }

  private func waitUntilWorkedOff(_ fixture: Fixture) async throws {
    try await until {
      await fixture.store.flush()
      return try fixture.number("SELECT count(*) FROM epoch") == 0
    }
  }
}
