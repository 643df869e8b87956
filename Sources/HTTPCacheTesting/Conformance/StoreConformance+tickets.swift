import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Responses to requests that were sent before an invalidation or a removal (RFC 9111 §4.4).
extension StoreConformance {
  private static let key = StoreSample.key("/a/1")

  // Each selects the key, or its group.
  private static let changes: [CacheSelection] = [
    .all, .key(key), .target(key.target), .prefix("https://example.com/a"),
    .prefix("https://example.com/"), .site(origin: "https://example.com", mode: .private, partition: ""),
    .partition(mode: .private, ""), .group(origin: "https://example.com", name: "g"),
  ]

  private static func change(
    _ selection: CacheSelection, removes: Bool, in store: any CacheStore
  ) async throws {
    if removes { try await store.remove(selection) } else { try await store.invalidate(selection) }
  }

  private static func record(_ ticket: InvalidationTicket?) -> CacheRecord {
    CacheRecord(key: key, response: StoreSample.response(), groups: ["g"], ticket: ticket)
  }

  private static func record(
    _ key: CacheKey, _ ticket: InvalidationTicket, length: Int64 = 100
  ) -> CacheRecord {
    CacheRecord(
      key: key, response: StoreSample.response(), bodyLength: length, isResumable: true, ticket: ticket)
  }

  private static func requireWiped(line: UInt = #line, _ work: () async throws -> Void) async throws {
    do { try await work() } catch let error as CacheError {
      return try requireEqual(error.code, .wiped, "error", line: line)
    }
    throw StoreViolation(message: "what was asked for before the wipe is stored", line: line)
  }

  private static func requireNotFresh(_ store: any CacheStore, _ what: String) throws {
    for variant in try store.read(key) {
      try require(variant.record.response.isInvalidated, "\(what) is fresh")
    }
  }

