import HTTPCacheSemantics
import HTTPTypes

/// The properties of every exchange, with any header fields.
public enum ExchangeProperties {
  /// Stands in for a keyed digest: reverses the octets, so that equal values have equal digests.
  static let digest: SecretDigest = { Array($0.utf8.reversed()) }

  /// Runs every rule.
  ///
  /// - Returns: whether there was a response to store.
  /// - Throws: the property that did not hold.
  @discardableResult
  public static func check(_ hostile: HostileExchange) throws(PropertyViolation) -> Bool {
    var exchange = hostile
    // Resolve the rules once for each request, as the engine does.
    exchange.rules = hostile.rules.resolved(for: hostile.request)
    try OverrideProperties.check(exchange)
    let request = exchange.request
    let response = exchange.response
    try FieldProperties.check(request.headerFields, now: exchange.times[0])
    try FieldProperties.check(response.headerFields, now: exchange.times[1])
    try FieldProperties.check(response, answering: request, rules: exchange.rules)
    let storage = Storability.decide(
      request: request, response: response, rules: exchange.rules, now: exchange.times[1])
    _ = CacheExplanation.storage(
      request: request, response: response, rules: exchange.rules, now: exchange.times[1])
    let made: StoredResponse
    do throws(StorageRefusal) {
      made = try StoredResponse.make(
        request: request,
        response: ReceivedResponse(response, requestTime: exchange.times[0], responseTime: exchange.times[1]),
        isDecoded: exchange.isDecoded, rules: exchange.rules, digest: digest)
    } catch {
      try require(error != .varyAny || storage != .store, "Vary: * may be stored, and cannot be")
      return false
    }
    let stored = OverrideProperties.keyed(made, exchange)
    // A response always matches the very request that it answered.
    try require(
      Vary.matches(stored, request: request, rules: exchange.rules, digest: digest),
      "the response does not match its own request: \(stored.nominated)")
    try checkNormalization(of: stored, exchange)
    // A record from a disk may have any lifetime: one below zero has ended.
    try require(stored.facts.freshnessLifetime >= 0, "a lifetime is negative")
    try checkStored(stored, exchange)
    try OverrideProperties.check(stored, exchange, storage)
    if let key = CacheKey(request: request, rules: exchange.rules) {
      try RecordProperties.checkRoundTrip(stored, of: key)
    }
    return true
  }

  /// Runs the rules that begin with a stored response.
  static func checkStored(
    _ stored: StoredResponse, _ exchange: HostileExchange
  ) throws(PropertyViolation) {
    try checkReuse(stored, exchange)
    try checkRanges(stored, exchange)
    let now = exchange.times[2]
    let decided = Freshening.decide(notModified: exchange.newer, candidates: [stored, stored])
    if case .freshen(let indices) = decided {
      try require(!indices.isEmpty && indices.allSatisfy { $0 < 2 }, "freshens \(indices) of 2")
    }
    let updated = Freshening.updated(
      stored, with: ReceivedResponse(exchange.newer, requestTime: now, responseTime: now),
      rules: exchange.rules, validating: exchange.request, digest: digest)
    try require(
      updated.facts.freshnessLifetime >= min(0, stored.facts.freshnessLifetime),
      "a freshened lifetime is negative")
    var marked = stored
    marked.isInvalidated = true
    try require(
      !updated.isInvalidated || updated == marked, "something is kept of what must not be stored")
    if Vary.matches(stored, request: exchange.request, rules: exchange.rules, digest: digest) {
      try require(
        updated.isInvalidated
          || Vary.matches(updated, request: exchange.request, rules: exchange.rules, digest: digest),
        "what was freshened does not match the request that validated it")
    }
    _ = Freshening.updatedByHead(
      stored, with: ReceivedResponse(exchange.newer, requestTime: now, responseTime: now),
      rules: exchange.rules, validating: exchange.request, digest: digest)
    _ = PartialContent.combined(
      stored, with: ReceivedResponse(exchange.newer, requestTime: now, responseTime: now),
      length: exchange.length, rules: exchange.rules, answering: exchange.request, digest: digest)
  }

  /// Normalising the value of a nominated field twice is the same as once (RFC 9111 §4.1).
  private static func checkNormalization(
    of stored: StoredResponse, _ exchange: HostileExchange
  ) throws(PropertyViolation) {
    var request = exchange.request
    for nominated in stored.nominated {
      guard case .text(let text) = nominated.value, text.utf8.allSatisfy({ $0 < 0x80 }) else { continue }
      request.headerFields[fields: nominated.name] = [
        HTTPField(name: nominated.name, lenientValue: Array(text.utf8))
      ]
    }
    let response = exchange.response
    let again = Vary.nominated(by: response, in: request, rules: exchange.rules, digest: digest)
    guard case .fields(let fields) = again else {
      throw PropertyViolation(description: "nominates no fields the second time")
    }
    try require(fields == stored.nominated, "normalised again: \(fields), once: \(stored.nominated)")
  }

