public import HTTPTypes

/// Which overrides a request has.
struct AppliedOverrides: Sendable, Hashable {
  /// Their places in `CacheRules.overrides`, in order.
  var matched: [Int] = []
  /// Equal for equal effects on responses; 0 without any.
  var responseFingerprint: UInt64 = 0
  /// Equal for equal effects on the key; 0 without any.
  var keyFingerprint: UInt64 = 0
  /// Whether names in `Vary` are ignored.
  var ignoresVary = false
  /// Whether directives of the request are.
  var ignoresRequestDirectives = false
  /// The field that names a cache item.
  var alias: HTTPField.Name?

  init(_ overrides: [RuleOverride], request: HTTPRequest, target: String) {
    for index in overrides.indices where overrides[index].matches(request, target: target) {
      add(overrides[index], at: index)
    }
  }

  private mutating func add(_ override: RuleOverride, at index: Int) {
    matched.append(index)
    responseFingerprint = Self.combined(responseFingerprint, override.responseFingerprint)
    keyFingerprint = Self.combined(keyFingerprint, override.keyFingerprint)
    for effect in override.effects {
      switch effect {
      case .ignoringVary: ignoresVary = true
      case .ignoringRequestDirectives: ignoresRequestDirectives = true
      case .alias(let name): alias = name
      default: break
      }
    }
  }

  private static func combined(_ first: UInt64, _ second: UInt64) -> UInt64 {
    if second == 0 { return first }
    return max(1, (first ^ second) &* 0x9E37_79B1_85EB_CA87 ^ (first &<< 31 | first &>> 33))
  }
}

extension CacheRules {
  /// The rules for one request: with the overrides that match it. Rules that are so already stay.
  public func resolved(for request: HTTPRequest) -> CacheRules {
    guard isUnresolved else { return self }
    return resolved(for: request, target: CacheKey.target(of: request) ?? "")
  }

  /// The same where the normalised target of the request is known.
  package func resolved(for request: HTTPRequest, target: String) -> CacheRules {
    guard isUnresolved else { return self }
    var rules = self
    rules.applied = AppliedOverrides(overrides, request: request, target: target)
    return rules
  }

  /// Whether there are overrides and it is not known which of them apply.
  var isUnresolved: Bool { !overrides.isEmpty && applied == nil }

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
    for index in applied.matched where overrides[index].concerns(response) {
      for effect in overrides[index].effects where overrides[index].applies(effect, to: response) {
        body(effect)
      }
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
