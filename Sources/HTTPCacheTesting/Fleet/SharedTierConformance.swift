import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching

/// Checks of the behaviours that every `SharedTier` must have, for authors of tiers.
///
/// With Swift Testing:
///
///     @Test(arguments: SharedTierConformance.checks)
///     func conforms(_ check: TierCheck) async throws {
///       try await check.run { try await makeSample() }
///     }
public enum SharedTierConformance {
  /// All checks.
  public static let checks: [TierCheck] = responseChecks + bodyChecks + lockChecks + logChecks + stateChecks

  static let key = StoreSample.key("/shared")

  /// A response to publish, and what is not as usual about it.
  struct Made {
    /// Tells responses apart.
    var tag = "\"1\""
    /// `Accept-Language` of the request, which `Vary` nominates.
    var language: String?
    /// The seconds of `Date` after a fixed time; nil for a response without the field.
    var date: Int64?
    var age: Int64 = 0
    var ticket = SharedPosition.start
    /// A body in parts; nil for a small one.
    var body: SharedBody?
  }

  static func variant(_ key: CacheKey = key, _ change: (inout Made) -> Void = { _ in }) -> SharedVariant {
    var made = Made()
    change(&made)
    var response = StoreSample.response(language: made.language, tag: made.tag)
    if let date = made.date {
      response.head.headerFields[.date] = Timestamp(seconds: StoreSample.start.seconds + date).httpDate
    }
    let inline: [UInt8]? = made.body == nil ? [1, 2, 3] : nil
    let record = CacheRecord(
      key: key, response: response, bodyLength: made.body?.length ?? 3, groups: ["g"], userInfo: [7])
    return SharedVariant(
      record: record, age: made.age, published: 0, ticket: made.ticket, inlineBody: inline, body: made.body)
  }

  @discardableResult
  static func publish(
    _ variant: SharedVariant, for lifetime: Duration = .seconds(60), token: String? = nil,
    in tier: any SharedTier
  ) async throws -> Bool {
    try await tier.publish(SharedPublication(variant: variant, lifetime: lifetime, token: token))
  }

  static func found(_ key: CacheKey = key, in tier: any SharedTier) async throws -> [SharedVariant] {
    let finding = try await tier.find([key])
    try requireEqual(finding.variants.count, 1, "lists of variants for one key")
    return finding.variants.first ?? []
  }

  static func tag(_ variant: SharedVariant) -> String? { variant.record.response.head.headerFields[.eTag] }
}

// MARK: Responses

