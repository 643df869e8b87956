public import HTTPTypes

/// What is different for some targets.
///
/// ```swift
/// rules.overrides = [
///   RuleOverride(try .host("cdn.example.com"), effects: [.droppingQuery(["utm_*"])]),
///   RuleOverride(try .glob("/api/**"), effects: [.lifetime(.atMost(60))]),
/// ]
/// ```
///
/// All overrides that match a request apply, in order, and the effects of each in order. The
/// conditions on the response are for effects on responses: the key and what is ignored of a request
/// are settled before there is one.
public struct RuleOverride: Sendable, Hashable {
  /// What it is called in explanations; empty for its patterns.
  public let name: String
  /// The targets; one that matches is enough. None is every target.
  public let targets: [TargetPattern]
  /// The methods; none is every one.
  public let methods: Set<CacheKey.MethodClass>
  /// Media types of the response, such as `image/png` or `image/*`, in lower case; none is every one,
  /// and responses without `Content-Type`.
  public let mediaTypes: [String]
  /// Statuses of the response; none is every one, save that no lifetime is given to errors.
  public let statuses: Set<Int>
  /// What is different, in the order in which it is applied.
  public let effects: [RuleEffect]

  /// Equal for equal effects on responses, in every process; 0 without any.
  let responseFingerprint: UInt64
  /// The same for effects on the key.
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

  /// Makes an override for any of some targets.
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

  /// Whether a request is meant. A request without a valid target is none.
  public func matches(_ request: HTTPRequest) -> Bool {
    guard let target = CacheKey.target(of: request) else { return false }
    return matches(request, target: target)
  }

  func matches(_ request: HTTPRequest, target: String) -> Bool {
    if !methods.isEmpty, !methods.contains(request.method == .query ? .query : .get) { return false }
    return targets.isEmpty || targets.contains { $0.matches(request, target: target) }
  }

  /// Whether the conditions on the response hold.
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

  /// Whether an effect is for a response that the override concerns.
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
