import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Responses to requests that overlap: the most recent one stays (RFC 9111 §4).
extension StoreConformance {
  private static let key = StoreSample.key("/recency")

  private enum Size: Int, CaseIterable {
    case small = 1_000
    case large = 300_000
  }

  // A response made some seconds after the first; its tag shows which one is stored.
  private static func record(
    _ tag: String, made seconds: Int64, _ ticket: InvalidationTicket?, isInvalidated: Bool = false
  ) -> CacheRecord {
    let time = StoreSample.start.adding(seconds)
    var response = StoreSample.response(time: time, tag: tag)
    response.head.headerFields[.date] = time.httpDate
    response.isInvalidated = isInvalidated
    return CacheRecord(key: key, response: response, ticket: ticket)
  }

  private static func begin(
    _ record: CacheRecord, _ size: Size, in store: any CacheStore
  ) async throws -> any BodyWriter {
    let writer = try await store.write(record, variantLimit: 8)
    try await writer.append(StoreSample.body(size.rawValue))
    return writer
  }

  private static func requireSuperseded(
    _ writer: any BodyWriter, line: UInt = #line
  ) async throws {
    do throws(CacheError) { try await writer.commit(trailers: [:]) } catch {
      return try requireEqual(error.code, .superseded, "error of the commit", line: line)
    }
    throw StoreViolation(message: "a response was stored in the place of a more recent one", line: line)
  }

  private static func requireStored(
    _ tag: String, isInvalidated: Bool = false, in store: any CacheStore, line: UInt = #line
  ) throws {
    let variants = try store.read(key).filter(\.record.isComplete)
    try requireEqual(
      variants.map { $0.record.response.head.headerFields[.eTag] }, [tag], "what is stored", line: line)
    try requireEqual(
      variants.map(\.record.response.isInvalidated), [isInvalidated], "invalidation of \(tag)", line: line)
  }

