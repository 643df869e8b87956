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
    let rules = rules.resolved(for: request)
    do throws(StorageRefusal) {
      try check(
        request: request, response: response, directives: ResponseDirectives(of: response, rules: rules),
        rules: rules, now: now)
    } catch {
      return .doNotStore(error)
    }
    return .store
  }

  /// Throws the refusal of `decide(request:response:rules:now:)`.
  ///
  /// - Parameters:
  ///   - directives: the directives that the rules find in the response.
  ///   - rules: the choices of the cache, resolved for the request.
  package static func check(
    request: HTTPRequest, response: HTTPResponse, directives: ResponseDirectives, rules: CacheRules,
    now: Timestamp
  ) throws(StorageRefusal) {
    var untraced = Untraced()
    try check(
      request: request, response: response, directives: directives, rules: rules, now: now, trace: &untraced)
  }

  static func check<Trace: RuleTrace>(
    request: HTTPRequest, response: HTTPResponse, directives: ResponseDirectives, rules: CacheRules,
    now: Timestamp, trace: inout Trace
  ) throws(StorageRefusal) {
    try checkRequest(request, response: response, rules: rules, trace: &trace)
    try checkDirectives(directives, of: response, rules: rules, trace: &trace)
    if rules.mode == .shared {
      try checkSharing(
        request: request, response: response, directives: directives, rules: rules, now: now, trace: &trace)
    }
    try checkUse(
      request: request, response: response, directives: directives, rules: rules, now: now, trace: &trace)
    for rules in rules.otherReadings {
      let decision = decide(request: request, response: response, rules: rules, now: now)
      try trace.require(
        "May it be stored, as an origin may read the path?", decision.refusal, section: "RFC 9111 §3")
    }
  }

  /// Throws the refusal of a response that nothing makes cacheable, or that no request can use again (§3, §4.1).
  private static func checkUse<Trace: RuleTrace>(
    request: HTTPRequest, response: HTTPResponse, directives: ResponseDirectives, rules: CacheRules,
    now: Timestamp, trace: inout Trace
  ) throws(StorageRefusal) {
    let (code, fields) = (response.status.code, response.headerFields)
    let isAllowed = allowsStoring(
      code: code, directives: directives, fields: fields, rules: rules, now: now)
    try trace.require(
      "Does anything make it cacheable?", isAllowed ? nil : .notCacheable(status: code),
      values: Excerpt.list(directives.texts, orElse: "no directive")
        + ", \(Excerpt.fields([.expires], of: fields) ?? "no Expires"), status \(code)",
      section: "RFC 9111 §3")
    let facts = Freshness.facts(
      response: response, directives: directives, requestTime: now, responseTime: now, rules: rules)
    if request.method == .post {
      try trace.require(
        "Does it answer a later GET?",
        answersGet(request: request, response: response, facts: facts) ? nil : .method(.post),
        values: "it needs a lifetime, and Content-Location with the target", section: "RFC 9110 §9.3.3")
    }
    let isAny = if case .any = Vary.names(of: response, rules: rules) { true } else { false }
    try trace.require(
      "Can it be selected again?", isAny ? .varyAny : nil,
      values: Excerpt.fields([.vary], of: fields) ?? "no Vary", section: "RFC 9111 §4.1")
    trace.note(
      "How long is it fresh?", facts.lifetimeText, section: facts.lifetimeSource.section, topic: .storing)
    try trace.require(
      "Can it be used again, fresh, stale or validated?",
      isEverReusable(facts: facts, fields: fields, rules: rules, now: now) ? nil : .neverReusable,
      values: "age \(facts.correctedInitialAge) s on arrival, "
        + (Excerpt.fields([.eTag, .lastModified], of: fields) ?? "no validator"), section: "RFC 9111 §3")
  }

  /// Throws the refusal because of the method, the status, the overrides, or the request.
  private static func checkRequest<Trace: RuleTrace>(
    _ request: HTTPRequest, response: HTTPResponse, rules: CacheRules, trace: inout Trace
  ) throws(StorageRefusal) {
    let (method, code) = (request.method, response.status.code)
    let isUnderstood = method == .get || method == .query || method == .post
    try trace.require(
      "Is the method understood?", isUnderstood ? nil : .method(method), values: "\(method)",
      section: "RFC 9110 §9.2.3")
    try trace.require(
      "Is the status final?", code < 200 ? .interim : nil, values: "\(code)", section: "RFC 9111 §3")
    let unstorable: StorageRefusal? =
      code == 206
      ? PartialContent.refusal(request: request, response: response)
      : StatusCaching.isNeverStored(code)
        ? .statusNotStored(code) : redirectsToItself(request, response) ? .redirectToItself : nil
    try trace.require(
      "Is it a response that can be stored?", unstorable,
      values: "status \(code), \(Excerpt.fields([.contentRange], of: response.headerFields) ?? "no range")",
      section: code == 206 ? "RFC 9111 §3.3" : "RFC 9111 §3")
    if method == .get, RequestFeatures(request.headerFields).contains(.content) {
      try trace.require(
        "Is the request all in its target and fields?", .content(.undefinedSemantics(.get)),
        section: "RFC 9110 §9.3.1")
    }
    if rules.isOverridden {
      try trace.require(
        "Do the overrides allow it?", rules.allowsUse(of: response) ? nil : .override, section: "")
    }
    if rules.refusesClientErrors {
      try trace.require(
        "Is it no error that fields may cause?",
        StatusCaching.mayComeFromFields(code) ? .clientError(code) : nil, section: "RFC 9110 §15.5")
    }
    try trace.require(
      "Does the request allow it?",
      RequestDirectives(request.headerFields).noStore ? .requestNoStore : nil, section: "RFC 9111 §5.2.1.5")
  }

  /// Throws the refusal because of directives that count in every cache (§5.2.2).
  private static func checkDirectives<Trace: RuleTrace>(
    _ directives: ResponseDirectives, of response: HTTPResponse, rules: CacheRules, trace: inout Trace
  ) throws(StorageRefusal) {
    let code = response.status.code
    if directives.flags.contains(.mustUnderstand) {
      try trace.require(
        "Is the status understood, as it must be?",
        StatusCaching.isUnderstood(code) ? nil : .statusNotUnderstood(code), section: "RFC 9111 §5.2.2.3")
    }
    // A cache that understands the status ignores `no-store` next to `must-understand` (§5.2.2.3).
    let isForbidden = directives.noStore && !directives.flags.liftsNoStore
    try trace.require(
      "Does the response allow it?", isForbidden ? noStore(response, rules: rules) : nil,
      section: "RFC 9111 §5.2.2.5")
  }

  /// Throws the refusal of a shared cache (§3, §3.5, §5.2.2.7, §7.3).
  private static func checkSharing<Trace: RuleTrace>(
    request: HTTPRequest, response: HTTPResponse, directives: ResponseDirectives, rules: CacheRules,
    now: Timestamp, trace: inout Trace
  ) throws(StorageRefusal) {
    try trace.require(
      "May a shared cache have it?", directives.private == .whole ? .privateInShared : nil,
      section: "RFC 9111 §5.2.2.7")
    if request.headerFields.contains(.authorization) {
      try trace.require(
        "May it be shared?", directives.flags.allowsSharingAuthorized ? nil : .authorized,
        section: "RFC 9111 §3.5")
    }
    if response.headerFields.contains(.setCookie) {
      let kept = FieldHygiene.permitted(
        response, directives: directives, rules: rules, leavesOutCookies: false)
      try trace.require(
        "May its cookie be given to all?",
        CookieSharing.isForbidden(kept, rules: rules, now: now) ? .setCookie : nil,
        section: "RFC 9111 §7.3")
    }
    guard CredentialSharing.hasCredentials(request) else { return }
    let isForbidden = CredentialSharing.isForbidden(
      response, directives: directives, rules: rules, now: now)
    try trace.require(
      "Is it for other users too?", isForbidden ? .credentials : nil,
      values: "it needs a lifetime, public or no-cache, as its request had Cookie or Authorization",
      section: "RFC 9111 §4.2.2")
  }

  /// The refusal of a response with `no-store`, which names an override that asks to keep it.
  static func noStore(_ response: HTTPResponse, rules: CacheRules) -> StorageRefusal {
    rules.overrideKeptOut(by: response).map { .noStoreDespiteOverride(override: $0) } ?? .responseNoStore
  }

  /// Whether a redirect leads to another spelling of its own target, such as `/~u` for `/%7Eu`. Both have one key
  /// (RFC 9110 §4.2.3): if it were stored, it would also answer each request that follows it.
  private static func redirectsToItself(_ request: HTTPRequest, _ response: HTTPResponse) -> Bool {
    guard response.status.isRedirect, let location = response.headerFields.first(.location)?.value,
      let target = CacheKey.target(of: request),
      TargetURI.resolved(location, against: target) == target
    else { return false }
    return !location.prefix { $0 != "#" }.hasSuffix(request.path ?? "/")
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

  /// Why it must not be stored; nil if it may be.
  var refusal: StorageRefusal? { if case .doNotStore(let refusal) = self { refusal } else { nil } }
}
