import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension StoreConformance {
  static let recordChecks: [StoreCheck] = [
    StoreCheck("Everything in a record comes back") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let record = try richRecord()
      let writer = try await store.write(record, variantLimit: 8)
      try await writer.append(StoreSample.body(10))
      let stored = try await writer.commit(trailers: record.response.trailers)
      guard let found = try store.read(record.key).first?.record else {
        throw StoreViolation(message: "the record is not there", line: #line)
      }
      for record in [stored, found] {
        let expected = try richRecord()
        try requireEqual(record.key, expected.key, "key")
        try requireEqual(record.response, expected.response, "response")
        try requireEqual(record.groups, expected.groups, "groups")
        try requireEqual(record.userInfo, expected.userInfo, "user info")
        try requireEqual(record.isSeed, expected.isSeed, "seed mark")
        try requireEqual(record.isPinned, expected.isPinned, "pin")
        try requireEqual(record.bodyLength, 10, "length")
        try require(record.sequence > 0, "the record has no sequence number")
      }
      try requireEqual(found.sequence, stored.sequence, "sequence number")
    },
    StoreCheck("Trailers given at the commit are stored") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let writer = try await store.write(StoreSample.record(), variantLimit: 8)
      try await writer.append(StoreSample.body(10))
      var trailers = HTTPFields()
      trailers[.eTag] = "\"late\""
      let stored = try await writer.commit(trailers: trailers)
      let found = try store.read(StoreSample.key()).first?.record.response
      for response in [stored.response, found] {
        try requireEqual(response?.trailers, trailers, "trailers")
        try requireEqual(response?.head, StoreSample.response().head, "head of a response with trailers")
      }
    },
    StoreCheck("An update replaces the record and keeps the body") { makeStore in
      let store = try await makeStore(StoreRequirements())
      for size in [1_000, 300_000] {
        let key = StoreSample.key("/\(size)")
        let body = StoreSample.body(size)
        let record = try await store.store(StoreSample.record(key), body)
        var response = record.response
        response.head.headerFields[.eTag] = "\"2\""
        response.responseTime = StoreSample.start.adding(60)
        let isUpdated = try await store.update(
          record.with(response: response, userInfo: [1, 2]))
        try require(isUpdated, "the update was not done")
        let found = try store.read(key).first?.record
        try requireEqual(found?.response, response, "response after the update")
        try requireEqual(found?.userInfo, [1, 2], "user info after the update")
        let bytes = try await store.onlyBody(key)
        try require(bytes == body.array, "the update changed the body")
      }
    },
    StoreCheck("An update of what was replaced or removed does nothing") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let old = try await store.store(StoreSample.record(), StoreSample.body(10, seed: 1))
      let new = try await store.store(
        StoreSample.record(tag: "\"2\""), StoreSample.body(10, seed: 2))
      try require(new.sequence > old.sequence, "sequence numbers do not rise")
      var response = old.response
      response.head.headerFields[.eTag] = "\"3\""
      let isOldUpdated = try await store.update(old.with(response: response))
      try require(!isOldUpdated, "a replaced response was updated")
      let found = try store.read(StoreSample.key()).first?.record.response
      try requireEqual(found, new.response, "response")
      let bytes = try await store.onlyBody(StoreSample.key())
      try require(bytes == StoreSample.body(10, seed: 2).array, "the body is not that of the new response")
      try await store.remove(.all)
      let isNewUpdated = try await store.update(new)
      try require(!isNewUpdated, "a removed response was updated")
      try requireEqual(completeVariants(in: store), 0, "variants")
    },
    StoreCheck("An invalidated response is kept and invalidated until it is updated") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let body = StoreSample.body(20_000)
      try await store.store(StoreSample.record(), body)
      try await store.store(StoreSample.record(StoreSample.key("/other")), body)
      let invalidated = try await store.invalidate(.key(StoreSample.key()))
      try require(
        invalidated == nil || invalidated == 1, "\(invalidated ?? 0) responses invalidated, expected 1")
      guard let found = try store.read(StoreSample.key()).first?.record else {
        throw StoreViolation(message: "an invalidated response is gone", line: #line)
      }
      try require(found.response.isInvalidated, "the response is not invalidated")
      let other = try store.read(StoreSample.key("/other")).first?.record.response.isInvalidated
      try requireEqual(other, false, "invalidation of another key")
      let bytes = try await store.onlyBody(StoreSample.key())
      try require(bytes == body.array, "the body of an invalidated response changed")
      var response = found.response
      response.isInvalidated = false
      try await store.update(found.with(response: response, ticket: store.ticket()))
      let after = try store.read(StoreSample.key()).first?.record.response.isInvalidated
      try requireEqual(after, false, "invalidation after an update")
      let kept = try await store.onlyBody(StoreSample.key())
      try require(kept == body.array, "the update of an invalidated response changed the body")
    },
    StoreCheck("A response whose lifetime was ended is kept, and is not fresh until it is updated") {
      makeStore in
      let store = try await makeStore(StoreRequirements())
      let body = StoreSample.body(20_000)
      try await store.store(StoreSample.record(), body)
      try await store.store(StoreSample.record(StoreSample.key("/other")), body)
      let count = try await store.mark(.key(StoreSample.key()), as: .expired)
      try require(count == nil || count == 1, "\(count ?? 0) responses expired, expected 1")
      guard let found = try store.read(StoreSample.key()).first?.record else {
        throw StoreViolation(message: "the response is gone", line: #line)
      }
      try require(found.response.isExpired || found.response.isInvalidated, "the response is fresh")
      let other = try store.read(StoreSample.key("/other")).first?.record.response
      try require(other?.isExpired == false && other?.isInvalidated == false, "another key has expired")
      // Without a ticket, a record changes for other reasons than a response of the origin.
      var fresh = found.response
      (fresh.isExpired, fresh.isInvalidated) = (false, false)
      try await store.update(found.with(response: fresh, ticket: nil))
      let kept = try store.read(StoreSample.key()).first?.record.response
      try require(
        kept?.isExpired == true || kept?.isInvalidated == true, "a change of the record ended the mark")
      try await store.update(found.with(response: fresh, ticket: store.ticket()))
      let after = try store.read(StoreSample.key()).first?.record.response
      try require(after?.isExpired == false && after?.isInvalidated == false, "the mark outlives an update")
      try await store.invalidate(.key(StoreSample.key()))
      try await store.mark(.key(StoreSample.key()), as: .expired)
      let both = try store.read(StoreSample.key()).first?.record.response.isInvalidated
      try requireEqual(both, true, "invalidation of an expired response")
    },
    StoreCheck("The secret is 32 bytes and stays the same") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let secret = store.secret
      try requireEqual(secret.count, 32, "length of the secret")
      try requireEqual(store.secret, secret, "secret at the second time")
    },
  ]

  static let counterChecks: [StoreCheck] = [
    StoreCheck("Counters add up and survive a flush") { makeStore in
      let store = try await makeStore(StoreRequirements())
      store.count(CacheCounts(hits: 2, validated: 1, hitBytes: 1_000))
      store.count(CacheCounts(hits: 3, misses: 4, originBytes: 5))
      await store.flush()
      let counts = try await store.counts()
      try requireEqual(
        counts, CacheCounts(hits: 5, validated: 1, misses: 4, hitBytes: 1_000, originBytes: 5),
        "counters")
    }
  ]

  private static func richRecord() throws -> CacheRecord {
    guard let odd = HTTPField.Name("X-Odd_Case") else {
      throw StoreViolation(message: "not a field name", line: #line)
    }
    var response = StoreSample.response(language: "de, en;q=0.5")
    response.nominated.append(NominatedField(name: .cookie, value: .digest([0, 255, 7])))
    response.nominated.append(NominatedField(name: odd, value: .absent))
    response.head.status = HTTPResponse.Status(code: 203, reasonPhrase: "Not Quite")
    response.head.headerFields.append(HTTPField(name: odd, value: "value with spaces, and commas"))
    response.head.headerFields.append(HTTPField(name: .contentLanguage, value: ""))
    response.trailers = [.eTag: "\"trailer\""]
    response.requestTime = StoreSample.start.adding(-5)
    response.answeredAuthorized = true
    response.isDecoded = true
    response.facts = ReuseFacts(
      freshnessLifetime: 77, lifetimeSource: .expires, correctedInitialAge: 9,
      directives: [.mustRevalidate, .public], windows: ReuseWindows([.staleWhileRevalidate: 30]),
      overrides: .max)
    response.keyFingerprint = 1
    return CacheRecord(
      key: StoreSample.key("/rich?q=1", mode: .shared, partition: "account ä"), response: response,
      groups: ["one", "two words"], userInfo: [0, 1, 254, 255], isSeed: true, isPinned: true)
  }
}

