import Foundation
import HTTPCacheStore
import HTTPCacheTesting
import Testing

@testable import HTTPCacheDisk

/// Files of removed rows count until they are deleted, in all stores of a directory.
@Suite(.timeLimit(.minutes(10))) struct HeldRoomTests {
  @Test("what one store is about to delete counts for all, until it has, once")
  func told() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    for store in [fixture.store, other] { try await store.put(try record("/\(store === other)"), [1]) }
    await fixture.store.flush()
    await other.flush()
    let (here, there) = (fixture.store.currentParts.room, other.currentParts.room)
    let before = other.usage.diskBytes
    let leaving = HeldRoom(3 << 20, in: here)
    #expect(there.leavingBytes == 3 << 20 && here.leavingBytes == 3 << 20)
    #expect(other.usage.diskBytes == before + 3 << 20)
    #expect(other.reservedBytes(other.currentParts) == 3 << 20)
    leaving.release()
    leaving.release()
    #expect(there.leavingBytes == 0 && here.leavingBytes == 0)
    #expect(other.usage.diskBytes == before)
  }

  @Test("a transaction that fails takes back what it told")
  func failed() throws {
    let fixture = try Fixture()
    let parts = fixture.store.currentParts
    do {
      let leaving = HeldRoom(1 << 20, in: parts.room)
      #expect(parts.room.leavingBytes == 1 << 20)
      withExtendedLifetime(leaving) {}
    }
    #expect(parts.room.leavingBytes == 0)
  }

  @Test("a body that can never be deleted counts, and does not keep others from going")
  func undeletable() async throws {
    let fixture = try Fixture(capacity: 8 << 20, largestEntry: .bytes(1 << 20))
    try await fixture.store.put(try record("/odd"), bytes(300_000))
    let path = try #require(try fixture.directory.bodyFiles().first)
    let file = fixture.directory.path("cache/bodies/" + path)
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.createDirectory(atPath: file + "/full", withIntermediateDirectories: true)
    try await fixture.store.remove(.key(key("/odd")))
    let room = fixture.store.currentParts.room
    #expect(room.leavingBytes >= 300_000)
    for index in 0..<60 {
      for _ in 0..<3 { _ = try fixture.store.read(key("/\(index)")) }
      try await fixture.store.put(try record("/\(index)"), bytes(300_000))
    }
    #expect(try await fixture.store.counts().evictions > 20)
    #expect(fixture.store.usage.diskBytes <= 8 << 20)
    #expect(room.leavingBytes < 400_000)
  }

  @Test("nothing stays told when all is removed, replaced, evicted and freshened")
  func balanced() async throws {
    let fixture = try Fixture(capacity: 4 << 20, largestEntry: .bytes(1 << 20))
    for index in 0..<40 {
      try await fixture.store.put(try record("/\(index % 25)"), bytes(200_000 + index))
      if index % 5 == 0 { _ = try await fixture.store.invalidate(.key(key("/\(index % 7)"))) }
      if index % 9 == 0 { try await fixture.store.remove(.key(key("/\(index % 25)"))) }
    }
    try await fixture.store.setCapacity(memory: nil, disk: 2 << 20)
    try await fixture.store.remove(.prefix("https://example.com/1"))
    try await fixture.store.remove(.all)
    #expect(try await fixture.store.counts().evictions > 0)
    #expect(fixture.store.currentParts.room.leavingBytes == 0)
    #expect(fixture.store.currentParts.room.ownBytes == 0)
  }
}
