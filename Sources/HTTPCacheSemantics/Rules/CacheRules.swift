/// The choices that RFC 9111 leaves to a cache.
public struct CacheRules: Sendable, Hashable {
  /// Private or shared (RFC 9111 §1).
  public var mode: CacheMode

  /// The heuristic lifetime of a response without explicit lifetime, as a share of the time since
  /// `Last-Modified`; 0 switches heuristics off (RFC 9111 §4.2.2). Default 0.1.
  public var heuristicFraction: Double

  /// The longest heuristic lifetime, in whole seconds (RFC 9111 §4.2.2).
  ///
  /// nil (the default) is the default of the mode: `privateHeuristicLimit` or `sharedHeuristicLimit`
  /// (`docs/decisions/0020-a-guess-has-an-end.md`).
  public var heuristicLimit: Duration?

  /// The longest heuristic lifetime of a private cache by default: 1,095 days, a tenth of
  /// thirty years. An older `Last-Modified` is older than the Web.
  public static let privateHeuristicLimit: Duration = .seconds(1_095 * 86_400)

  /// The longest heuristic lifetime of a shared cache by default: one day.
  public static let sharedHeuristicLimit: Duration = .seconds(86_400)

  /// The longest heuristic lifetime under these rules.
  public var longestHeuristicLifetime: Duration {
    heuristicLimit ?? (mode == .private ? Self.privateHeuristicLimit : Self.sharedHeuristicLimit)
  }

  /// Whether `stale-while-revalidate` is obeyed (RFC 5861 §3).
  public var allowsStaleWhileRevalidate: Bool

  /// Whether `stale-if-error` is obeyed (RFC 5861 §4).
  public var allowsStaleIfError: Bool

  /// Whether a stale response may be used when the origin cannot be reached, unless a directive forbids it
  /// (RFC 9111 §4.2.4).
  public var allowsStaleWhenDisconnected: Bool

  /// Names of targeted fields, in order of precedence, such as `CDN-Cache-Control`
  /// (RFC 9213 §2.2). Empty by default.
  public var targetedFields: [String]

  /// Whether `Accept-Encoding`, `Accept-Language` and similar fields are normalised before variants are
  /// compared (RFC 9111 §4.1), so that equal preferences share a variant.
  public var normalizesVary: Bool

  /// The maximum number of variants of one key; further ones displace the oldest.
  public var variantLimit: Int

  /// The maximum number of bytes of a QUERY's content that are read to make its key (RFC 10008 §2.7). A QUERY
  /// with more content is passed on, neither answered from the store nor stored. Default 64 KiB.
  public var queryContentLimit: Int

  /// Whether a private cache obeys `Clear-Site-Data: "cache"` (W3C Clear Site Data). Default true. A shared
  /// cache never does: the field is for user agents, and one response must not empty the cache for all users.
  public var obeysClearSiteData: Bool

  /// Whether `No-Vary-Search` is obeyed (draft-ietf-httpbis-no-vary-search), so that URIs that differ
  /// in query parameters without meaning share a response. Default false: it is a draft.
  public var obeysNoVarySearch: Bool

  /// Whether a 404 or 410 from the origin removes what is stored for the request's key. Default false: the
  /// stored response is then kept, but not used again unless the origin confirms it.
  public var removesGone: Bool

  /// Whether a shared cache never stores nor uses a response with `Set-Cookie`, like nginx and Varnish by
  /// default, not even one with `public`. Default false. A private cache always stores it.
  public var refusesSetCookie: Bool

  /// Whether a shared cache stores a response with `Set-Cookie` if the origin gives an explicit lifetime above 0, and
  /// gives its cookies to all clients, as RFC 9111 §7.3 allows.
  ///
  /// Default false: such a response is stored only if it says `public`, or an override has
  /// `sharingDespite([.setCookie])`, and without the field. A private cache always stores and keeps the field.
  public var keepsSetCookie: Bool

  /// Whether errors that a field of the request may have caused are neither stored nor used: 4xx except 404 and 410,
  /// and 501 (RFC 9110 §15.5, §15.6.2). Otherwise a client that provokes such an error with a field outside of the key
  /// denies the resource to all clients for as long as the error is fresh.
  ///
  /// Default false: RFC 9111 §3 allows to store an error with a lifetime.
  public var refusesClientErrors: Bool

