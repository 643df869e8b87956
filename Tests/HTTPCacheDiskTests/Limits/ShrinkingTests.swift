import Foundation
import HTTPCacheDisk
import HTTPCacheStore
import HTTPCacheTesting
import Testing

/// A smaller capacity, and responses that are no longer pinned.
@Suite(.timeLimit(.minutes(10))) struct ShrinkingTests {
  @Test("the index shrinks even if the excess cannot be evicted completely", arguments: [false, true])
  func shrunk(withPinned: Bool) async throws {
    let fixture = try Fixture()
    for index in 0..<400 { try await fixture.store.put(try record("/\(index)"), bytes(14_000)) }
    var least: Int64 = 512 << 10
    if withPinned {
      for index in 0..<20 {
        try await fixture.store.put(try record("/pinned/\(index)", isPinned: true), bytes(30_000))
      }
      least += 20 * 32 << 10
    }
    let cache = fixture.directory.path("cache")
    #expect(DiskMeter.taken(below: cache) > 6 << 20)
    try await fixture.store.setCapacity(memory: nil, disk: 0)
    #expect(fixture.store.usage.diskEntries == (withPinned ? 20 : 0))
    let taken = DiskMeter.taken(below: cache)
    #expect(taken <= least, "\(taken)")
    #expect(abs(fixture.store.usage.diskBytes - taken) <= 64 << 10)
    await #expect(throws: CacheError.self) { try await fixture.store.put(try record("/a"), [1]) }
  }

  @Test("an entry that is no longer pinned is evicted if it exceeds the capacity")
  func unpinned() async throws {
    let fixture = try Fixture(capacity: 8 << 20)
    for index in 0..<20 {
      try await fixture.store.put(try record("/\(index)", isPinned: true), bytes(250_000))
    }
    try await fixture.store.setCapacity(memory: nil, disk: 2 << 20)
    #expect(fixture.store.usage.diskEntries == 20)
    for index in 0..<20 {
      let stored = try #require(try fixture.store.read(key("/\(index)")).first).record
      let isUpdated = try await fixture.store.update(stored.with(isPinned: false))
      #expect(isUpdated || index > 0)
    }
    try await until { fixture.store.usage.diskBytes <= 2 << 20 }
    #expect((1...8).contains(fixture.store.usage.diskEntries))
  }

  @Test("a directory that was given as a relative path stays where it was when the working directory changes")
  func relative() async throws {
    let directory = try ScratchFolder()
    await #expect(processExitsWith: .success) { [base = directory.path as String] in
      for name in ["one", "two"] {
        try FileManager.default.createDirectory(atPath: base + "/" + name, withIntermediateDirectories: true)
      }
      try #require(chdir(base + "/one") == 0)
      let store = try DiskStore.open(directory: "some/cache", capacity: 8 << 20)
      try await store.put(try record("/a"), [1])
      try #require(chdir(base + "/two") == 0)
      try FileManager.default.removeItem(atPath: base + "/one/some")
      // The next change finds that the directory was removed, and makes it again.
      _ = try? await store.put(try record("/b"), [2])
      try await store.put(try record("/c"), [3])
      #expect(try FileManager.default.contentsOfDirectory(atPath: base + "/two").isEmpty)
      #expect(FileManager.default.fileExists(atPath: base + "/one/some/cache/Cache.db"))
    }
  }
}
