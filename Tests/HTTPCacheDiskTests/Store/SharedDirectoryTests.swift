import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// Several stores on one directory.
@Suite(.timeLimit(.minutes(10))) struct SharedDirectoryTests {
  @Test("a body that is being written in an emptied directory is not deleted by a sweep")
  func emptied() async throws {
    let fixture = try Fixture()
    let cache = fixture.directory.path("cache")
    try await fixture.store.put(try record("/before"), bytes(100_000))
    for name in try FileManager.default.contentsOfDirectory(atPath: cache) {
      try FileManager.default.removeItem(atPath: cache + "/" + name)
    }
    try await fixture.store.put(try record("/after"), bytes(100_000))
    let writer = try await fixture.store.write(try record("/large"), variantLimit: 8)
    try await writer.append(BodyBytes(bytes(1 << 20)))
    let other = try fixture.other()
    try await other.put(try record("/other"), [1])
    #expect(fixture.store.usage.diskBytes >= 1 << 20, "what is being written counts")
    #expect(try await other.verify(repair: true).findings.isEmpty)
    try await writer.commit(trailers: [:])
    #expect(try await other.body(key("/large")) == bytes(1 << 20))
    #expect(try FileManager.default.contentsOfDirectory(atPath: cache + "/writers").count == 2)
  }

  @Test("a response gets no row after its writer was abandoned")
  func rowAfterGivingUp() async throws {
    let fixture = try Fixture()
    try await fixture.store.put(try record("/first"), bytes(300_000))
    let database = fixture.database
    let writer = try await fixture.store.write(try resumable("/part", 6 << 20), variantLimit: 8)
    let before = try fixture.directory.bodyFiles().count
    let held = try HeldDatabase(database)
    let append = Task { try? await writer.append(BodyBytes(bytes(600_000))) }
    // The file waits for its row.
    try await until { try fixture.directory.bodyFiles().count > before }
    // No event tells that the row waits for the index, which the other connection holds. On a busy machine, the writer may
    // be abandoned before: then there is no row either.
    for _ in 0..<1_000 { await Task.yield() }
    writer.abandon()
    held.release()
    await append.value
    await fixture.store.flush()
    #expect(try number("SELECT count(*) FROM entry", on: database) == 1)
    #expect(try fixture.directory.bodyFiles().count == before)
  }

  @Test("what one store is writing while another wipes its partition is not stored, and leaves no byte")
  func wipedByAnother() async throws {
    let account = "account-7f3a-of-somebody"
    let fixture = try Fixture()
    let (cache, other) = (fixture.directory.path("cache"), try fixture.other())
    let body = Array(String(repeating: account, count: 20_000).utf8)
    let writer = try await fixture.store.write(try record("/\(account)", partition: account), variantLimit: 8)
    try await writer.append(BodyBytes(body))
    try await other.wipe(mode: .private, partition: account)
    let error = await #expect(throws: CacheError.self) { try await writer.append(BodyBytes(body)) }
    #expect(error?.code == .wiped)
    await fixture.store.flush()
    #expect(try fixture.store.read(key("/\(account)", partition: account)).isEmpty)
    #expect(try fixture.directory.bodyFiles().isEmpty)
    #expect(DiskMeter.files(below: cache, containing: account) == [])
  }

  @Test("wiping a partition keeps an epoch that was written later")
  func laterEpoch() async throws {
    let fixture = try Fixture()
    let database = fixture.database
    try await fixture.store.put(try record("/a", partition: "account"), [1])
    // The work after opening applies epochs and deletes them.
    await fixture.store.flush()
    // An epoch as if another process had invalidated the partition later: its number is above all in the index.
    let later: Int64 = 1 << 61
    try execute("INSERT INTO epoch VALUES (1, 0, 'account', '', \(later))", on: database)
    try await fixture.store.wipe(mode: .private, partition: "account")
    #expect(try number("SELECT count(*) FROM epoch WHERE sequence = \(later)", on: database) == 1)
    try execute("UPDATE epoch SET sequence = 1", on: database)
    try await fixture.store.wipe(mode: .private, partition: "account")
    #expect(try number("SELECT count(*) FROM epoch", on: database) == 0)
  }
}
