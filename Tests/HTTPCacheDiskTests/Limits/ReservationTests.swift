import Foundation
import HTTPCacheStore
import HTTPCacheTesting
import Testing

@testable import HTTPCacheDisk
@testable import HTTPCacheFiles

/// Reservations: bytes that no row counts.
@Suite(.timeLimit(.minutes(10))) struct ReservationTests {
  @Test("reserved bytes are within the limit up to the byte, and a writer asks once they are not")
  func limit() {
    let reservations = Reservations()
    #expect(reservations.areWithinLimit)
    reservations.add(1)
    #expect(!reservations.areWithinLimit, "nothing was published yet")
    reservations.setLimit(100)
    reservations.add(99)
    #expect(reservations.areWithinLimit)
    reservations.add(1)
    #expect(!reservations.areWithinLimit)
    reservations.add(-101)
    #expect(reservations.bytes == 0)
  }

  @Test("a pending deletion is reserved until it is taken, once")
  func pendingDeletion() {
    let reservations = Reservations()
    reservations.add(300, pending: BodyName(owner: 1, number: 2))
    #expect(reservations.bytes == 300 && reservations.hasPendingDeletions)
    #expect(reservations.takePendingDeletions().map(\.bytes) == [300])
    #expect(reservations.bytes == 0 && !reservations.hasPendingDeletions)
    #expect(reservations.takePendingDeletions().isEmpty)
  }

  @Test("a body that can never be deleted counts, and does not prevent other evictions")
  func undeletable() async throws {
    let fixture = try Fixture(capacity: 8 << 20, largestEntry: .bytes(1 << 20))
    try await fixture.store.put(try record("/odd"), bytes(300_000))
    let path = try #require(try fixture.directory.bodyFiles().first)
    let file = fixture.directory.path("cache/bodies/" + path)
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.createDirectory(atPath: file + "/full", withIntermediateDirectories: true)
    try await fixture.store.remove(.key(key("/odd")))
    let reservations = fixture.store.thread.currentDirectory.reservations
    #expect(reservations.bytes >= 300_000)
    for index in 0..<60 {
      for _ in 0..<3 { _ = try fixture.store.read(key("/\(index)")) }
      try await fixture.store.put(try record("/\(index)"), bytes(300_000))
    }
    #expect(try await fixture.store.counts().evictions > 20)
    #expect(fixture.store.usage.diskBytes <= 8 << 20)
    #expect(reservations.bytes < 400_000)
  }

  @Test("nothing stays reserved when all is removed, replaced, evicted and freshened")
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
    #expect(fixture.store.thread.currentDirectory.reservations.bytes == 0)
  }
}