  /// Whether a response is reused only for requests with the same credentials, as if its `Vary` named
  /// `Authorization` and `Cookie`. A response with `public` answers any credentials. Credentials are kept as keyed
  /// digests only.
  ///
  /// Default false, as in RFC 9111 §4: a token that is renewed would make every response unusable. Where the
  /// program knows its accounts, a partition for each is better.
  public var separatesCredentials: Bool

  /// Changes for some targets, in order: all that match apply, and if two contradict each other the later one
  /// wins (`docs/overrides.md`). Empty by default.
  public var overrides: [RuleOverride] {
    get { overrideSet?.overrides ?? [] }
    set { overrideSet = newValue.isEmpty ? nil : OverrideSet(newValue) }
  }

  /// The overrides, resolved if the rules are for one request; nil without overrides.
  var overrideSet: OverrideSet?

  /// Makes rules for a mode; every other property has its default.
  public init(
    mode: CacheMode = .private, heuristicFraction: Double = 0.1, heuristicLimit: Duration? = nil,
    allowsStaleWhileRevalidate: Bool = true, allowsStaleIfError: Bool = true,
    allowsStaleWhenDisconnected: Bool = true, targetedFields: [String] = [],
    normalizesVary: Bool = true, variantLimit: Int = 32, queryContentLimit: Int = 64 << 10,
    obeysClearSiteData: Bool = true, obeysNoVarySearch: Bool = false,
    removesGone: Bool = false, refusesSetCookie: Bool = false, keepsSetCookie: Bool = false,
    refusesClientErrors: Bool = false, separatesCredentials: Bool = false,
    overrides: [RuleOverride] = []
  ) {
    self.mode = mode
    self.heuristicFraction = heuristicFraction
    self.heuristicLimit = heuristicLimit
    self.allowsStaleWhileRevalidate = allowsStaleWhileRevalidate
    self.allowsStaleIfError = allowsStaleIfError
    self.allowsStaleWhenDisconnected = allowsStaleWhenDisconnected
    self.targetedFields = targetedFields
    self.normalizesVary = normalizesVary
    self.variantLimit = variantLimit
    self.queryContentLimit = queryContentLimit
    self.obeysClearSiteData = obeysClearSiteData
    self.obeysNoVarySearch = obeysNoVarySearch
    self.removesGone = removesGone
    self.refusesSetCookie = refusesSetCookie
    self.keepsSetCookie = keepsSetCookie
    self.refusesClientErrors = refusesClientErrors
    self.separatesCredentials = separatesCredentials
    self.overrides = overrides
  }
}

/// Whether a cache serves one user or many (RFC 9111 §1).
public enum CacheMode: UInt8, Sendable, Hashable, CaseIterable {
  /// Dedicated to one user: may store responses marked `private`, ignores `s-maxage`.
  case `private` = 0
  /// Serves many users: obeys `private`, `s-maxage`, `proxy-revalidate` and §3.5.
  case shared = 1
}

extension CacheRules {
  /// The maximum number of overrides of keys that depend on more of the request than its target.
  private static let uncertainLimit = 6

  /// The target of the key for a target. Requires resolved rules.
  package func keyTarget(of target: String) -> String {
    guard let applied, applied.keyFingerprint != 0 else { return target }
    return keyTarget(of: target, with: applied.matched)
  }

  /// The targets that the keys of requests for a target may have, including itself. A caller that removes or
  /// invalidates the target must do so for these targets, too.
  ///
  /// - Parameter target: a normalised target URI.
  /// - Returns: nil if too many overrides depend on other properties of the request: any target of the origin
  ///   is then possible.
  public func keyTargets(of target: String) -> [String]? {
    var certain: [Int] = []
    var uncertain: [Int] = []
    for (index, override) in overrides.enumerated() where override.keyFingerprint != 0 {
      let matching = override.targets.filter { $0.matches(target: target) }
      guard override.targets.isEmpty || !matching.isEmpty else { continue }
      let isCertain =
        override.methods.isEmpty
        && (override.targets.isEmpty || matching.contains { !$0.needsRequest })
      if isCertain { certain.append(index) } else { uncertain.append(index) }
    }
    guard uncertain.count <= Self.uncertainLimit else { return nil }
    var targets = [target]
    for choice in 0..<(1 << uncertain.count) {
      let chosen = uncertain.indices.filter { choice >> $0 & 1 == 1 }.map { uncertain[$0] }
      let key = keyTarget(of: target, with: (certain + chosen).sorted())
      if !targets.contains(key) { targets.append(key) }
    }
    return targets
  }

