import Foundation
import HTTPCacheStore
import HTTPCacheTesting
import Testing

@testable import HTTPCacheDisk

/// Files of removed rows count until they are deleted, in all stores of a directory.
@Suite struct HeldRoomTests {
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
    #expect(other.claims(on: other.currentParts).reserved == 3 << 20)
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
