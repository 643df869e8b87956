import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension StoreConformance {
  private static let origin = "https://example.com"

  static let updateChecks: [StoreCheck] = [
    StoreCheck("Of updates, invalidations, removals and new responses at the same time none is lost") {
      makeStore in
      let store = try await makeStore(StoreRequirements())
      for round in 0..<5 {
        let key = StoreSample.key("/\(round)")
        var records: [CacheRecord] = []
        for index in 0..<12 {
          let record = StoreSample.record(key, language: "\(index)", tag: "\"old\"")
          records.append(try await store.store(record, StoreSample.body(100), variantLimit: 32))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for (index, record) in records.enumerated() {
            group.addTask { try await change(record, Change(of: index), in: store) }
          }
          for index in 12..<16 {
            group.addTask {
              let record = StoreSample.record(key, language: "\(index)")
              try await store.store(record, StoreSample.body(100), variantLimit: 32)
            }
          }
          try await group.waitForAll()
        }
        let variants = try store.read(key)
        for index in 0..<16 {
          let found = variants.first { language(of: $0.record) == "\(index)" }?.record.response
          let isExpected =
            switch index < 12 ? Change(of: index) : nil {
            case .update: found?.head.headerFields[.eTag] == "\"new\""
            case .invalidate: found?.isInvalidated == true
            case .remove: found == nil
            case nil: found != nil
            }
          try require(isExpected, "what became of variant \(index) at the same time was lost")
        }
      }
    },
    StoreCheck("Of updates of one response at the same time one is left, as a whole") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let key = StoreSample.key()
      let stored = try await store.store(numbered(0, of: StoreSample.record()), StoreSample.body(100))
      for _ in 0..<5 {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 1...8 as ClosedRange<UInt8> {
            group.addTask {
              let isUpdated = try await store.update(numbered(number, of: stored))
              try require(isUpdated, "an update was not done")
              _ = try requireOneUpdate(try store.read(key).first?.record)
            }
          }
          try await group.waitForAll()
        }
        let left = try requireOneUpdate(try store.read(key).first?.record)
        for number in 1...8 as ClosedRange<UInt8> {
          let listed = try await store.all(.group(origin: origin, name: "\(number)"))
          try requireEqual(
            listed.count, number == left ? 1 : 0, "entries of the group of update \(number)")
        }
      }
    },
    StoreCheck("An update of its groups holds for what is selected by them") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in [1_000, 300_000] {
        let key = StoreSample.key("/\(size)")
        let record = StoreSample.record(key, groups: ["a", "b"])
        let stored = try await store.store(record, StoreSample.body(size))
        for groups in [["b", "c"], [], ["a"]] {
          let isUpdated = try await store.update(stored.with(groups: groups))
          try require(isUpdated, "the update was not done")
          let found = try store.read(key).first?.record.groups
          try requireEqual(found, groups, "groups after the update")
          for name in ["a", "b", "c"] {
            let group = CacheSelection.group(origin: origin, name: name)
            let listed = try await store.all(group)
            try requireEqual(listed.count, groups.contains(name) ? 1 : 0, "entries of group \(name)")
            guard listed.isEmpty else { continue }
            let invalidated = try await store.invalidate(group)
            try require(
              invalidated == nil || invalidated == 0, "a group that is not the entry's any more marks it")
            let removed = try await store.remove(group)
            try requireEqual(removed, 0, "removed by a group that is not the entry's any more")
          }
        }
        let removed = try await store.remove(.group(origin: origin, name: "a"))
        try requireEqual(removed, 1, "removed by the group that the entry came to")
        try requireEqual(completeVariants(in: store, key), 0, "variants")
      }
    },
  ]

  static let pinChecks: [StoreCheck] = [
    StoreCheck("An update keeps a pin, sets one and takes one away") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for (name, wasPinned, isPinned) in pins {
        let key = StoreSample.key(name)
        let record = CacheRecord(
          key: key, response: StoreSample.response(), isPinned: wasPinned)
        let stored = try await store.store(record, StoreSample.body(700_000))
        var response = stored.response
        response.head.headerFields[.eTag] = "\"2\""
        let isUpdated = try await store.update(
          stored.with(response: response, isPinned: isPinned))
        try require(isUpdated, "the update was not done")
        let found = try store.read(key).first?.record.isPinned
        try requireEqual(found, isPinned, "pin of \(name) after the update")
      }
      // The pinned entries take more than this, so no other entry may stay.
      try await store.setCapacity(memory: 1 << 20, disk: 1 << 20)
      for (name, _, isPinned) in pins {
        try requireEqual(
          completeVariants(in: store, StoreSample.key(name)), isPinned ? 1 : 0,
          "variants of \(name) with a smaller capacity")
      }
    }
  ]

  private static let pins = [
    ("/kept", true, true), ("/set", false, true), ("/taken", true, false), ("/none", false, false),
  ]

  private enum Change {
    case update
    case invalidate
    case remove

    init(of index: Int) { self = [.update, .update, .invalidate, .remove][index % 4] }
  }

  private static func change(
    _ record: CacheRecord, _ change: Change, in store: any CacheStore
  ) async throws {
    let selection = CacheSelection.variant(record.key, sequence: record.sequence)
    switch change {
    case .update:
      var response = record.response
      response.head.headerFields[.eTag] = "\"new\""
      let isUpdated = try await store.update(record.with(response: response))
      try require(isUpdated, "an update was not done")
    case .invalidate: try await store.invalidate(selection)
    case .remove:
      let removed = try await store.remove(selection)
      try requireEqual(removed, 1, "removed")
    }
  }

  // A record in which every property that an update changes has this number.
  private static func numbered(_ number: UInt8, of record: CacheRecord) -> CacheRecord {
    var response = record.response
    response.head.headerFields[.eTag] = "\"\(number)\""
    return record.with(
      response: response, groups: ["\(number)"], userInfo: [number],
      isPinned: number.isMultiple(of: 2))
  }

  private static func requireOneUpdate(_ record: CacheRecord?) throws -> UInt8 {
    guard let record, let number = record.userInfo.first else {
      throw StoreViolation(message: "an updated response is not there", line: #line)
    }
    let expected = numbered(number, of: record)
    try requireEqual(record.response, expected.response, "response of update \(number)")
    try requireEqual(record.groups, expected.groups, "groups of update \(number)")
    try requireEqual(record.isPinned, expected.isPinned, "pin of update \(number)")
    return number
  }
}
