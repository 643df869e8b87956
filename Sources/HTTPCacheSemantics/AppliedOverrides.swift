import HTTPTypes

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