extension StoreConformance {
  static let refusalChecks: [StoreCheck] = [
    StoreCheck("Why a response was not stored is remembered, the latest first") { makeStore in
      let store = try await makeStore(StoreRequirements())
      let key = StoreSample.key()
      try require(try store.refusals(of: key).isEmpty, "there are refusals from the start")
      for index in 0..<3 {
        store.note(refusal(of: key, index))
        store.note(refusal(of: StoreSample.key("/other"), index + 10))
      }
      for isFlushed in [false, true] {
        if isFlushed { await store.flush() }
        let found = try store.refusals(of: key)
        try requireEqual(found, (0..<3).reversed().map { refusal(of: key, $0) }, "refusals")
      }
      try require(
        try store.refusals(of: StoreSample.key("/none")).isEmpty, "another key has refusals")
      for index in 3..<500 { store.note(refusal(of: key, index)) }
      await store.flush()
      let found = try store.refusals(of: key)
      try requireEqual(found.first, refusal(of: key, 499), "the latest refusal")
      try require(found.count <= 300, "\(found.count) refusals are kept")
    }
  ]

  private static func refusal(of key: CacheKey, _ index: Int) -> RefusalNote {
    RefusalNote(
      key: key, time: StoreSample.start.adding(Int64(index)), status: 200 + index,
      explanation: CacheExplanation(steps: [
        CacheExplanation.Step("Is it stored?", "no: \(index)", section: "RFC 9111 §3"),
        CacheExplanation.Step("ä", "", section: ""),
      ]))
  }
}
