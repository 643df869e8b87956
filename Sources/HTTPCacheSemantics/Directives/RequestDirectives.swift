public import HTTPTypes

/// The cache directives of a request (RFC 9111 §5.2.1, §5.4; RFC 5861 §4).
public struct RequestDirectives: Sendable, Hashable {
  /// `max-age` in seconds (§5.2.1.1); 0 if it was malformed.
  public var maxAge: Int64?
  /// `max-stale` in seconds (§5.2.1.2); the greatest number if it had no value.
  public var maxStale: Int64?
  /// `min-fresh` in seconds (§5.2.1.3); the greatest number if it was malformed.
  public var minFresh: Int64?
  /// `stale-if-error` in seconds (RFC 5861 §4).
  public var staleIfError: Int64?
  /// `no-cache` (§5.2.1.4).
  public var noCache = false
  /// `no-store` (§5.2.1.5).
  public var noStore = false
  /// `no-transform` (§5.2.1.6).
  public var noTransform = false
  /// `only-if-cached` (§5.2.1.7).
  public var onlyIfCached = false
  /// `Pragma: no-cache` in a request without `Cache-Control` (§5.4).
  public var pragmaNoCache = false

  /// Makes an empty set of directives.
  public init() {}

  /// Finds the directives in the header fields of a request, in one pass, without allocating if there are
  /// none. If a directive is repeated, the more restrictive value counts.
  public init(_ fields: HTTPFields) {
    self.init(fields, features: RequestFeatures(fields))
  }

  /// Like `init(_:)`, for a request with known features.
  package init(_ fields: HTTPFields, features: RequestFeatures) {
    guard features.contains(.directives) else { return }
    var hasCacheControl = false
    for field in fields {
      if field.name == .cacheControl {
        hasCacheControl = true
        field.withUnsafeBytesOfValue { apply($0) }
      } else if field.name == FieldNames.pragma {
        field.withUnsafeBytesOfValue { applyPragma($0) }
      }
    }
    if hasCacheControl { pragmaNoCache = false }
  }

  private mutating func apply(_ line: Octets) {
    CacheControl.forEachDirective(in: line) { name, argument in
      if let directive = RequestDirective(named: name) { apply(directive, argument) }
    }
  }

  private mutating func applyPragma(_ line: Octets) {
    CacheControl.forEachDirective(in: line) { name, _ in
      if name.isCaseInsensitively("no-cache") { pragmaNoCache = true }
    }
  }

  /// The directives of a request after applying the overrides of the rules.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - rules: the choices of the cache, resolved for it (`CacheRules.resolved(for:)`).
  public init(of request: HTTPRequest, rules: CacheRules) {
    self.init(
      of: request, features: RequestFeatures(request.headerFields), rules: rules)
  }

  /// Like `init(of:rules:)`, for a request with known features.
  package init(of request: HTTPRequest, features: RequestFeatures, rules: CacheRules) {
    self.init(request.headerFields, features: features)
    guard let applied = rules.applied, applied.ignoresRequestDirectives else { return }
    pragmaNoCache = false
    for directive in RequestDirective.allCases { ignore(directive) }
  }

  /// Removes a directive by which a client asks for a newer response than the stored one.
  private mutating func ignore(_ directive: RequestDirective) {
    switch directive {
    case .noCache: noCache = false
    case .maxAge: maxAge = nil
    case .minFresh: minFresh = nil
    case .noStore, .maxStale, .staleIfError, .onlyIfCached, .noTransform: break
    }
  }

  private mutating func apply(_ directive: RequestDirective, _ argument: CacheControl.Argument) {
    let seconds = argument.seconds
    switch directive {
    case .noCache: noCache = true
    case .noStore: noStore = true
    case .noTransform: noTransform = true
    case .onlyIfCached: onlyIfCached = true
    case .maxAge: maxAge = min(maxAge ?? .max, seconds ?? 0)
    case .minFresh: minFresh = max(minFresh ?? 0, seconds ?? greatestDeltaSeconds)
    case .maxStale:
      if let seconds = argument.isNone ? greatestDeltaSeconds : seconds {
        maxStale = min(maxStale ?? seconds, seconds)
      }
    case .staleIfError: if let seconds { staleIfError = min(staleIfError ?? seconds, seconds) }
    }
  }
}
