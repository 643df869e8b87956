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
    return decide(
      request: request, response: response, directives: ResponseDirectives(of: response, rules: rules),
      rules: rules, now: now)
  }

  /// Like `decide(request:response:rules:now:)`, with resolved rules and the directives that they find.
  package static func decide(
    request: HTTPRequest, response: HTTPResponse, directives: ResponseDirectives, rules: CacheRules,
    now: Timestamp
  ) -> StorageDecision {
    var untraced = Untraced()
    return decide(
      request: request, response: response, directives: directives, rules: rules, now: now, trace: &untraced)
  }

  static func decide<Trace: RuleTrace>(
    request: HTTPRequest, response: HTTPResponse, directives: ResponseDirectives, rules: CacheRules,
    now: Timestamp, trace: inout Trace
  ) -> StorageDecision {
    if let refusal = refusal(
      request: request, response: response, directives: directives, rules: rules, now: now, trace: &trace)
    {
      return .doNotStore(refusal)
    }
    for rules in rules.otherReadings {
      var untraced = Untraced()
      let refusal = refusal(
        request: request, response: response, directives: ResponseDirectives(of: response, rules: rules),
        rules: rules, now: now, trace: &untraced)
      if let refusal = trace.failure(
        "May it be stored, as an origin may read the path?", refusal, section: "RFC 9111 §3")
      {
        return .doNotStore(refusal)
      }
    }
    return .store
  }

  /// The refusal by the rules alone, without those for other readings of the target.
  private static func refusal<Trace: RuleTrace>(
    request: HTTPRequest, response: HTTPResponse, directives: ResponseDirectives, rules: CacheRules,
    now: Timestamp, trace: inout Trace
  ) -> StorageRefusal? {
    if let refusal = refusal(request: request, response: response, rules: rules, trace: &trace) {
      return refusal
    }
    if let refusal = refusal(because: directives, of: response, rules: rules, trace: &trace) {
      return refusal
    }
    if rules.mode == .shared,
      let refusal = sharingRefusal(
        request: request, response: response, directives: directives, rules: rules, now: now, trace: &trace)
    {
      return refusal
    }
    let (code, fields) = (response.status.code, response.headerFields)
    let isAllowed = allowsStoring(
      code: code, directives: directives, fields: fields, rules: rules, now: now)
    if let refusal: StorageRefusal = trace.failure(
      "Does anything make it cacheable?", isAllowed ? nil : .notCacheable(status: code),
      values: Excerpt.list(directives.texts, orElse: "no directive")
        + ", \(Excerpt.fields([.expires], of: fields) ?? "no Expires"), status \(code)",
      section: "RFC 9111 §3")
    {
      return refusal
    }
    let facts = Freshness.facts(
      response: response, directives: directives, requestTime: now, responseTime: now, rules: rules)
    if request.method == .post,
      let refusal: StorageRefusal = trace.failure(
        "Does it answer a later GET?",
        answersGet(request: request, response: response, facts: facts) ? nil : .method(.post),
        values: "it needs a lifetime, and Content-Location with the target", section: "RFC 9110 §9.3.3")
    {
      return refusal
    }
    if let refusal: StorageRefusal = trace.failure(
      "Can it be selected again?", Vary.hasAny(response, rules: rules) ? .varyAny : nil,
      values: Excerpt.fields([.vary], of: fields) ?? "no Vary", section: "RFC 9111 §4.1")
    {
      return refusal
    }
    trace.note(
      "How long is it fresh?", facts.lifetimeText, section: facts.lifetimeSource.section, topic: .storing)
    return trace.failure(
      "Can it be used again, fresh, stale or validated?",
      isEverReusable(facts: facts, fields: fields, rules: rules, now: now) ? nil : .neverReusable,
      values: "age \(facts.correctedInitialAge) s on arrival, "
        + (Excerpt.fields([.eTag, .lastModified], of: fields) ?? "no validator"), section: "RFC 9111 §3")
  }

  /// The refusal because of the method, the status, the overrides, or the request.
  private static func refusal<Trace: RuleTrace>(
    request: HTTPRequest, response: HTTPResponse, rules: CacheRules, trace: inout Trace
  ) -> StorageRefusal? {
    let (method, code) = (request.method, response.status.code)
    let isUnderstood = method == .get || method == .query || method == .post
    if let refusal: StorageRefusal = trace.failure(
      "Is the method understood?", isUnderstood ? nil : .method(method), values: "\(method)",
      section: "RFC 9110 §9.2.3")
    {
      return refusal
    }
    if let refusal: StorageRefusal = trace.failure(
      "Is the status final?", code < 200 ? .interim : nil, values: "\(code)", section: "RFC 9111 §3")
    {
      return refusal
    }
    let unstorable: StorageRefusal? =
      code == 206
      ? PartialContent.refusal(request: request, response: response)
      : StatusCaching.isNeverStored(code)
        ? .statusNotStored(code) : redirectsToItself(request, response) ? .redirectToItself : nil
    if let refusal = trace.failure(
      "Is it a response that can be stored?", unstorable,
      values: "status \(code), \(Excerpt.fields([.contentRange], of: response.headerFields) ?? "no range")",
      section: code == 206 ? "RFC 9111 §3.3" : "RFC 9111 §3")
    {
      return refusal
    }
    if method == .get, RequestFeatures(request.headerFields).contains(.content) {
      return trace.failure(
        "Is the request all in its target and fields?", .content(.undefinedSemantics(.get)),
        section: "RFC 9110 §9.3.1")
    }
    if rules.isOverridden,
      let refusal: StorageRefusal = trace.failure(
        "Do the overrides allow it?", rules.allowsUse(of: response) ? nil : .override, section: "")
    {
      return refusal
    }
    if rules.refusesClientErrors,
      let refusal: StorageRefusal = trace.failure(
        "Is it no error that fields may cause?",
        StatusCaching.mayComeFromFields(code) ? .clientError(code) : nil, section: "RFC 9110 §15.5")
    {
      return refusal
    }
    return trace.failure(
      "Does the request allow it?",
      RequestDirectives(request.headerFields).noStore ? .requestNoStore : nil, section: "RFC 9111 §5.2.1.5")
  }

  /// The refusal because of directives that count in every cache (§5.2.2).
  private static func refusal<Trace: RuleTrace>(
    because directives: ResponseDirectives, of response: HTTPResponse, rules: CacheRules, trace: inout Trace
  ) -> StorageRefusal? {
    let code = response.status.code
    if directives.flags.contains(.mustUnderstand),
      let refusal: StorageRefusal = trace.failure(
        "Is the status understood, as it must be?",
        StatusCaching.isUnderstood(code) ? nil : .statusNotUnderstood(code), section: "RFC 9111 §5.2.2.3")
    {
      return refusal
    }
    // A cache that understands the status ignores `no-store` next to `must-understand` (§5.2.2.3).
    let isForbidden = directives.noStore && !directives.flags.liftsNoStore
    return trace.failure(
      "Does the response allow it?", isForbidden ? noStore(response, rules: rules) : nil,
      section: "RFC 9111 §5.2.2.5")
  }

  /// The refusal of a shared cache (§3, §3.5, §5.2.2.7, §7.3).
  private static func sharingRefusal<Trace: RuleTrace>(
    request: HTTPRequest, response: HTTPResponse, directives: ResponseDirectives, rules: CacheRules,
    now: Timestamp, trace: inout Trace
  ) -> StorageRefusal? {
    if let refusal: StorageRefusal = trace.failure(
      "May a shared cache have it?", directives.private == .whole ? .privateInShared : nil,
      section: "RFC 9111 §5.2.2.7")
    {
      return refusal
    }
    if request.headerFields.contains(.authorization),
      let refusal: StorageRefusal = trace.failure(
        "May it be shared?", directives.flags.allowsSharingAuthorized ? nil : .authorized,
        section: "RFC 9111 §3.5")
    {
      return refusal
    }
    if response.headerFields.contains(.setCookie) {
      let kept = FieldHygiene.permitted(
        response, directives: directives, rules: rules, leavesOutCookies: false)
      if let refusal: StorageRefusal = trace.failure(
        "May its cookie be given to all?",
        CookieSharing.isForbidden(kept, rules: rules, now: now) ? .setCookie : nil,
        section: "RFC 9111 §7.3")
      {
        return refusal
      }
    }
    guard CredentialSharing.hasCredentials(request) else { return nil }
    let isForbidden = CredentialSharing.isForbidden(
      response, directives: directives, rules: rules, now: now)
    return trace.failure(
      "Is it for other users too?", isForbidden ? .credentials : nil,
      values: "it needs a lifetime, public or no-cache, as its request had Cookie or Authorization",
      section: "RFC 9111 §4.2.2")
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
