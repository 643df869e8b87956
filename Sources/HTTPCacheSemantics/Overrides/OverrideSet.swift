import HTTPTypes

/// Overrides, and the ones that match a request. A class, so that rules without overrides are cheap to copy.
final class OverrideSet: Sendable, Hashable {
  let overrides: [RuleOverride]
  /// Whether `matched` is known for a request.
  let isResolved: Bool
  /// The indices of the overrides that match, in order.
  let matched: [Int]
  /// Equal for equal effects on responses; 0 without any.
  let responseFingerprint: UInt64
  /// Equal for equal effects on the key; 0 without any.
  let keyFingerprint: UInt64
  /// Whether names in `Vary` are ignored.
  let ignoresVary: Bool
  /// Whether directives of the request are ignored.
  let ignoresRequestDirectives: Bool
  /// The field that names a cache item.
  let alias: HTTPField.Name?

  /// The set for requests that no override matches, shared so that such requests allocate nothing.
  private let unmatched: OverrideSet?

  /// Overrides that are not resolved for a request.
  convenience init(_ overrides: [RuleOverride]) {
    self.init(overrides, matched: [], unmatched: OverrideSet(overrides, matched: [], unmatched: nil))
  }

  /// The overrides, resolved for a request.
  func resolved(for request: HTTPRequest, target: String) -> OverrideSet {
    let matched = overrides.indices.filter { overrides[$0].matches(request, target: target) }
    if matched.isEmpty, let unmatched { return unmatched }
    return OverrideSet(overrides, matched: matched, unmatched: nil)
  }

  /// - Parameter unmatched: set for overrides that are not resolved.
  private init(_ overrides: [RuleOverride], matched: [Int], unmatched: OverrideSet?) {
    self.overrides = overrides
    self.matched = matched
    self.unmatched = unmatched
    isResolved = unmatched == nil
    var response: UInt64 = 0
    var key: UInt64 = 0
    var ignoresVary = false
    var ignoresRequestDirectives = false
    var alias: HTTPField.Name?
    for index in matched {
      response = Self.combined(response, overrides[index].responseFingerprint)
      key = Self.combined(key, overrides[index].keyFingerprint)
      for effect in overrides[index].effects {
        switch effect {
        case .ignoringVary: ignoresVary = true
        case .ignoringRequestDirectives: ignoresRequestDirectives = true
        case .alias(let name): alias = name
        case .lifetime, .heuristics, .window, .ignoring, .adding,
          .cacheControl, .allowsStaleWhileRevalidate, .allowsStaleIfError, .allowsStaleWhenDisconnected,
          .sharingDespite, .stores, .pins, .droppingQuery, .keepingQuery, .ignoringQuery, .sortingQuery,
          .lowercasingPath:
          break
        }
      }
    }
    responseFingerprint = response
    keyFingerprint = key
    self.ignoresVary = ignoresVary
    self.ignoresRequestDirectives = ignoresRequestDirectives
    self.alias = alias
  }

  static func == (lhs: OverrideSet, rhs: OverrideSet) -> Bool {
    lhs === rhs
      || (lhs.isResolved == rhs.isResolved && lhs.matched == rhs.matched
        && lhs.overrides == rhs.overrides)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(matched)
    hasher.combine(overrides)
  }

  private static func combined(_ first: UInt64, _ second: UInt64) -> UInt64 {
    if second == 0 { return first }
    return max(1, (first ^ second) &* 0x9E37_79B1_85EB_CA87 ^ (first &<< 31 | first &>> 33))
  }
}
