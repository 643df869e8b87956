public import HTTPTypes

extension CacheRules {
  /// The rules for one request: with the overrides that match it. Rules that are so already stay.
  public func resolved(for request: HTTPRequest) -> CacheRules {
    guard isUnresolved else { return self }
    return resolved(for: request, target: CacheKey.target(of: request) ?? "")
  }

  /// The same where the normalised target of the request is known.
  package func resolved(for request: HTTPRequest, target: String) -> CacheRules {
    guard let overrideSet, !overrideSet.isResolved else { return self }
    var rules = self
    rules.overrideSet = overrideSet.resolved(for: request, target: target)
    return rules
  }

  /// Whether there are overrides and it is not known which of them apply.
  var isUnresolved: Bool { overrideSet.map { !$0.isResolved } ?? false }

  /// Whether there are no overrides at all.
  package var isPlain: Bool { overrideSet == nil }

  /// Which overrides a request has; nil for rules without any, and for those that are for no request.
  var applied: OverrideSet? {
    guard let overrideSet, overrideSet.isResolved else { return nil }
    return overrideSet
  }

  /// Whether any override matched.
  var isOverridden: Bool { applied.map { !$0.matched.isEmpty } ?? false }

  /// The field that names a cache item; of resolved rules.
  package var alias: HTTPField.Name? { applied?.alias }

  /// Equal for equal effects on the key; of resolved rules.
  package var keyFingerprint: UInt64 { applied?.keyFingerprint ?? 0 }

  /// Whether any override names a field that names cache items.
  package var hasAliases: Bool {
    overrides.contains { $0.effects.contains { if case .alias = $0 { true } else { false } } }
  }

  /// Calls `body` for each effect on a response, in order.
  func forEachEffect(on response: HTTPResponse, _ body: (RuleEffect) -> Void) {
    guard let applied, applied.responseFingerprint != 0 else { return }
    for index in applied.matched {
      let override = applied.overrides[index]
      guard override.concerns(response) else { continue }
      for effect in override.effects where override.applies(effect, to: response) { body(effect) }
    }
  }

  /// The rules with what the overrides change of their own properties for a response.
  func concerning(_ response: HTTPResponse) -> CacheRules {
    guard let applied, applied.responseFingerprint != 0 else { return self }
    var rules = self
    forEachEffect(on: response) { effect in
      switch effect {
      case .heuristics(let fraction, let limit):
        rules.heuristicFraction = fraction
        rules.heuristicLimit = limit
      case .allowsStaleWhileRevalidate(let isAllowed): rules.allowsStaleWhileRevalidate = isAllowed
      case .allowsStaleIfError(let isAllowed): rules.allowsStaleIfError = isAllowed
      case .allowsStaleWhenDisconnected(let isAllowed): rules.allowsStaleWhenDisconnected = isAllowed
      default: break
      }
    }
    return rules
  }

  /// Whether a response may be stored, and used once it is.
  func allowsUse(of response: HTTPResponse) -> Bool {
    var isAllowed = true
    forEachEffect(on: response) { if case .stores(let isStored) = $0 { isAllowed = isStored } }
    return isAllowed
  }

  /// Whether a response is kept from eviction once it is stored.
  public func pins(_ response: HTTPResponse) -> Bool {
    var isPinned = false
    forEachEffect(on: response) { if case .pins(let pins) = $0 { isPinned = pins } }
    return isPinned
  }
}
