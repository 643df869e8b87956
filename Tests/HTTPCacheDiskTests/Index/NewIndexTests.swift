import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// A new index, while another process has copies of entries of the old index in memory.
@Suite(.timeLimit(.minutes(10))) struct NewIndexTests {
  private let fixture: Fixture
  private let mine: TieredStore

  init() throws {
    fixture = try Fixture()
    mine = TieredStore(memory: MemoryStore(capacity: 8 << 20, clock: fixture.clock), base: fixture.store)
  }

  private func put(_ record: CacheRecord, _ body: [UInt8]) async throws -> CacheRecord {
    try await mine.store(record, BodyBytes(body))
  }

  /// Damages the index and opens the directory as another process would. Opening sets the index aside.
  private func replaceIndex() async throws -> DiskStore {
    try await fixture.overwriteIndex()
    let other = try fixture.other()
    try #require(other.openingNotes.count == 1)
    return other
  }

  // Until the new index is open, a look-up must find the old response or none.
  private func requireNewBody(_ body: [UInt8]) async throws {
    try await until {
      guard let variant = try? mine.read(key("/a")).first else { return false }
      let found = try variant.body.open().bytesInMemory?.array
      let isNew = variant.record.userInfo == [9]
      #expect(found == (isNew ? body : [1, 1, 1]))
      return isNew
    }
  }

  @Test("a new head is never answered with the old body, though both were the first of their index")
  func sameCount() async throws {
    let old = try await put(try record("/a"), [1, 1, 1])
    let other = try await replaceIndex()
    let new = try await other.put(try record("/a").with(userInfo: [9]), [2, 2, 2])
    #expect(new.sequence > old.sequence)
    try await requireNewBody([2, 2, 2])
    // Records of the old index change nothing in the new one.
    #expect(try await mine.update(old) == false)
    #expect(try await mine.remove(.variant(key("/a"), sequence: old.sequence)) == 0)
    try await requireNewBody([2, 2, 2])
  }

  @Test("a new index gives higher numbers than the old index, although the clock was set back")
  func clockSetBack() async throws {
    await fixture.store.flush()
    try fixture.execute("UPDATE state SET sequence = \(1 << 60)")
    let old = try await put(try record("/a"), [1, 1, 1])
    try #require(old.sequence > 1 << 60)
    let other = try await replaceIndex()
    let new = try await other.put(try record("/a").with(userInfo: [9]), [2, 2, 2])
    #expect(new.sequence > old.sequence)
  }

  @Test("a copy in memory is not taken for a body of another length, whatever its number")
  func otherLength() async throws {
    let old = try await put(try record("/a"), [1, 1, 1])
    let other = try await replaceIndex()
    try fixture.execute("UPDATE state SET sequence = \(old.sequence - 1)")
    let new = try await other.put(try record("/a").with(userInfo: [9]), [2, 2, 2, 2])
    try #require(new.sequence == old.sequence)
    try await requireNewBody([2, 2, 2, 2])
  }
}
