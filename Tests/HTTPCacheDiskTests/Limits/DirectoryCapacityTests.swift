import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import Testing

/// The capacity belongs to the directory, whichever process opens it.
@Suite(.timeLimit(.minutes(10))) struct DirectoryCapacityTests {
  private func fill(_ store: DiskStore, _ count: Int, _ prefix: String = "") async throws {
    for index in 0..<count { try await store.put(try record("/\(prefix)\(index)"), bytes(90_000)) }
    await store.flush()
  }

  /// Opens the directory of a fixture without a capacity, as a later process does.
  private func later(_ fixture: Fixture, evicts: Bool = true) throws -> DiskStore {
    try DiskStore.open(
      directory: fixture.directory.path("cache"), options: DiskStore.Options(evicts: evicts),
      clock: fixture.clock)
  }

  @Test("a new directory has 1 GiB and 128 MiB free, or what it was opened with")
  func new() throws {
    let directory = try ScratchFolder()
    let plain = try DiskStore.open(directory: directory.path("plain"))
    #expect(try plain.settings() == DirectorySettings(capacity: 1 << 30, minimumFreeSpace: 128 << 20))
    #expect(plain.previousCapacity == nil)
    let given = try DiskStore.open(directory: directory.path("given"), capacity: 5 << 20, minimumFreeSpace: 7)
    #expect(try given.settings() == DirectorySettings(capacity: 5 << 20, minimumFreeSpace: 7))
    #expect(given.previousCapacity == nil)
  }

  @Test("a store that is opened without a capacity has that of the directory, and evicts nothing")
  func keptCapacity() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    do {
      let store = try DiskStore.open(directory: cache, capacity: 3 << 30, minimumFreeSpace: 0)
      try await fill(store, 20)
    }
    let store = try DiskStore.open(directory: cache)
    #expect(store.usage.diskCapacity == 3 << 30)
    #expect(try store.diskUsage().capacity == 3 << 30)
    #expect(try store.settings() == DirectorySettings(capacity: 3 << 30, minimumFreeSpace: 0))
    try await store.put(try record("/more"), bytes(90_000))
    await store.flush()
    #expect(store.usage.diskEntries == 21)
    #expect(try await store.counts().evictions == 0)
  }

  @Test("opening with another capacity changes that of the directory, and reports the old one")
  func changedOnOpening() async throws {
    let fixture = try Fixture(capacity: 16 << 20)
    try await fill(fixture.store, 100)
    await fixture.store.flush()
    let usage = fixture.store.usage.diskBytes
    let small = try DiskStore.open(
      directory: fixture.directory.path("cache"), capacity: 2 << 20, clock: fixture.clock)
    #expect(small.previousCapacity == 16 << 20)
    try await until { small.usage.diskBytes <= 2 << 20 }
    #expect(small.previousUsage == usage, "the usage before the eviction")
    #expect(try later(fixture).settings().capacity == 2 << 20)
    #expect(try later(fixture).previousCapacity == nil)
  }

  @Test("stores that have the directory open follow when another one changes the capacity, down and up")
  func running() async throws {
    let fixture = try Fixture(capacity: 16 << 20)
    try await fill(fixture.store, 50)
    let other = try later(fixture)
    try await other.setCapacity(memory: nil, disk: 2 << 20)
    #expect(fixture.store.usage.diskCapacity == 2 << 20)
    try await fill(fixture.store, 50, "b")
    #expect(fixture.store.usage.diskBytes <= 2 << 20)
    try await other.setCapacity(memory: nil, disk: 8 << 20)
    try await fill(fixture.store, 60, "c")
    #expect(fixture.store.usage.diskBytes > 4 << 20)
    #expect(fixture.store.usage.diskBytes <= 8 << 20)
    #expect(try await fixture.store.verify(repair: false).isSound)
  }

  @Test("the longest body follows a capacity that another store raised")
  func longestBody() async throws {
    let fixture = try Fixture(capacity: 4 << 20, largestEntry: .share(0.5))
    let large = try record("/large", bodyLength: 3 << 20)
    let error = await #expect(throws: CacheError.self) { try await fixture.store.put(large, bytes(3 << 20)) }
    #expect(error?.code == .tooLarge)
    try await later(fixture).setCapacity(memory: nil, disk: 64 << 20)
    try await fixture.store.put(large, bytes(3 << 20))
    #expect(fixture.store.usage.diskEntries == 1)
  }

  @Test("a store that only reads evicts nothing, although the usage exceeds the capacity")
  func onlyLooks() async throws {
    let fixture = try Fixture(capacity: 16 << 20)
    try await fill(fixture.store, 20)
    try sqlite(fixture, "UPDATE meta SET value = 1 WHERE name = 'capacity'")
    let looking = try later(fixture, evicts: false)
    await looking.flush()
    #expect(looking.usage.diskEntries == 20)
    #expect(try await looking.counts().evictions == 0)
    let evicting = try later(fixture)
    try await until { evicting.usage.diskEntries == 0 }
  }

  @Test("the minimum of free space belongs to the directory too")
  func minimumFree() async throws {
    let fixture = try Fixture()
    try await fixture.store.setMinimumFreeSpace(5 << 20)
    #expect(try later(fixture).settings().minimumFreeSpace == 5 << 20)
    #expect(try fixture.store.settings().capacity == 64 << 20)
  }

  @Test("a damaged index that is set aside leaves its capacity to the next one, if it can be read")
  func damaged() async throws {
    let fixture = try Fixture(capacity: 48 << 20)
    await fixture.store.flush()
    // A trigger makes the index count as damaged.
    try sqlite(fixture, "CREATE TRIGGER other AFTER INSERT ON entry BEGIN SELECT 1; END")
    let next = try later(fixture)
    #expect(next.openingNotes.contains { $0.contains("damaged") })
    #expect(try next.settings().capacity == 48 << 20)
  }

  @Test(
    "an impossible capacity in the index counts as missing", arguments: ["-1", "'text'", "x'00'", "NULL"])
  func impossible(value: String) async throws {
    let fixture = try Fixture(capacity: 16 << 20)
    try await fill(fixture.store, 3)
    try sqlite(fixture, "UPDATE meta SET value = \(value) WHERE name = 'capacity'")
    let store = try later(fixture)
    #expect(store.usage.diskCapacity == 1 << 30)
    await store.flush()
    #expect(store.usage.diskEntries == 3)
  }

  @Test("a directory that vanished and is made again keeps the capacity that the store knows")
  func madeAgain() async throws {
    let fixture = try Fixture(capacity: 16 << 20)
    try await fixture.store.setMinimumFreeSpace(9)
    try FileManager.default.removeItem(atPath: fixture.directory.path("cache"))
    try await fixture.store.put(try record("/a"), bytes(90_000))
    #expect(try later(fixture).settings() == DirectorySettings(capacity: 16 << 20, minimumFreeSpace: 9))
  }

  private func sqlite(_ fixture: Fixture, _ statement: String) throws {
    try fixture.execute(statement)
  }
}
