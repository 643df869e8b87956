import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The question of a request to the tier of a fleet, before it goes to the origin.
struct SharedQuestion: Sendable {
  let exchange: Exchange
  /// The ticket that the local store gave to the request.
  let ticket: InvalidationTicket?
  /// Whether other requests of this node wait for the answer, so that other nodes may wait, too.
  let isLed: Bool

  var key: CacheKey { exchange.key }

  /// The keys to ask for in one round trip: the request's, and those that lead to its other names.
  var keys: [CacheKey] {
    let rules = exchange.rules
    return [key] + (rules.alias == nil ? [] : [key.pointer])
      + (rules.obeysNoVarySearch ? [key.searchRule] : [])
  }

  /// Another name under which the response may be found.
  ///
  /// - Parameter found: the records for `keys`.
  func otherName(_ found: [[CacheRecord]]) -> StoredNames.Other? {
    let rules = exchange.rules
    func record(_ name: CacheKey) -> CacheRecord? {
      zip(keys, found).first { $0.0 == name }?.1.first { $0.key == name }
    }
    return StoredNames.item(of: key, by: rules.alias == nil ? nil : record(key.pointer), rules)
      ?? StoredNames.canonical(of: key, by: rules.obeysNoVarySearch ? record(key.searchRule) : nil, rules)
  }

  /// The variant that answers the request, and its response with its age on this node; nil if none is fresh.
  ///
  /// - Parameters:
  ///   - variants: the variants of the tier, not overtaken.
  ///   - serverTime: the time of the server when it gave them, in milliseconds since 1970.
  func answer(
    among variants: [SharedVariant], serverTime: Int64, now: Timestamp
  ) -> (variant: SharedVariant, stored: StoredResponse)? {
    let (rules, request) = (exchange.rules, exchange.request)
    // An older response does not replace one that this node had (RFC 9111 §4).
    let known = exchange.matching.map { Self.date(of: exchange.candidates[$0]) }.max()
    let usable = variants.compactMap { variant -> (variant: SharedVariant, stored: StoredResponse)? in
      let response = variant.record.response
      guard variant.record.isComplete, !response.isInvalidated, response.isIn(exchange.bodyForms),
        response.isKeyed(by: rules), let seen = response.seen(by: rules)
      else { return nil }
      if let known, Self.date(of: seen) < known { return nil }
      return (variant, Self.rebased(seen, of: variant, serverTime: serverTime, now: now, rules: rules))
    }
    guard
      case .selected(let index) = Vary.select(
        among: usable.map(\.stored), for: request, rules: rules, digest: exchange.digest),
      case .fresh = Reuse.decide(
        stored: usable[index].stored, request: request, directives: exchange.directives, policy: .standard,
        rules: rules,
        now: now)
    else { return nil }
    return usable[index]
  }

  private static func date(of response: StoredResponse) -> Timestamp {
    response.dateField ?? response.responseTime
  }

  /// The response as if it arrived now from a cache on the way (RFC 9111 §4.2.3): its age is that at publication and the
  /// time since then by the server's clock, or the apparent age by this node's clock if that is more.
  private static func rebased(
    _ response: StoredResponse, of variant: SharedVariant, serverTime: Int64, now: Timestamp,
    rules: CacheRules
  ) -> StoredResponse {
    let resident = max(0, serverTime.saturatingSubtract(variant.published))
    let milliseconds = max(0, variant.age).saturatingAdd(resident)
    let age = milliseconds / 1_000 + (milliseconds % 1_000 == 0 ? 0 : 1)
    var rebased = response
    rebased.requestTime = now
    rebased.responseTime = now
    rebased.facts = Freshness.facts(
      response: response.head(age: age), requestTime: now, responseTime: now, rules: rules)
    return rebased
  }
}
