import HTTPCacheSemantics
import HTTPCacheStore

extension StoreConformance {
  private static let origin = "https://example.com"

  // Six entries with different properties that selections check; stored at seconds 0, 10, 20, ...
  private static func filled(_ makeStore: StoreCheck.MakeStore) async throws -> any CacheStore {
    let clock = ManualClock(now: StoreSample.start)
    let store = try await makeStore(StoreRequirements(clock: clock))
    let keys = [
      StoreSample.key("/a/1"), StoreSample.key("/a/2"), StoreSample.key("/b"),
      StoreSample.key("/a/1", mode: .shared), StoreSample.key("/a/1", partition: "p"),
      CacheKey(mode: .private, target: "https://example.community/a/1"),
    ]
    for (index, key) in keys.enumerated() {
      let groups = index == 2 || index == 5 ? ["g"] : index == 1 ? ["g", "h"] : []
      let record = StoreSample.record(key, time: clock.now, groups: groups)
      try await store.store(record, StoreSample.body(200 + index))
      clock.advance(by: 10)
    }
    return store
  }

  // Each selection, with the indexes of the six entries that it matches.
  private static let selections: [(CacheSelection, Set<Int>)] = [
    (.all, [0, 1, 2, 3, 4, 5]),
    (.partition(mode: .private, ""), [0, 1, 2, 5]),
    (.partition(mode: .private, "p"), [4]),
    (.partition(mode: .shared, "p"), []),
    (.key(StoreSample.key("/a/1")), [0]),
    (.key(StoreSample.key("/none")), []),
    (.target("https://example.com/a/1"), [0, 3, 4]),
    (.target("https://example.com/a"), []),
    (.prefix("https://example.com/a"), [0, 1, 3, 4]),
    (.prefix("https://example.com/"), [0, 1, 2, 3, 4]),
    (.prefix("https://example.com/a_1"), []),
    (.prefix("https://example.com/%"), []),
    (.group(origin: origin, name: "g"), [1, 2]),
    (.group(origin: origin, name: "h"), [1]),
    (.group(origin: "https://example.community", name: "g"), [5]),
    (.group(origin: origin, name: "none"), []),
    (.storedSince(StoreSample.start.adding(20)), [2, 3, 4, 5]),
    (.storedBefore(StoreSample.start.adding(20)), [0, 1]),
    (.unusedSince(StoreSample.start.adding(11)), [0, 1]),
    (.unusedSince(StoreSample.start), []),
  ]

  // The length of its body identifies an entry.
  private static func indexes(of entries: [CacheEntry]) -> Set<Int> {
    Set(entries.map { Int($0.record.bodyLength ?? 0) - 200 })
  }

  static let selectionChecks: [StoreCheck] =
    selections.map { selection, expected in
      StoreCheck("Selected alone are listed, invalidated and removed: \(selection)") { makeStore in
        let store = try await filled(makeStore)
        let listed = indexes(of: try await store.all(selection))
        try requireEqual(listed, expected, "listed")

        let invalidated = try await store.invalidate(selection)
        try require(invalidated == nil || invalidated == expected.count, "\(invalidated ?? 0) invalidated")
        for entry in try await store.all() {
          let index = Int(entry.record.bodyLength ?? 0) - 200
          let isInvalidated = try store.read(entry.record.key).first?.record.response.isInvalidated
          // A store that does not count may invalidate more.
          try require(
            isInvalidated == expected.contains(index) || (invalidated == nil && isInvalidated == true),
            "invalidation of entry \(index)")
        }

        let other = try await filled(makeStore)
        let removed = try await other.remove(selection)
        try requireEqual(removed, expected.count, "removed")
        let rest = indexes(of: try await other.all())
        try requireEqual(rest, Set(0..<6).subtracting(expected), "left")
        await other.flush()
        try requireEqual(entryCount(of: other), 6 - expected.count, "entries in use")
      }
    } + [
      StoreCheck("A use counts as such for what was not used") { makeStore in
        let clock = ManualClock(now: StoreSample.start)
        let store = try await makeStore(StoreRequirements(clock: clock))
        let used = StoreSample.key("/used")
        for key in [used, StoreSample.key("/unused")] {
          try await store.store(StoreSample.record(key), StoreSample.body(10))
        }
        // Far enough for stores that write times of use only now and then.
        clock.advance(by: 1_000_000)
        _ = try store.read(used)
        await store.flush()
        try await store.remove(.unusedSince(clock.now))
        let left = try await store.all().map(\.record.key)
        try requireEqual(left, [used], "keys left")
      },
      StoreCheck("A listing can be read in pages, also while entries go") { makeStore in
        let store = try await makeStore(StoreRequirements())
        for index in 0..<25 {
          try await store.store(
            StoreSample.record(StoreSample.key("/\(index)")), StoreSample.body(10))
        }
        for page in [1, 7, 25, 100] {
          let keys = try await store.all(page: page).map(\.record.key)
          try requireEqual(keys.count, 25, "entries in pages of \(page)")
          try requireEqual(Set(keys).count, 25, "different entries in pages of \(page)")
        }
        let first = try await store.entries(.all, after: nil, limit: 10)
        try requireEqual(first.entries.count, 10, "entries of a page")
        for entry in first.entries { try await store.remove(.key(entry.record.key)) }
        guard let next = first.next else {
          throw StoreViolation(message: "the listing ends after its first page", line: #line)
        }
        let second = try await store.entries(.all, after: next, limit: 100)
        try requireEqual(second.entries.count, 15, "entries after the removed ones")
        try require(second.next == nil, "the listing goes on after its end")
      },
      StoreCheck("An entry tells what it takes") { makeStore in
        let store = try await makeStore(StoreRequirements())
        try await store.store(StoreSample.record(), StoreSample.body(10_000))
        guard let entry = try await store.all().first else {
          throw StoreViolation(message: "the entry is not listed", line: #line)
        }
        try require(entry.size >= 10_000, "\(entry.size) bytes for a body of 10000")
        try require(entry.size < 40_000, "\(entry.size) bytes for a body of 10000")
        try requireEqual(entry.lastUsed, StoreSample.start, "last use")
      },
    ]
}
