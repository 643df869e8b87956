public import HTTPTypes

/// Whether a response may be stored (RFC 9111 §3).
public enum Storability {
  /// Decides whether a response may be stored, from its head alone.
  ///
  /// A 206 with one part is stored as an incomplete 200 (§3.3).
  ///
  /// - Parameters:
  ///   - request: the request as it was forwarded, with `Authorization` if it had one.
  ///   - response: the head as it arrived.
  ///   - rules: the choices of the cache.
  ///   - now: when the response arrived.
  public static func decide(
    request: HTTPRequest, response: HTTPResponse, rules: CacheRules, now: Timestamp
  ) -> StorageDecision {
    if rules.isUnresolved {
      return decide(request: request, response: response, rules: rules.resolved(for: request), now: now)
    }
    if let refusal = refusal(request: request, response: response, rules: rules, now: now) {
      return .doNotStore(refusal)
    }
    for rules in rules.otherReadings {
      if let refusal = refusal(request: request, response: response, rules: rules, now: now) {
        return .doNotStore(refusal)
      }
    }
    return .store
  }

  /// The refusal by the rules alone, without those for other readings of the target.
  static func refusal(
    request: HTTPRequest, response: HTTPResponse, rules: CacheRules, now: Timestamp
  ) -> StorageRefusal? {
    let isPost = request.method == .post
    guard request.method == .get || request.method == .query || isPost else {
      return .method(request.method)
    }
    let code = response.status.code
    if code < 200 { return .interim }
    if code == 206, let refusal = PartialContent.refusal(request: request, response: response) {
      return refusal
    }
    if StatusCaching.isNeverStored(code) { return .statusNotStored(code) }
    if request.method == .get, RequestFeatures(request.headerFields).contains(.content) {
      return .content(.undefinedSemantics(.get))
    }
    if !rules.isPlain, !rules.allowsUse(of: response) { return .override }
    if rules.refusesClientErrors, StatusCaching.mayComeFromFields(code) { return .clientError(code) }
    if RequestDirectives(request.headerFields).noStore { return .requestNoStore }
    let directives = ResponseDirectives(of: response, rules: rules)
    if let refusal = refusal(
      code: code, directives: directives, request: request, response: response, rules: rules, now: now)
    {
      return refusal
    }
    guard
      allowsStoring(
        code: code, directives: directives, fields: response.headerFields, rules: rules, now: now)
    else { return .notCacheable(status: code) }
    let facts = Freshness.facts(
      response: response, directives: directives, requestTime: now, responseTime: now, rules: rules)
    if isPost, !answersGet(request: request, response: response, facts: facts) {
      return .method(.post)
    }
    if Vary.hasAny(response, rules: rules) { return .varyAny }
    return isEverReusable(facts: facts, fields: response.headerFields, rules: rules, now: now)
      ? nil : .neverReusable
  }

  /// The refusal because of directives (§3, §5.2.2).
  private static func refusal(
    code: Int, directives: ResponseDirectives, request: HTTPRequest, response: HTTPResponse,
    rules: CacheRules, now: Timestamp
  ) -> StorageRefusal? {
    if directives.flags.contains(.mustUnderstand), !StatusCaching.isUnderstood(code) {
      return .statusNotUnderstood(code)
    }
    // A cache that understands the status ignores `no-store` next to `must-understand` (§5.2.2.3).
    if directives.noStore, !directives.flags.liftsNoStore { return noStore(response, rules: rules) }
    guard rules.mode == .shared else { return nil }
    if directives.private == .whole { return .privateInShared }
    if request.headerFields.contains(.authorization),
      !directives.flags.allowsSharingAuthorized
    {
      return .authorized
    }
    if response.headerFields.contains(.setCookie),
      CookieSharing.isForbidden(FieldHygiene.permitted(response, rules: rules), rules: rules, now: now)
    {
      return .setCookie
    }
    return CredentialSharing.isForbidden(
      response, directives: directives, to: request, rules: rules, now: now) ? .credentials : nil
  }

  /// The refusal of a response with `no-store`, which names an override that asks to keep it.
  static func noStore(_ response: HTTPResponse, rules: CacheRules) -> StorageRefusal {
    rules.overrideKeptOut(by: response).map { .noStoreDespiteOverride(override: $0) } ?? .responseNoStore
  }