  static let ticketChecks: [StoreCheck] =
    changes.flatMap { selection in
      [false, true].map { removes in
        let word = removes ? "removed" : "invalidated"
        return StoreCheck(
          "A response that was asked for before its key was \(word) is not fresh: \(selection)"
        ) {
          makeStore in
          let store = try await makeStore(StoreRequirements())
          let ticket = store.ticket()
          try require(!store.isOvertaken(key, groups: ["g"], since: ticket), "overtaken by nothing")
          try await change(selection, removes: removes, in: store)
          try require(store.isOvertaken(key, groups: ["g"], since: ticket), "not overtaken")
          try await store.store(record(ticket), StoreSample.body(100))
          try requireNotFresh(store, "a response that was asked for before")

          let writer = try await store.write(record(nil), variantLimit: 8)
          try await writer.append(StoreSample.body(100))
          try await change(selection, removes: removes, in: store)
          let committed = try await writer.commit(trailers: [:])
          try requireEqual(committed.response.isInvalidated, true, "invalidation of the committed record")
          try requireNotFresh(store, "a response that was being written")

          let validation = store.ticket()
          guard let stored = try store.read(key).first?.record else {
            throw StoreViolation(message: "what was overtaken may be stored, but was not", line: #line)
          }
          try await change(selection, removes: removes, in: store)
          try await store.update(
            stored.with(response: record(nil).response, groups: ["g"], ticket: validation))
          try requireNotFresh(store, "a response that was validated before")

          try await store.store(record(store.ticket()), StoreSample.body(100))
          let isInvalidated = try store.read(key).first?.record.response.isInvalidated
          try requireEqual(isInvalidated, false, "invalidation of a response that was asked for afterwards")
        }
      }
    } + [
      StoreCheck("A response that was validated after its invalidation is fresh") { makeStore in
        let store = try await makeStore(StoreRequirements())
        try await store.store(record(nil), StoreSample.body(100))
        try await store.invalidate(.key(key))
        guard let stored = try store.read(key).first?.record else { return }
        try await store.update(stored.with(ticket: store.ticket()))
        try requireEqual(try store.read(key).first?.record.response.isInvalidated, true, "invalidation")
        let isUpdated = try await store.update(
          stored.with(response: StoreSample.response(), ticket: store.ticket()))
        try require(isUpdated, "not updated")
        try requireEqual(try store.read(key).first?.record.response.isInvalidated, false, "invalidation")
      },
      StoreCheck("A response that was asked for before its partition was wiped is not stored") { makeStore in
        let store = try await makeStore(StoreRequirements())
        let (wiped, other) = (
          StoreSample.key(partition: "account"), StoreSample.key(partition: "other")
        )
        let ticket = store.ticket()
        try require(!store.isWiped(wiped, since: ticket), "wiped by nothing")
        let early = try await store.write(record(wiped, ticket), variantLimit: 8)
        let others = try await store.write(record(other, ticket), variantLimit: 8)
        for writer in [early, others] { try await writer.append(StoreSample.body(100)) }
        try await store.wipe(mode: .private, partition: "account")
        try require(store.isWiped(wiped, since: ticket), "not wiped")
        try await requireWiped { try await early.commit(trailers: [:]) }
        try await requireWiped { try await store.store(record(wiped, ticket), StoreSample.body(100)) }
        let part = try await store.write(record(wiped, ticket, length: 200), variantLimit: 8)
        _ = try? await part.append(StoreSample.body(100))
        try require((try? await part.keep()) == nil, "a part was kept")
        try await others.commit(trailers: [:])
        try await store.store(record(wiped, store.ticket()), StoreSample.body(100))
        try requireEqual(
          try await store.all().map(\.record.key.partition).sorted(), ["account", "other"], "partitions")
      },
      StoreCheck("What concerns one stored response, or responses by age, overtakes none") { makeStore in
        let store = try await makeStore(StoreRequirements())
        let stored = try await store.store(record(nil), StoreSample.body(100))
        let ticket = store.ticket()
        try await store.remove(.unusedSince(StoreSample.start))
        try await store.remove(.storedBefore(StoreSample.start))
        try await store.invalidate(.variant(key, sequence: stored.sequence))
        try require(!store.isOvertaken(key, groups: [], since: ticket), "overtaken")
      },
      StoreCheck(
        "A change of the target that was asked for overtakes a response that is stored under another"
      ) {
        makeStore in
        let store = try await makeStore(StoreRequirements())
        var ticket = store.ticket()
        ticket.requestTarget = "https://example.com/asked"
        try await store.invalidate(.target("https://example.com/asked"))
        try require(store.isOvertaken(key, groups: [], since: ticket), "not overtaken")
        try await store.store(record(ticket), StoreSample.body(100))
        try requireNotFresh(store, "a response that was asked for before")
      },
    ]

  private static let many = 600

  // A whole origin, so that stores that cannot match paths are exact as well.
  private static let manySelections: [CacheSelection] = [
    .prefix("https://many.example/"), .partition(mode: .private, "many"),
    .group(origin: "https://many.example", name: "g"),
    .site(origin: "https://many.example", mode: .private, partition: "many"),
    .storedBefore(StoreSample.start.adding(1)),
  ]

  static let manyEntriesChecks: [StoreCheck] = manySelections.map { selection in
    StoreCheck("Of many entries all that match are removed, or invalidated: \(selection)") { makeStore in
      for removes in [true, false] {
        let store = try await makeStore(StoreRequirements())
        let keys = (0..<many).map {
          CacheKey(mode: .private, partition: "many", target: "https://many.example/\($0)")
        }
        for key in keys {
          try await store.store(StoreSample.record(key, groups: ["g"]), StoreSample.body(10))
        }
        let other = StoreSample.key("/other")
        try await store.store(
          StoreSample.record(other, time: StoreSample.start.adding(100), groups: ["g"]), StoreSample.body(10))
        if removes {
          try requireEqual(try await store.remove(selection), many, "removed")
        } else {
          let invalidated = try await store.invalidate(selection)
          try require(invalidated == nil || invalidated == many, "\(invalidated ?? 0) invalidated")
        }
        for key in keys {
          let found = try store.read(key).first?.record.response.isInvalidated
          try requireEqual(found, removes ? nil : true, "invalidation of \(key.target)")
        }
        try requireEqual(
          try store.read(other).first?.record.response.isInvalidated, false, "invalidation of another")
        await store.flush()
        try requireEqual(try await store.all().count, removes ? 1 : many + 1, "entries left")
      }
    }
  }
}
