public import HTTPTypes

extension CacheRules {
  /// The rules with the overrides that match a request. Resolved rules are returned unchanged.
  public func resolved(for request: HTTPRequest) -> CacheRules {
    guard let overrideSet, !overrideSet.isResolved else { return self }
    return resolved(for: request, target: CacheKey.target(of: request) ?? "")
  }

  /// Like `resolved(for:)`, with the known normalised target of the request.
  package func resolved(for request: HTTPRequest, target: String) -> CacheRules {
    guard let overrideSet, !overrideSet.isResolved else { return self }
    var rules = self
    rules.overrideSet = overrideSet.resolved(for: request, target: target)
    return rules
  }

  /// Whether there are no overrides.
  package var isPlain: Bool { overrideSet == nil }

  /// The overrides that match the request; nil for rules without overrides, and for rules that are not
  /// resolved.
  var applied: OverrideSet? {
    guard let overrideSet, overrideSet.isResolved else { return nil }
    return overrideSet
  }

  /// Whether any override matches the target or a reading of it.
  var isOverridden: Bool { applied.map { !$0.matched.isEmpty || !$0.readings.isEmpty } ?? false }

  /// The rules for other readings of the target, without further readings; usually none. A response gets what these
  /// rules and all of them permit: of several lifetimes the shortest, and it is stored only if each of them allows it.
  var otherReadings: [CacheRules] {
    guard let applied, !applied.readings.isEmpty else { return [] }
    return applied.readings.map { set in
      var rules = self
      rules.overrideSet = set
      return rules
    }
  }

  /// Whether a condition holds for these rules and in every other reading of the target.
  func hold(_ condition: (CacheRules) -> Bool) -> Bool {
    condition(self) && otherReadings.allSatisfy(condition)
  }

  /// The field that names a cache item. Requires resolved rules.
  package var alias: HTTPField.Name? { applied?.alias }

  /// Equal for equal effects on the key. Requires resolved rules.
  package var keyFingerprint: UInt64 { applied?.keyFingerprint ?? 0 }

  /// Whether any override defines a field that names cache items.
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

  /// The rules with the changes that overrides make to their properties for a response, the strictest of all readings.
  func concerning(_ response: HTTPResponse) -> CacheRules {
    var strictest = concerningOwn(response)
    for reading in otherReadings {
      let rules = reading.concerningOwn(response)
      if !rules.allowsStaleWhileRevalidate { strictest.allowsStaleWhileRevalidate = false }
      if !rules.allowsStaleIfError { strictest.allowsStaleIfError = false }
      if !rules.allowsStaleWhenDisconnected { strictest.allowsStaleWhenDisconnected = false }
    }
    return strictest
  }

  /// The rules with the changes that overrides of these rules alone make to their properties for a response.
  func concerningOwn(_ response: HTTPResponse) -> CacheRules {
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
      case .lifetime, .window, .ignoring, .ignoringVary, .adding,
        .cacheControl, .sharingDespite, .stores, .pins, .ignoringRequestDirectives, .droppingQuery,
        .keepingQuery, .ignoringQuery, .sortingQuery, .lowercasingPath, .alias:
        break
      }
    }
    return rules
  }

  /// The last override that asks to keep a response although the origin says `no-store`, and does not lift that;
  /// nil if there is none, or if an override itself adds `no-store`.
  ///
  /// - Parameter response: a response that these rules refuse because of `no-store`.
  func overrideKeptOut(by response: HTTPResponse) -> String? {
    guard let applied, ResponseDirectives(response.headerFields, rules: self).noStore else { return nil }
    var last: Int?
    for index in applied.matched {
      let override = applied.overrides[index]
      guard override.concerns(response) else { continue }
      for effect in override.effects where override.applies(effect, to: response) {
        if case .adding(let names) = effect, names.contains(.noStore) { return nil }
        if effect.asksToStore { last = index }
      }
    }
    return last.map(nameOfOverride)
  }

  /// The number and the name of an override, or its targets if it has no name.
  func nameOfOverride(_ index: Int) -> String {
    let override = overrides[index]
    let targets = Excerpt.list(override.targets.map(\.description), orElse: "any target")
    return "override \(index + 1) (\(Excerpt.text(override.name.isEmpty ? targets : override.name)))"
  }

  /// Whether overrides allow to store a response and to use it, in every reading.
  func allowsUse(of response: HTTPResponse) -> Bool {
    hold { rules in
      var isAllowed = true
      rules.forEachEffect(on: response) { if case .stores(let isStored) = $0 { isAllowed = isStored } }
      return isAllowed
    }
  }

  /// Whether a stored response is exempt from eviction, in every reading.
  public func pins(_ response: HTTPResponse) -> Bool {
    hold { rules in
      var isPinned = false
      rules.forEachEffect(on: response) { if case .pins(let pins) = $0 { isPinned = pins } }
      return isPinned
    }
  }
}

extension RuleEffect {
  /// Whether the effect shows that responses are to be kept.
  fileprivate var asksToStore: Bool {
    switch self {
    case .lifetime(.exactly), .lifetime(.atLeast), .heuristics, .cacheControl, .ignoring, .pins(true),
      .stores(true):
      true
    case .lifetime(.atMost), .window, .ignoringVary, .adding,
      .allowsStaleWhileRevalidate, .allowsStaleIfError, .allowsStaleWhenDisconnected, .sharingDespite,
      .pins(false), .stores(false), .ignoringRequestDirectives, .droppingQuery, .keepingQuery, .ignoringQuery,
      .sortingQuery, .lowercasingPath, .alias:
      false
    }
  }
}