  /// Whether any property makes the response cacheable (§3, last requirement).
  static func allowsStoring(
    code: Int, directives: ResponseDirectives, fields: HTTPFields, rules: CacheRules, now: Timestamp
  ) -> Bool {
    if directives.givesLifetime(in: rules.mode) || directives.flags.contains(.public) { return true }
    if directives.permitsPrivateStoring(in: rules.mode) { return true }
    if directives.obeysExpires, fields.date(.expires, relativeTo: now).time != nil { return true }
    if directives.hasOverriddenLifetime { return true }
    return StatusCaching.isHeuristicallyCacheable(code)
  }

  /// Whether a response to POST answers a later GET (RFC 9110 §9.3.3): an explicit lifetime, and
  /// `Content-Location` is the target.
  static func answersGet(
    request: HTTPRequest, response: HTTPResponse, facts: ReuseFacts
  ) -> Bool {
    guard facts.lifetimeSource != .none, facts.lifetimeSource != .heuristic,
      facts.lifetimeSource != .maxAge || !facts.directives.contains(.malformedMaxAge),
      facts.lifetimeSource != .sMaxAge || !facts.directives.contains(.malformedSMaxAge),
      let location = response.headerFields.first(.contentLocation)?.value,
      let target = CacheKey.target(of: request)
    else { return false }
    return TargetURI.resolved(location, against: target) == target
  }

  /// Whether the response can ever be used again: fresh, stale, or validated.
  static func isEverReusable(
    facts: ReuseFacts, fields: HTTPFields, rules: CacheRules, now: Timestamp
  ) -> Bool {
    if Validation.hasValidator(fields, now: now) { return true }
    if facts.directives.contains(.noCache) { return false }
    if facts.freshnessLifetime > facts.correctedInitialAge { return true }
    if facts.directives.forbidsStale(in: rules.mode) { return false }
    return facts.lifetimeSource != .none || !facts.windows.isEmpty
  }
}

extension ReuseFacts.Directives {
  /// The well-formed directives that allow a shared cache to store the response to a request with
  /// `Authorization` (§3.5).
  var sharing: ReuseFacts.Directives {
    var found = intersection([.public, .mustRevalidate, .sMaxAge])
    if contains(.malformedMustRevalidate) { found.remove(.mustRevalidate) }
    if contains(.malformedSMaxAge) { found.remove(.sMaxAge) }
    return found
  }

  /// Whether a shared cache may store the response to a request with `Authorization` (§3.5).
  var allowsSharingAuthorized: Bool {
    if contains(.sharedByOverride) { return true }
    if contains(.notSharedByOrigin) { return false }
    return !sharing.isEmpty
  }

  /// Whether a cache that understands the status ignores `no-store` (§5.2.2.3).
  var liftsNoStore: Bool { contains(.mustUnderstand) && !contains(.malformedMustUnderstand) }

  /// Whether the response must not be used once it is stale (§4.2.4).
  func forbidsStale(in mode: CacheMode) -> Bool {
    contains(.mustRevalidate)
      || (mode == .shared && !isDisjoint(with: [.proxyRevalidate, .sMaxAge]))
  }
}

/// Whether a response may be stored (RFC 9111 §3).
public enum StorageDecision: Sendable, Hashable {
  /// It may be stored.
  case store
  /// It must not be stored.
  case doNotStore(StorageRefusal)
}

/// The head of a response as it arrived, and the times that its age is counted from (RFC 9111 §4.2.3).
public struct ReceivedResponse: Sendable, Hashable {
  /// The head.
  public var head: HTTPResponse
  /// When the request was sent.
  public var requestTime: Timestamp
  /// When the head arrived.
  public var responseTime: Timestamp

  /// Makes a response.
  ///
  /// - Parameters:
  ///   - head: the head as it arrived.
  ///   - requestTime: when the request was sent.
  ///   - responseTime: when the head arrived.
  public init(_ head: HTTPResponse, requestTime: Timestamp, responseTime: Timestamp) {
    self.head = head
    self.requestTime = requestTime
    self.responseTime = responseTime
  }
}
