import HTTPCacheSemantics
import HTTPCacheStore

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
        if case .found = store.peek(key) {
          throw StoreViolation(message: "what was wiped is still in memory", line: #line)
        }
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
