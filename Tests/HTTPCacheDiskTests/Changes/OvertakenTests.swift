import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Testing

/// A response that another process invalidates during its transfer is stored as invalidated (RFC 9111 §4.4).
@Suite(.timeLimit(.minutes(10))) struct OvertakenTests {
  enum Change: CaseIterable, Sendable {
    case sameKey, target, prefix, partition, all, removal, removalOfAll

    func make(_ store: DiskStore) async throws {
      switch self {
      case .sameKey: try await store.invalidate(.key(key("/a")))
      case .target: try await store.invalidate(.target("https://example.com/a"))
      case .prefix: try await store.invalidate(.prefix("https://example.com/"))
      case .partition: try await store.invalidate(.partition(mode: .private, ""))
      case .all: try await store.invalidate(.all)
      case .removal: try await store.remove(.key(key("/a")))
      case .removalOfAll: try await store.remove(.all)
      }
    }
  }

  private func isInvalidated(_ store: DiskStore, _ path: String = "/a") throws -> Bool? {
    try store.read(key(path)).first?.record.response.isInvalidated
  }

  @Test("a response that is being stored", arguments: Change.allCases)
  func storing(change: Change) async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    for body in [bytes(10), bytes(300_000)] {
      let writer = try await fixture.store.write(try record("/a"), variantLimit: 8)
      try await writer.append(BodyBytes(body))
      try await change.make(other)
      let stored = try await writer.commit(trailers: [:])
      #expect(stored.response.isInvalidated)
      #expect(try isInvalidated(fixture.store) == true)
      #expect(try isInvalidated(other) == true)
      #expect(try await other.body(key("/a")) == body)
      // The next transfer begins after the change.
      try await fixture.store.put(try record("/a"), body)
      #expect(try isInvalidated(other) == false)
    }
  }

  @Test("a response that is being freshened", arguments: [Change.sameKey, .target, .prefix, .all])
  func freshening(change: Change) async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    try await fixture.store.put(try record("/a"), bytes(10))
    let ticket = fixture.store.ticket()
    let before = try #require(try fixture.store.read(key("/a")).first?.record)
    try await change.make(other)
    #expect(try await fixture.store.update(before.with(ticket: ticket)))
    #expect(try isInvalidated(other) == true)
    // A caller that read the record after the change may make it fresh.
    let after = try #require(try fixture.store.read(key("/a")).first?.record)
    var response = after.response
    response.isInvalidated = false
    #expect(
      try await fixture.store.update(after.with(response: response, ticket: fixture.store.ticket())))
    #expect(try isInvalidated(other) == false)
  }

  @Test("a response that was invalidated before, and again during its validation")
  func again() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    try await fixture.store.put(try record("/a"), bytes(10))
    try await other.invalidate(.key(key("/a")))
    let before = try #require(try fixture.store.read(key("/a")).first?.record)
    let ticket = fixture.store.ticket()
    try await other.invalidate(.key(key("/a")))
    var response = before.response
    response.isInvalidated = false
    #expect(try await fixture.store.update(before.with(response: response, ticket: ticket)))
    #expect(try isInvalidated(other) == true)
  }

  @Test("a partial body that is being completed")
  func completing() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    let body = bytes(600_000)
    let part = try await fixture.store.write(
      try record("/a", bodyLength: 600_000, storedRanges: [0..<400_000]), variantLimit: 8)
    try await part.append(BodyBytes(body[..<400_000]))
    try await part.commit(trailers: [:])
    let found = try #require(try fixture.store.read(key("/a")).first?.record)
    let writer = try await fixture.store.extend(found.with(ticket: fixture.store.ticket()), at: 400_000)
    try await other.invalidate(.target("https://example.com/a"))
    try await writer.append(BodyBytes(body[400_000...]))
    #expect(try await writer.commit(trailers: [:]).response.isInvalidated)
    #expect(try isInvalidated(other) == true)
    #expect(try await other.body(key("/a")) == body)
  }

  @Test("invalidations of other targets, and removals by variant or last use, change nothing")
  func others() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    try await other.put(try record("/b"), bytes(10))
    let writer = try await fixture.store.write(try record("/a"), variantLimit: 8)
    try await writer.append(BodyBytes(bytes(10)))
    try await other.invalidate(.key(key("/b")))
    let found = try #require(try other.read(key("/b")).first?.record)
    try await other.remove(.variant(found.key, sequence: found.sequence))
    try await other.remove(.unusedSince(Timestamp(seconds: 0)))
    try await other.put(try record("/a"), bytes(20))
    #expect(try await writer.commit(trailers: [:]).response.isInvalidated == false)
    #expect(try isInvalidated(other) == false)
  }
}
