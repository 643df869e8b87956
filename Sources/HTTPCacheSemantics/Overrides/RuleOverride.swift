import HTTPTypes

/// Changes of the rules for some targets.
///
/// ```swift
/// rules.overrides = [
///   RuleOverride(try .host("cdn.example.com"), effects: [.droppingQuery(["utm_*"])]),
///   RuleOverride(try .glob("/api/**"), effects: [.lifetime(.atMost(.seconds(60)))]),
/// ]
/// ```
///
/// All overrides that match a request apply, in order, and the effects of each in order. The conditions on
/// the response apply only to effects on responses: the key and the ignored request directives are decided
/// before there is a response.
public struct RuleOverride: Sendable, Hashable {
  /// The name in explanations; empty to show the patterns.
  public let name: String
  /// The targets; at least one pattern must match. Empty means every target.
  public let targets: [TargetPattern]
  /// The methods; empty means every method.
  public let methods: Set<CacheKey.MethodClass>
  /// Media types of the response, such as `image/png` or `image/*`, in lower case; empty means every type, and
  /// responses without `Content-Type`.
  public let mediaTypes: [String]
  /// Statuses of the response; empty means every status, except that errors get no lifetime.
  public let statuses: Set<Int>
  /// The effects, in the order in which they are applied.
  public let effects: [RuleEffect]

  /// Equal for equal effects on responses, in every process; 0 without any.
  let responseFingerprint: UInt64
  /// Equal for equal effects on the key, in every process; 0 without any.
  let keyFingerprint: UInt64

  /// Makes an override.
  public init(
    _ targets: TargetPattern..., name: String = "", methods: Set<CacheKey.MethodClass> = [],
    mediaTypes: [String] = [], statuses: Set<Int> = [], effects: [RuleEffect]
  ) {
    self.init(
      targets, name: name, methods: methods, mediaTypes: mediaTypes, statuses: statuses,
      effects: effects)
  }

  /// Makes an override for any of several targets.
  public init(
    _ targets: [TargetPattern], name: String = "", methods: Set<CacheKey.MethodClass> = [],
    mediaTypes: [String] = [], statuses: Set<Int> = [], effects: [RuleEffect]
  ) {
    self.name = name
    self.targets = targets
    self.methods = methods
    self.mediaTypes = mediaTypes.map { $0 == "*/*" ? "*" : $0.lowercased() }
    self.statuses = statuses
    self.effects = effects
    let conditions = self.mediaTypes + statuses.sorted().map { "\($0)" }
    responseFingerprint = Self.fingerprint(effects.filter(\.isOnResponse), conditions)
    keyFingerprint = Self.fingerprint(effects.filter(\.isOnKey), [])
  }

  /// Whether the override matches a reading of the target of a request whose method it is for
  /// (`TargetPattern.covers`).
  func covers(_ target: Octets, path: Int, _ request: HTTPRequest?) -> Bool {
    targets.isEmpty || targets.contains { $0.covers(target, path: path, request) }
  }

  /// How the override matches a request whose method it is for.
  ///
  /// - Parameters:
  ///   - target: the normalised target of the request.
  ///   - octets: those of the target.
  ///   - path: the index of the path in them.
  func match(_ request: HTTPRequest, target: String, _ octets: Octets, path: Int) -> TargetPattern.Match {
    if targets.isEmpty { return .exact }
    var isCovered = false
    for pattern in targets {
      switch pattern.match(request, target: target, octets, path: path) {
      case .exact: return .exact
      case .covered: isCovered = true
      case .none: break
      }
    }
    return isCovered ? .covered : .none
  }

  /// Whether the override is for the method of a request.
  func concerns(_ request: HTTPRequest) -> Bool {
    methods.isEmpty || methods.contains(request.method == .query ? .query : .get)
  }

  /// Whether a response fulfils the conditions on the response.
  func concerns(_ response: HTTPResponse) -> Bool {
    if !statuses.isEmpty, !statuses.contains(response.status.code) { return false }
    if mediaTypes.isEmpty { return true }
    guard let type = response.headerFields.first(.contentType) else { return false }
    return type.withUnsafeBytesOfValue { octets in
      let end = octets.firstIndex(of: UInt8(ascii: ";")) ?? octets.count
      let found = octets.part(0..<end).trimmed()
      return mediaTypes.contains { Self.isMatch(found, $0) }
    }
  }

  /// Whether an effect applies to a response that fulfils the conditions.
  func applies(_ effect: RuleEffect, to response: HTTPResponse) -> Bool {
    !effect.isGenerous || !statuses.isEmpty || (200..<400).contains(response.status.code)
  }

  private static func isMatch(_ type: Octets, _ pattern: String) -> Bool {
    let pattern = pattern.utf8
    let isRange = pattern.last == UInt8(ascii: "*")
    guard isRange ? type.count >= pattern.count - 1 : type.count == pattern.count else { return false }
    return zip(type, isRange ? pattern.dropLast() : pattern[...]).allSatisfy { $0.lowercased == $1 }
  }

  private static func fingerprint(_ effects: [RuleEffect], _ conditions: [String]) -> UInt64 {
    if effects.isEmpty { return 0 }
    let text = (effects.map(\.description) + conditions).joined(separator: "\n")
    return max(1, XXH64.hash(Array(text.utf8)))
  }
}
