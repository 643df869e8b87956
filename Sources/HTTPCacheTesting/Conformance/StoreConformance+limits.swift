import HTTPCacheSemantics
import HTTPCacheStore

extension StoreConformance {
  // The bytes that a store on disk may use beyond its capacity: its write-ahead log.
  private static let slack: Int64 = 4 << 20

  static let limitChecks: [StoreCheck] = [
    StoreCheck("Capacity is not exceeded") { makeStore in
      let store = try await makeStore(
        StoreRequirements(capacity: 8 << 20, largestEntry: .bytes(2 << 20)))
      let piece = StoreSample.body(512 << 10)
      for index in 0..<40 {
        let key = StoreSample.key("/\(index)")
        _ = try store.read(key)
        try await store.store(StoreSample.record(key), piece)
        try requireWithinCapacity(store, "after \(index + 1) entries")
      }
      for index in 0..<250 {
        let key = StoreSample.key("/small/\(index)")
        _ = try store.read(key)
        try await store.store(StoreSample.record(key), piece.prefix(60_000))
      }
      await store.flush()
      try requireWithinCapacity(store, "after the small entries")
      try require(entryCount(of: store) >= 10, "only \(entryCount(of: store)) entries are kept")
    },
    StoreCheck("A full store does not refuse what is asked for again") { makeStore in
      let store = try await makeStore(
        StoreRequirements(capacity: 8 << 20, largestEntry: .bytes(2 << 20)))
      for index in 0..<250 {
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
        StoreRequirements(capacity: 8 << 20, largestEntry: .bytes(2 << 20)))
      let loved = StoreSample.key("/loved")
      for index in 0..<300 {
        let key = StoreSample.key("/\(index)")
        for wanted in [loved, key] where try store.read(wanted).isEmpty {
          try await store.store(StoreSample.record(wanted), StoreSample.body(60_000))
        }
      }
      try requireEqual(completeVariants(in: store, loved), 1, "variants of the key used most")
    },
    StoreCheck("A pinned entry is not evicted") { makeStore in
      let store = try await makeStore(
        StoreRequirements(capacity: 8 << 20, largestEntry: .bytes(2 << 20)))
      let pinned = StoreSample.key("/pinned")
      let record = CacheRecord(
        key: pinned, response: StoreSample.response(), isPinned: true)
      try await store.store(record, StoreSample.body(60_000))
      for index in 0..<300 {
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
      let store = try await makeStore(StoreRequirements(capacity: 16 << 20))
      for index in 0..<150 {
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

extension StoreConformance {
  static let emptyingChecks: [StoreCheck] = [
    StoreCheck("Trimming memory frees it, and leaves the capacity and what is elsewhere") {
      makeStore in
      let store = try await makeStore(StoreRequirements())
      for index in 0..<20 {
        let key = StoreSample.key("/\(index)")
        try await store.store(StoreSample.record(key), StoreSample.body(40_000))
        _ = try await store.onlyBody(key)
      }
      await store.flush()
      let full = store.usage
      for limit in [full.memoryBytes, 400_000, 0] {
        store.trimMemory(to: limit)
        let usage = store.usage
        try require(
          usage.memoryBytes <= limit,
          "\(usage.memoryBytes) bytes in memory after trimming to \(limit)")
        try requireEqual(usage.memoryCapacity, full.memoryCapacity, "capacity after trimming")
        try requireEqual(usage.diskEntries, full.diskEntries, "entries on disk after trimming")
        if limit == full.memoryBytes {
          try requireEqual(usage.memoryEntries, full.memoryEntries, "entries that fit")
        }
      }
      let listed = try await store.all()
      for entry in listed {
        let found = try await store.onlyBody(entry.record.key)
        try require(
          found == StoreSample.body(40_000).array, "a listed body differs after trimming")
      }
      let key = StoreSample.key("/later")
      try await store.store(StoreSample.record(key), StoreSample.body(40_000))
      try requireEqual(completeVariants(in: store, key), 1, "variants that came after trimming")
    },
    StoreCheck("Trimming memory leaves what is pinned") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let pinned = StoreSample.key("/pinned")
      let body = StoreSample.body(50_000)
      let record = CacheRecord(key: pinned, response: StoreSample.response(), isPinned: true)
      try await store.store(record, body)
      for index in 0..<10 {
        let key = StoreSample.key("/\(index)")
        try await store.store(StoreSample.record(key), StoreSample.body(40_000))
        _ = try await store.onlyBody(key)
      }
      await store.flush()
      store.trimMemory(to: 0)
      let found = try await store.onlyBody(pinned)
      try require(found == body.array, "what is pinned is gone after trimming")
      let usage = store.usage
      try require(
        usage.memoryBytes < 90_000, "\(usage.memoryBytes) bytes in memory beside what is pinned")
    },
    StoreCheck("A wiped partition is gone, with its files, and no other is") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let partitions: [(CacheMode, String)] = [
        (.private, "a"), (.private, "b"), (.shared, "a"), (.private, ""),
      ]
      var keys: [CacheKey] = []
      for (mode, partition) in partitions {
        for size in [1_000, 300_000] {
          let key = StoreSample.key("/\(size)", mode: mode, partition: partition)
          let seed = UInt64(keys.count)
          try await store.store(
            StoreSample.record(key, tag: "\"\(seed)\""), StoreSample.body(size, seed: seed))
          _ = try await store.onlyBody(key)
          keys.append(key)
        }
      }
      await store.flush()
      let wiped = CacheSelection.partition(mode: .private, "a")
      let paths = try await store.all(wiped).compactMap(\.bodyPath)
      let removed = try await store.wipe(mode: .private, partition: "a")
      try requireEqual(removed, 2, "removed")
      for path in paths {
        try require(!ScratchFile(path).exists, "a body of the wiped partition is still a file")
      }
      for key in keys where key.partition == "a" && key.mode == .private {
        try require(store.peek(key)?.isEmpty != false, "what was wiped is still in memory")
        try require(try store.read(key).isEmpty, "what was wiped is still there")
      }
      let listed = try await store.all()
      try requireEqual(
        Set(listed.map(\.record.key)), Set(keys.dropFirst(2)), "keys that are left")
      for entry in listed {
        let body = StoreSample.body(
          Int(entry.record.bodyLength ?? 0), seed: try seed(of: entry.record))
        let found = try await store.onlyBody(entry.record.key)
        try require(found == body.array, "a body of another partition changed")
      }
      await store.flush()
      try requireEqual(entryCount(of: store), 6, "entries in use")
    },
  ]
}
