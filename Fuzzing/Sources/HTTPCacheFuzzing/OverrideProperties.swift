import HTTPCacheSemantics
import HTTPTypes

/// The properties of all overrides.
enum OverrideProperties {
  /// The properties of a request's key.
  static func check(_ exchange: HostileExchange) throws(PropertyViolation) {
    guard let target = CacheKey.target(of: exchange.request),
      let key = CacheKey(request: exchange.request, rules: exchange.rules)
    else { return }
    try require(
      TargetURI.origin(of: key.target) == TargetURI.origin(of: target),
      "\(target) has a key of another origin: \(key.target)")
    if let targets = exchange.rules.keyTargets(of: target) {
      try require(
        targets.contains(key.target), "an invalidation of \(target) does not reach \(key.target)")
    }
    let named = CacheAlias.read(
      .contentLocation, in: exchange.response.headerFields, target: key.target)
    if case .item(let item) = named {
      try require(
        TargetURI.origin(of: item) == TargetURI.origin(of: target) && item.contains("/#"),
        "a response for \(target) names an item elsewhere: \(item)")
    }
  }

  /// The record that a cache stores for the exchange, with the fingerprint of its key.
  static func keyed(_ made: StoredResponse, _ exchange: HostileExchange) -> StoredResponse {
    var stored = made
    let target = CacheKey.target(of: exchange.request)
    if let key = CacheKey(request: exchange.request, rules: exchange.rules), key.target != target {
      stored.keyFingerprint = exchange.rules.keyFingerprint
    }
    return stored
  }

  /// The properties of a stored response under its own overrides and without overrides.
  static func check(
    _ stored: StoredResponse, _ exchange: HostileExchange, _ storage: StorageDecision
  ) throws(PropertyViolation) {
    let rules = exchange.rules
    try require(
      stored.isKeyed(by: rules), "a response is not found under the key that it was stored by")
    if storage == .store {
      try require(stored.seen(by: rules) == stored, "a response is not what it was stored as")
    }
    var plain = rules
    plain.overrides = []
    guard let seen = stored.seen(by: plain), stored.facts.overrides != 0 else { return }
    try require(
      seen.facts.overrides == 0 && seen.facts.correctedInitialAge == stored.facts.correctedInitialAge,
      "overrides stay where there are none any longer")
    // A response that is used without overrides could have been stored without them.
    let directives = ResponseDirectives(seen.head.headerFields, rules: plain)
    try require(
      !directives.noStore || directives.flags.contains(.mustUnderstand),
      "no-store is not obeyed without the override that ignores it")
    try require(
      rules.mode == .private || directives.private != .whole,
      "private is not obeyed without the override that ignores it")
  }
}
