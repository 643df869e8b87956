import HTTPCacheSealing
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import SealingTesting
import Synchronization
import Testing

/// Changes, checks and a workload of a sealed store over a disk.
@Suite(.timeLimit(.minutes(10))) struct SealedStoreTests {
  private let directory: SealedDirectory

  init() throws { directory = try SealedDirectory() }

  @Test("everything opens where nothing was changed, and verify says what does not")
  func verify() async throws {
    let disk = try directory.disk()
    let store = try directory.sealed(disk)
    for size in [0, 10, 20_000, 300_000] {
      try await store.store(StoreSample.record(StoreSample.key("/\(size)")), StoreSample.body(size))
    }
    let part = StoreSample.record(StoreSample.key("/part")).storing([0..<200_000], bodyLength: 300_000)
    try await store.store(part, StoreSample.body(200_000))
    let report = try await store.verify()
    #expect(report.findings == [])
    #expect(report.entries == 5)
    #expect(report.bytes == 320_010 + 3 * 65_508)
    // An entry whose record belongs to another entry.
    let entries = try await disk.entries(.all, after: nil, limit: 9).entries.map(\.record)
    let (one, other) = (entries[1], entries[2])
    try await disk.update(
      CacheRecord(
        key: one.key, response: one.response, bodyLength: one.bodyLength, userInfo: other.userInfo
      ).with(sequence: one.sequence))
    #expect(try await store.verify().findings.count == 1)
    #expect(try await disk.verify(repair: false).isSound, "checksums do not tell who wrote")
    #expect(try await store.verify(repair: true).isRepaired)
    #expect(try await store.verify().isSound)
    #expect(disk.usage.diskEntries == 4)
  }

  @Test("RFC 9111 §4.4: copies in memory of what an invalidation does not select stay")
  func selectedCopies() async throws {
    let store = TieredStore(
      memory: MemoryStore(capacity: 8 << 20), base: try directory.sealed(try directory.disk()))
    let keys = ["/a", "/b"].map { StoreSample.key($0) }
    for key in keys { try await store.store(StoreSample.record(key), StoreSample.body(10)) }
    await store.flush()
    for key in keys {
      _ = try await store.read(key).first?.body.open().read(0..<10)
      try #require(store.peek(key) != nil)
    }
    try await store.invalidate(.target(keys[0].target))
    #expect(store.peek(keys[0]) == nil)
    #expect(store.peek(keys[1]) != nil)
    #expect(try store.read(keys[0]).first?.record.response.isInvalidated == true)
  }

  @Test("a workload leaves nothing wrong, whatever broke off", arguments: 1...3 as ClosedRange<UInt64>)
  func workload(_ seed: UInt64) async throws {
    let store = try directory.sealed(try directory.disk())
    let workload = StoreWorkload(seed: seed, count: 120, keys: 0..<12, writer: 1, longest: 400_000)
    var ledger = WorkloadLedger()
    try await workload.run(on: store, clock: directory.clock) { index, outcome in
      ledger.note(workload.steps[index], outcome)
    }
    let audit = try await WorkloadAudit.run(on: store, keys: 0..<12, ledger: ledger)
    #expect(audit.whole > 0)
    #expect(audit.unreadable == 0)
    let again = try directory.sealed(try directory.disk())
    #expect(try await WorkloadAudit.run(on: again, keys: 0..<12, ledger: ledger).whole == audit.whole)
    #expect(directory.damage.withLock { $0.isEmpty })
  }
}
