import HTTPCacheSemantics
import HTTPCacheStore

extension StoreConformance {
  // The bytes that a store on disk may use beyond its capacity: its write-ahead log.
  private static let slack: Int64 = 4 << 20

  static let limitChecks: [StoreCheck] = [
    StoreCheck("Capacity is not exceeded") { makeStore in
      let store = try await makeStore(
        StoreRequirements(capacity: 16 << 20, largestEntry: .bytes(2 << 20)))
      let piece = StoreSample.body(512 << 10)
      for index in 0..<80 {
        let key = StoreSample.key("/\(index)")
        _ = try store.read(key)
        try await store.store(StoreSample.record(key), piece)
        try requireWithinCapacity(store, "after \(index + 1) entries")
      }
      for index in 0..<400 {
        let key = StoreSample.key("/small/\(index)")
        _ = try store.read(key)
        try await store.store(StoreSample.record(key), piece.prefix(60_000))
      }
      await store.flush()
      try requireWithinCapacity(store, "after the small entries")
      try require(entryCount(of: store) >= 20, "only \(entryCount(of: store)) entries are kept")
    },
    StoreCheck("A full store does not refuse what is asked for again") { makeStore in
      let store = try await makeStore(
        StoreRequirements(capacity: 16 << 20, largestEntry: .bytes(2 << 20)))
      for index in 0..<400 {
        let key = StoreSample.key("/old/\(index)")
        _ = try store.read(key)
        try await store.store(StoreSample.record(key), StoreSample.body(60_000))
      }
      let key = StoreSample.key("/new")
      for _ in 0..<3 where try store.read(key).isEmpty {
        try await store.store(StoreSample.record(key), StoreSample.body(60_000))
      }
      try requireEqual(completeVariants(in: store, key), 1, "variants of the new key")
    },
    StoreCheck("What is used stays longer than what is not") { makeStore in
      let store = try await makeStore(
        StoreRequirements(capacity: 16 << 20, largestEntry: .bytes(2 << 20)))
      let loved = StoreSample.key("/loved")
      for index in 0..<600 {
        let key = StoreSample.key("/\(index)")
        for wanted in [loved, key] where try store.read(wanted).isEmpty {
          try await store.store(StoreSample.record(wanted), StoreSample.body(60_000))
        }
      }
      try requireEqual(completeVariants(in: store, loved), 1, "variants of the key used most")
    },
    StoreCheck("A pinned entry is not evicted") { makeStore in
      let store = try await makeStore(
        StoreRequirements(capacity: 16 << 20, largestEntry: .bytes(2 << 20)))
      let pinned = StoreSample.key("/pinned")
      let record = CacheRecord(
        key: pinned, response: StoreSample.response(), isPinned: true)
      try await store.store(record, StoreSample.body(60_000))
      for index in 0..<600 {
        let key = StoreSample.key("/\(index)")
        _ = try store.read(key)
        try await store.store(StoreSample.record(key), StoreSample.body(60_000))
      }
      try requireEqual(completeVariants(in: store, pinned), 1, "variants of the pinned key")
    },
    StoreCheck("Usage is exact, and nothing is left after everything was removed") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let before = store.usage
      try requireEqual(entryCount(of: store), 0, "entries in an empty store")
      for round in 0..<2 {
        for index in 0..<10 {
          try await store.store(
            StoreSample.record(StoreSample.key("/\(index)")),
            StoreSample.body(40_000 + 1_000 * round))
        }
        await store.flush()
        try requireEqual(entryCount(of: store), 10, "entries")
        let usage = store.usage
        let bytes = usage.memoryBytes + usage.diskBytes - before.memoryBytes - before.diskBytes
        try require(bytes >= 400_000, "\(bytes) bytes in use for bodies of 400000")
        try require(bytes <= 2 * 500_000 + slack, "\(bytes) bytes in use for bodies of 410000")
      }
      let writer = try await store.write(
        StoreSample.record(StoreSample.key("/w")), variantLimit: 8)
      try await writer.append(StoreSample.body(10_000))
      writer.abandon()
      let removed = try await store.remove(.all)
      try requireEqual(removed, 10, "removed")
      await store.flush()
      let after = store.usage
      try requireEqual(after.memoryEntries, 0, "entries in memory")
      try requireEqual(after.diskEntries, 0, "entries on disk")
      try requireEqual(after.memoryBytes, 0, "bytes in memory")
      try require(after.diskBytes <= before.diskBytes + slack, "\(after.diskBytes) bytes on disk")
    },
    StoreCheck("A smaller capacity evicts at once") { makeStore in
      let store = try await makeStore(StoreRequirements(capacity: 32 << 20))
      for index in 0..<300 {
        try await store.store(
          StoreSample.record(StoreSample.key("/\(index)")), StoreSample.body(60_000))
      }
      let before = entryCount(of: store)
      try await store.setCapacity(memory: 4 << 20, disk: 4 << 20)
      let usage = store.usage
      try require(
        usage.memoryCapacity <= 4 << 20 && usage.diskCapacity <= 4 << 20, "capacity did not change")
      try requireWithinCapacity(store, "after the change")
      try require(entryCount(of: store) < before, "nothing was evicted")
      try await store.setCapacity(memory: nil, disk: nil)
      try requireEqual(store.usage.memoryCapacity, usage.memoryCapacity, "capacity left as it is")
      try requireEqual(store.usage.diskCapacity, usage.diskCapacity, "capacity left as it is")
    },
  ]

  private static func requireWithinCapacity(
    _ store: any CacheStore, _ when: String, line: UInt = #line
  ) throws(StoreViolation) {
    let usage = store.usage
    try require(
      usage.memoryBytes <= usage.memoryCapacity,
      "\(usage.memoryBytes) bytes in memory \(when), of \(usage.memoryCapacity)", line: line)
    try require(
      usage.diskBytes <= usage.diskCapacity + slack,
      "\(usage.diskBytes) bytes on disk \(when), of \(usage.diskCapacity)", line: line)
  }
}
