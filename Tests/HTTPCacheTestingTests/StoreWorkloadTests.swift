import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

@Suite("StoreWorkload", .timeLimit(.minutes(10))) struct StoreWorkloadTests {
  @Test("a seed determines it, here and in another process")
  func determined() throws {
    let workload = StoreWorkload(seed: 7, count: 200, keys: 3..<9, writer: 4, longest: 20_000)
    #expect(workload.steps == StoreWorkload(arguments: workload.arguments)?.steps)
    #expect(workload.steps != StoreWorkload(seed: 8, count: 200).steps)
    #expect(StoreWorkload(arguments: ["x"]) == nil)
  }

  @Test("a store in memory has what the ledger tells", arguments: 1...8)
  func memory(seed: UInt64) async throws {
    let clock = ManualClock(now: StoreSample.start)
    let store = MemoryStore(capacity: 64 << 20, clock: clock)
    let workload = StoreWorkload(seed: seed, count: 120)
    var ledger = WorkloadLedger()
    try await workload.run(on: store, clock: clock) { ledger.note(workload.steps[$0], $1) }
    let audit = try await WorkloadAudit.run(
      on: store, keys: workload.keys, ledger: ledger, isComplete: true)
    #expect(audit.whole > 0)
    #expect(audit.unreadable == 0)
  }

  @Test("a body that is not what was written is found, and half a one that passes for whole")
  func wrongBody() async throws {
    let store = MemoryStore(capacity: 1 << 20)
    for (number, body) in [BodyBytes([1, 2, 3]), BodyBytes([])].enumerated() {
      let version = SampleVersion(key: 0, writer: 1, number: number, length: 3)
      let writer = try await store.write(version.record(announcesLength: false), variantLimit: 8)
      try await writer.append(body)
      try await writer.commit(trailers: [:])
      await #expect(throws: StoreViolation.self) {
        _ = try await WorkloadAudit.run(on: store, keys: 0..<1)
      }
    }
  }

  @Test("a record under another key is found")
  func wrongKey() async throws {
    let store = MemoryStore(capacity: 1 << 20)
    let record = SampleVersion(key: 1, writer: 1, number: 0, length: 0).record()
    let moved = CacheRecord(key: SampleVersion.key(0), response: record.response, bodyLength: 0)
    try await store.write(moved, variantLimit: 8).commit(trailers: [:])
    await #expect(throws: StoreViolation.self) {
      _ = try await WorkloadAudit.run(on: store, keys: 0..<1)
    }
  }

  @Test("what the store called done is missed, and what was removed or replaced is not to be found")
  func ledger() async throws {
    let store = MemoryStore(capacity: 1 << 20)
    let (old, new) = (
      SampleVersion(key: 0, writer: 1, number: 0, length: 10),
      SampleVersion(key: 0, writer: 1, number: 1, length: 10)
    )
    var ledger = WorkloadLedger()
    func note(_ step: WorkloadStep, _ outcomes: [WorkloadOutcome] = [.begun, .done]) {
      for outcome in outcomes { ledger.note(step, outcome) }
    }
    note(.store(old, announcesLength: true))
    await #expect(throws: StoreViolation.self, "missing") {
      _ = try await WorkloadAudit.run(on: store, keys: 0..<1, ledger: ledger, isComplete: true)
    }
    let writer = try await store.write(old.record(), variantLimit: 8)
    try await writer.append(old.body)
    try await writer.commit(trailers: [:])
    _ = try await WorkloadAudit.run(on: store, keys: 0..<1, ledger: ledger, isComplete: true)
    note(.store(new, announcesLength: true), [.begun])
    _ = try await WorkloadAudit.run(on: store, keys: 0..<1, ledger: ledger, isComplete: true)
    note(.store(new, announcesLength: true), [.done])
    await #expect(throws: StoreViolation.self, "replaced") {
      _ = try await WorkloadAudit.run(on: store, keys: 0..<1, ledger: ledger)
    }
    ledger = WorkloadLedger()
    note(.store(old, announcesLength: true))
    note(.invalidate(0))
    await #expect(throws: StoreViolation.self, "invalidated") {
      _ = try await WorkloadAudit.run(on: store, keys: 0..<1, ledger: ledger)
    }
    note(.remove(0))
    await #expect(throws: StoreViolation.self, "removed") {
      _ = try await WorkloadAudit.run(on: store, keys: 0..<1, ledger: ledger)
    }
  }
}