  static let recencyChecks: [StoreCheck] = [
    StoreCheck(
      "An older response that ends later is not stored in the place of a more recent one (RFC 9111 §4)"
    ) {
      makeStore in
      for size in Size.allCases {
        let store = try await makeStore(StoreRequirements())
        let slow = try await begin(record("\"1\"", made: 0, store.ticket()), size, in: store)
        let next = record("\"2\"", made: 5, store.ticket())
        try await store.store(next, StoreSample.body(size.rawValue, seed: 2))
        let reader = try slow.reader()
        try await requireSuperseded(slow)
        let read = try await reader.readAll()
        try require(read == StoreSample.body(size.rawValue).array, "its reader lost bytes")
        try requireStored("\"2\"", in: store)
        let stored = try await store.onlyBody(key)
        try require(stored == StoreSample.body(size.rawValue, seed: 2).array, "the more recent body changed")
        // The response to a later request is stored, even if the origin's clock was set back (§4).
        try await store.store(record("\"3\"", made: -60, store.ticket()), StoreSample.body(100))
        try requireStored("\"3\"", in: store)
      }
    },
    StoreCheck(
      "Of responses with one Date that were asked for at once, that of the later request stays (RFC 9111 §4)"
    ) {
      makeStore in
      let store = try await makeStore(StoreRequirements())
      let (first, second) = (store.ticket(), store.ticket())
      let slow = try await begin(record("\"1\"", made: 0, first), .small, in: store)
      try await store.store(record("\"2\"", made: 0, second), StoreSample.body(100))
      try await requireSuperseded(slow)
      try requireStored("\"2\"", in: store)
      let (third, fourth) = (store.ticket(), store.ticket())
      try await store.store(record("\"3\"", made: 0, third), StoreSample.body(100))
      try await store.store(record("\"4\"", made: 0, fourth), StoreSample.body(100))
      try requireStored("\"4\"", in: store)
    },
    StoreCheck(
      "An overtaken response is not stored in the place of one that was asked for later (RFC 9111 §4.4)"
    ) {
      makeStore in
      for size in Size.allCases {
        let store = try await makeStore(StoreRequirements())
        let slow = try await begin(record("\"1\"", made: 60, store.ticket()), size, in: store)
        try await store.invalidate(.key(key))
        // The origin's clock was set back: an overtaken response is older, whatever it says.
        try await store.store(record("\"2\"", made: 0, store.ticket()), StoreSample.body(100))
        try await requireSuperseded(slow)
        try requireStored("\"2\"", in: store)
      }
    },
    StoreCheck(
      "A response is stored in the place of one that was invalidated meanwhile, as invalidated (RFC 9111 §4.4)"
    ) { makeStore in
      let store = try await makeStore(StoreRequirements())
      let slow = try await begin(record("\"1\"", made: 0, store.ticket()), .small, in: store)
      try await store.store(record("\"2\"", made: 5, store.ticket()), StoreSample.body(100))
      try await store.invalidate(.key(key))
      try await slow.commit(trailers: [:])
      try requireStored("\"1\"", isInvalidated: true, in: store)
    },
    StoreCheck("Of two validations of one response, the more recent one stays (RFC 9111 §4)") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let stored = try await store.store(record("\"1\"", made: 0, nil), StoreSample.body(100))
      for seconds in [10, 20] as [Int64] {
        // Once by their dates, once by the order of the requests.
        let isDated = seconds == 10
        let (first, second) = (store.ticket(), store.ticket())
        let older = record("\"a\(seconds)\"", made: isDated ? seconds - 5 : seconds, first)
        let newer = record("\"b\(seconds)\"", made: seconds, second)
        let isNewerWritten = try await store.update(
          stored.with(response: newer.response, ticket: second))
        try require(isNewerWritten, "the more recent validation was not written")
        let isOlderWritten = try await store.update(stored.with(response: older.response, ticket: first))
        try require(!isOlderWritten, "an older validation was written over a more recent one")
        try requireStored("\"b\(seconds)\"", in: store)
      }
      // An invalidation counts, whenever the request was sent.
      let ticket = store.ticket()
      let newest = record("\"c\"", made: 30, store.ticket())
      try await store.update(stored.with(response: newest.response, ticket: newest.ticket))
      let invalidated = record("\"d\"", made: 25, ticket, isInvalidated: true)
      try await store.update(stored.with(response: invalidated.response, ticket: ticket))
      try requireEqual(try store.read(key).first?.record.response.isInvalidated, true, "invalidation")
    },
    StoreCheck(
      "A response that was asked for before is not stored in the place of one validated since (RFC 9111 §4)"
    ) {
      makeStore in
      let store = try await makeStore(StoreRequirements())
      let stored = try await store.store(record("\"1\"", made: 0, nil), StoreSample.body(100))
      let slow = try await begin(record("\"2\"", made: 1, store.ticket()), .small, in: store)
      let ticket = store.ticket()
      let validated = record("\"1\"", made: 5, ticket)
      try await store.update(stored.with(response: validated.response, ticket: ticket))
      try await requireSuperseded(slow)
      try requireStored("\"1\"", in: store)
    },
    StoreCheck("Other variants keep no response from being stored") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let slow = try await begin(record("\"1\"", made: 0, store.ticket()), .large, in: store)
      let other = StoreSample.record(key, language: "de", time: StoreSample.start.adding(5))
      try await store.store(other, StoreSample.body(100))
      try await slow.commit(trailers: [:])
      let tags = try store.read(key).filter { $0.record.isComplete && $0.record.response.nominated.isEmpty }
        .map { $0.record.response.head.headerFields[.eTag] }
      try requireEqual(tags, ["\"1\""], "what is stored")
    },
  ]

  static let partRecencyChecks: [StoreCheck] = [
    StoreCheck("Parts keep no response from being stored") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let slow = try await begin(record("\"1\"", made: 0, store.ticket()), .large, in: store)
      let part = record("\"2\"", made: 5, store.ticket()).storing([0..<10], bodyLength: 1_000)
      try await store.store(part, StoreSample.body(10))
      try await slow.commit(trailers: [:])
      let tags = try store.read(key).filter { $0.record.isComplete && $0.record.response.nominated.isEmpty }
        .map { $0.record.response.head.headerFields[.eTag] }
      try requireEqual(tags, ["\"1\""], "what is stored")
    }
  ]
}