  private func keyTarget(of target: String, with indices: [Int]) -> String {
    var key = KeyTarget(target)
    for index in indices where overrides[index].keyFingerprint != 0 {
      for effect in overrides[index].effects { key.apply(effect) }
    }
    return key.target
  }
}

extension CacheRules {
  /// Why the rules cannot be used: the first value that a property cannot have, such as a negative lifetime; nil if all
  /// can be used.
  public var problem: String? {
    if !heuristicFraction.isFinite || heuristicFraction < 0 {
      return "heuristicFraction must be a number from 0 on (got \(heuristicFraction))"
    }
    if let heuristicLimit, heuristicLimit < .zero {
      return "heuristicLimit must not be negative (got \(heuristicLimit))"
    }
    if variantLimit < 1 { return "variantLimit must be at least 1 (got \(variantLimit))" }
    if queryContentLimit < 0 { return "queryContentLimit must not be negative (got \(queryContentLimit))" }
    for (index, override) in overrides.enumerated() {
      for effect in override.effects {
        guard let problem = effect.problem else { continue }
        let name = override.name.isEmpty ? "" : " (\(override.name))"
        return "override \(index + 1)\(name): \(problem)"
      }
    }
    return nil
  }
}

extension RuleEffect {
  /// Why the effect cannot be applied; nil if it can.
  public var problem: String? {
    switch self {
    case .lifetime(.exactly(let duration)), .lifetime(.atLeast(let duration)),
      .lifetime(.atMost(let duration)):
      Self.negative("lifetime", duration)
    case .window(let window, let duration): Self.negative(window.rawValue, duration)
    case .heuristics(let fraction, let limit):
      if !fraction.isFinite || fraction < 0 {
        "the fraction of heuristics must be a number from 0 on (got \(fraction))"
      } else {
        limit.flatMap { Self.negative("the limit of heuristics", $0) }
      }
    case .cacheControl(var value, _):
      value.withUTF8 { CacheControl.problem(in: $0) }.map { "Cache-Control '\(value)': \($0)" }
    case .ignoring, .ignoringVary, .adding, .allowsStaleWhileRevalidate, .allowsStaleIfError,
      .allowsStaleWhenDisconnected, .sharingDespite, .stores, .pins, .ignoringRequestDirectives,
      .droppingQuery,
      .keepingQuery, .ignoringQuery, .sortingQuery, .lowercasingPath, .alias:
      nil
    }
  }

  private static func negative(_ name: String, _ duration: Duration) -> String? {
    duration < .zero ? "\(name) must not be negative (got \(duration))" : nil
  }
}

extension CacheControl {
  /// The first malformed directive of a value that a program gives; nil without one. An unknown directive is an extension
  /// (RFC 9111 §5.2.3).
  static func problem(in octets: Octets) -> String? {
    var problem: String?
    forEachDirective(in: octets) { name, argument in
      if problem != nil { return }
      if argument.isMalformed {
        problem = "malformed near '\(name.text)'"
      } else if let directive = ResponseDirective(named: name) {
        problem = self.problem(in: DirectiveArgument(argument, as: directive.argument), of: directive)
      }
    }
    return problem
  }

  private static func problem(in argument: DirectiveArgument, of directive: ResponseDirective) -> String? {
    switch (directive.argument, argument) {
    case (.seconds, .seconds), (.nothing, .none), (.fieldNames, .none), (.fieldNames, .fieldNames): nil
    case (.seconds, _): "\(directive.name) needs a number of seconds"
    case (.nothing, _): "\(directive.name) has no argument"
    case (.fieldNames, _): "the argument of \(directive.name) is a list of fields"
    }
  }
}
