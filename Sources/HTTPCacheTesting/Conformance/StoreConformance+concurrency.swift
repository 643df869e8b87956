import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension StoreConformance {
  static let concurrencyChecks: [StoreCheck] = [
    StoreCheck("Concurrent writers of one key leave one whole body") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let key = StoreSample.key()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for seed in 1...8 as ClosedRange<UInt64> {
          group.addTask {
            let record = StoreSample.record(key, tag: "\"\(seed)\"")
            try await store.storeIfLatest(record, StoreSample.body(100_000, seed: seed))
          }
        }
        try await group.waitForAll()
      }
      let variants = try store.read(key)
      try requireEqual(variants.count, 1, "variants")
      for variant in variants { try await requireOwnBody(variant, size: 100_000) }
      await store.flush()
      try requireEqual(entryCount(of: store), 1, "entries in use")
    },
    StoreCheck("Readers never see the body of one response under the head of another") { makeStore in
      let store = try await makeStore(StoreRequirements())
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 1...3 as ClosedRange<UInt64> {
          group.addTask {
            for round in 0..<20 as Range<UInt64> {
              let seed = worker * 1_000 + round
              let key = StoreSample.key("/\(round % 3)")
              let record = StoreSample.record(key, tag: "\"\(seed)\"")
              try await store.storeIfLatest(record, StoreSample.body(30_000, seed: seed))
              if round % 7 == 6 { try await store.remove(.key(key)) }
            }
          }
          group.addTask {
            for round in 0..<60 {
              for variant in try store.read(StoreSample.key("/\(round % 3)")) {
                try await requireOwnBody(variant, size: 30_000)
              }
              await Task.yield()
            }
          }
        }
        try await group.waitForAll()
      }
    },
    StoreCheck("Usage is exact after concurrent work on a full store") { makeStore in
      let store = try await makeStore(
        StoreRequirements(capacity: 8 << 20, largestEntry: .bytes(1 << 20)))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<4 {
          group.addTask {
            for round in 0..<50 {
              let key = StoreSample.key("/\((worker * 31 + round) % 120)")
              _ = try store.read(key)
              try await store.storeIfLatest(StoreSample.record(key), StoreSample.body(120_000))
              if round % 11 == 0 { try await store.remove(.key(key)) }
              if round % 13 == 0 { try await store.invalidate(.key(key)) }
            }
          }
        }
        try await group.waitForAll()
      }
      await store.flush()
      let listed = try await store.all()
      try requireEqual(entryCount(of: store), listed.count, "entries in use and listed")
      try await store.remove(.all)
      await store.flush()
      try requireEqual(store.usage.memoryBytes, 0, "bytes in memory after everything was removed")
      try requireEqual(entryCount(of: store), 0, "entries after everything was removed")
    },
  ]

  /// The seed of a body, from the entity tag of its record.
  static func seed(of record: CacheRecord) throws(StoreViolation) -> UInt64 {
    let tag = record.response.head.headerFields[.eTag] ?? ""
    guard let seed = UInt64(tag.dropFirst().dropLast()) else {
      throw StoreViolation(message: "the entity tag \(tag) was never stored", line: #line)
    }
    return seed
  }

  private static func requireOwnBody(_ variant: StoredVariant, size: Int) async throws {
    let seed = try Self.seed(of: variant.record)
    let bytes: [UInt8]
    do { bytes = try await variant.body.open().readAll() } catch {
      // It may have been removed since; only readable bodies must be right.
      return
    }
    let expected = StoreSample.body(size, seed: seed).array
    try require(bytes == expected, "the body is not that of entity tag \(seed)")
  }
}