  private static func checkReuse(
    _ stored: StoredResponse, _ exchange: HostileExchange
  ) throws(PropertyViolation) {
    let rules = exchange.rules
    let now = exchange.times[2]
    let policy = exchange.policy
    let age = Age.current(stored, now: now)
    try require(age >= 0, "the age is \(age)")
    for request in [exchange.other, exchange.request] {
      let directives = RequestDirectives(request.headerFields)
      try require(!directives.texts.contains { $0.contains("=-") }, "a negative number: \(directives.texts)")
      let decision = Reuse.decide(
        stored: stored, request: request, directives: directives, policy: policy, rules: rules,
        now: now)
      switch decision {
      case .fresh(let age, let lifetime):
        try require(age < lifetime, "fresh at \(age) of \(lifetime)")
      case .stale(_, let age, let lifetime):
        try require(age >= lifetime, "stale at \(age) of \(lifetime)")
      case .validate, .miss:
        // Requests with unsafe methods are written through (RFC 9111 §4).
        let isUnsafe = ![.get, .head, .query, .options, .trace].contains(request.method)
        let isWrittenThrough = isUnsafe && decision == .miss(.method(request.method))
        try require(
          policy != .cacheOnly && (!directives.onlyIfCached || isWrittenThrough),
          "asks against the request's will")
      case .unsatisfiable:
        try require(policy == .cacheOnly || directives.onlyIfCached, "unsatisfiable without a reason")
      }
      _ = Reuse.afterFailure(
        stored: stored, request: request, policy: policy, rules: rules,
        now: now, failure: .unreachable)
      let conditional = Validation.request(request, validating: [stored, stored], policy: policy)
      try require(
        conditional.headerFields.count <= request.headerFields.count + 3, "validation adds fields")
      let explanation = CacheExplanation.reuse(
        request, among: [CacheExplanation.Candidate(stored), CacheExplanation.Candidate(stored)],
        in: CacheExplanation.Circumstances(policy: policy, rules: rules, now: now, digest: digest))
      try require(explanation.decision != nil, "an explanation without a decision")
    }
    switch Vary.select(among: [stored, stored], for: exchange.other, rules: rules, digest: digest) {
    case .selected(let index): try require((0..<2).contains(index), "selects \(index) of 2")
    case .mismatch, .nothingStored: break
    }
  }

  private static func checkRanges(
    _ stored: StoredResponse, _ exchange: HostileExchange
  ) throws(PropertyViolation) {
    let now = exchange.times[2]
    for request in [exchange.other, exchange.request] {
      if let head = Preconditions.evaluate(request, stored: stored, now: now) {
        try require(head.status == .notModified, "304 with another status")
      }
      for length in [exchange.length, 1, 0, Int64.max, nil] {
        guard case .partial(let ranges) = RangeRequest.evaluate(request, stored: stored, length: length)
        else { continue }
        try require(
          !ranges.isEmpty && ranges.count <= RangeRequest.rangeLimit, "\(ranges.count) ranges")
        for range in ranges {
          try require(
            range.lowerBound >= 0 && range.upperBound <= length ?? .max && !range.isEmpty,
            "\(range) of \(length.map(String.init) ?? "an unknown length")")
          let head = RangeRequest.head(stored.head, range: range, length: length, answering: request)
          // Text that one cache writes can be read by another.
          try require(
            ContentRange(head.headerFields) == .part(range, length: length)
              || range.upperBound == .max, "\(range) is written as another Content-Range")
          _ = PartialContent.request(request, completing: stored, missing: range, length: length)
        }
        let half = StoredPart(ranges: [0..<max(1, (length ?? 2) / 2)], length: length)
        for range in ranges {
          if let missing = half.missing(in: range) {
            try require(
              missing.lowerBound >= range.lowerBound && missing.upperBound <= range.upperBound,
              "\(missing) is missing in \(range)")
          }
        }
        _ = RangeRequest.ranges(for: request, stored: stored, part: half)
      }
    }
    if PartialContent.isResumable(stored) {
      _ = PartialContent.range(
        of: exchange.newer, in: stored, length: exchange.length, receivedAt: now)
    }
  }
}