extension SharedTierConformance {
  static let responseChecks: [TierCheck] = [
    TierCheck("A published response is found by another node, with its record, age and ticket") { sample in
      let position = SharedPosition(time: 5, number: 6)
      let before = try await sample.first.find([key]).now
      try require(
        try await publish(
          variant {
            $0.age = 1_234; $0.ticket = position
          }, in: sample.first), "it was not published")
      let finding = try await sample.second.find([key])
      guard let found = finding.variants.first?.first else {
        throw StoreViolation(message: "nothing is found")
      }
      try requireEqual(found.age, 1_234, "age")
      try requireEqual(found.ticket, position, "ticket")
      try requireEqual(found.inlineBody, [1, 2, 3], "body")
      try requireEqual(found.record.key, key, "key")
      try requireEqual(found.record.response, variant().record.response, "response")
      try requireEqual(found.record.groups, ["g"], "groups")
      try requireEqual(found.record.userInfo, [7], "bytes of the caller")
      try require(
        before <= found.published && found.published <= finding.now,
        "the time of publication is not the server's")
    },
    TierCheck("Keys are found in the order of the question") { sample in
      let other = StoreSample.key("/other", partition: "p")
      try await publish(variant(other) { $0.tag = "\"o\"" }, in: sample.first)
      let finding = try await sample.second.find([key, other, StoreSample.key("/none")])
      try requireEqual(finding.variants.map { $0.map(tag) }, [[], ["\"o\""], []], "variants")
    },
    TierCheck("Keys that differ in partition, mode or method class do not meet") { sample in
      try await publish(variant(), in: sample.first)
      let others = [
        StoreSample.key("/shared", partition: "p"), StoreSample.key("/shared", mode: .shared), key.pointer,
        key.searchRule,
      ]
      let found = try await sample.second.find(others).variants
      try requireEqual(found.map(\.count), [0, 0, 0, 0], "responses of other keys")
    },
    TierCheck("Variants stay beside each other, and a response replaces that of its nominated fields") {
      sample in
      try await publish(
        variant {
          $0.tag = "\"de\""; $0.language = "de"
        }, in: sample.first)
      try await publish(
        variant {
          $0.tag = "\"en\""; $0.language = "en"
        }, in: sample.second)
      try await publish(
        variant {
          $0.tag = "\"en2\""; $0.language = "en"
        }, in: sample.first)
      let tags = Set(try await found(in: sample.second).compactMap(tag))
      try requireEqual(tags, ["\"de\"", "\"en2\""], "variants")
    },
    TierCheck("A response with a later date stays, unless the other one has seen more changes") { sample in
      let (low, high) = (SharedPosition(time: 1, number: 0), SharedPosition(time: 2, number: 0))
      try await publish(
        variant {
          $0.tag = "\"new\""; $0.date = 10; $0.ticket = low
        }, in: sample.first)
      try require(
        try await !publish(
          variant {
            $0.tag = "\"old\""; $0.date = 5; $0.ticket = low
          }, in: sample.second),
        "an older response took its place")
      try requireEqual(
        try await found(in: sample.first).compactMap(tag), ["\"new\""], "the response that stays")
      try require(
        try await publish(
          variant {
            $0.tag = "\"purged\""; $0.date = 5; $0.ticket = high
          }, in: sample.second),
        "a response to a request after a change was not published")
      try requireEqual(try await found(in: sample.first).compactMap(tag), ["\"purged\""], "the response")
    },
    TierCheck("A response is gone when its lifetime is over") { sample in
      try await publish(variant(), for: .seconds(1), in: sample.first)
      try await sample.pass(.milliseconds(1_100))
      try requireEqual(try await found(in: sample.second).count, 0, "responses after their lifetime")
    },
    TierCheck("A wipe removes the responses of a partition, and no others") { sample in
      let other = StoreSample.key("/shared", partition: "account")
      try await publish(variant(), in: sample.first)
      try await publish(variant(other), in: sample.first)
      try await sample.second.wipe(mode: other.mode, partition: "account")
      let found = try await sample.first.find([key, other]).variants
      try requireEqual(found.map(\.count), [1, 0], "responses")
    },
  ]

  static let bodyChecks: [TierCheck] = [
    TierCheck("A body in parts is found once all parts are written") { sample in
      let body = SharedBody(id: 77, length: Int64(SharedBody.partSize + 10))
      let bytes = StoreSample.body(SharedBody.partSize + 10).array
      let parts = [Array(bytes[..<SharedBody.partSize]), Array(bytes[SharedBody.partSize...])]
      let large = variant { $0.body = body }
      try await sample.first.write(parts[0], part: 0, of: body, for: key)
      try require(try await !publish(large, in: sample.first), "it was published without its last part")
      try requireEqual(try await found(in: sample.second).count, 0, "responses without their last part")
      try await sample.first.write(parts[1], part: 1, of: body, for: key)
      try require(try await publish(large, in: sample.first), "it was not published")
      guard let found = try await found(in: sample.second).first?.body else {
        throw StoreViolation(message: "its body is not found")
      }
      try requireEqual(found, body, "body")
      try requireEqual(try await sample.second.parts(1..<2, of: body, for: key), [parts[1]], "the last part")
      try requireEqual(try await sample.second.parts(0..<2, of: body, for: key), parts, "both parts")
    },
    TierCheck("A body that is not there has no parts") { sample in
      let body = SharedBody(id: 78, length: 10)
      try require(try await sample.first.parts(0..<1, of: body, for: key) == nil, "there are parts")
    },
    TierCheck("A record can be published again with the body that is there") { sample in
      let body = SharedBody(id: 79, length: 20_000)
      try await sample.first.write(StoreSample.body(20_000).array, part: 0, of: body, for: key)
      try await publish(
        variant {
          $0.tag = "\"a\""; $0.body = body
        }, in: sample.first)
      try require(
        try await publish(
          variant {
            $0.tag = "\"a\""; $0.age = 5; $0.body = body
          }, in: sample.second),
        "it was not published again")
      let found = try await found(in: sample.first)
      try requireEqual(found.map(\.age), [5], "ages")
      try requireEqual(
        try await sample.first.parts(0..<1, of: body, for: key)?.first?.count, 20_000, "bytes of the body")
    },
  ]
}
