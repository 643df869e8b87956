public import HTTPTypes

/// Whether a stored response may answer a request (RFC 9111 §4).
public enum Reuse {
  /// Why a request cannot be answered from the store, whatever is stored; nil if it can.
  ///
  /// Only GET, HEAD and QUERY are answered (§4, RFC 10008 §2.7). A GET or HEAD with content goes to the
  /// origin, because only the origin knows what its content means (RFC 9110 §9.3.1, §9.3.2). The origin
  /// evaluates `If-Match` and `If-Unmodified-Since` (§4.3.2).
  public static func methodMiss(_ request: HTTPRequest) -> MissReason? {
    methodMiss(request, features: RequestFeatures(request.headerFields))
  }

  /// Like `methodMiss(_:)`, for a request with known features.
  package static func methodMiss(
    _ request: HTTPRequest, features: RequestFeatures
  ) -> MissReason? {
    switch request.method {
    case .get, .head, .query: break
    default: return .method(request.method)
    }
    if features.contains(.content), request.method != .query {
      return .content(.undefinedSemantics(request.method))
    }
    guard features.contains(.originConditions) else { return nil }
    for field in request.headerFields {
      if field.name == .ifMatch { return .precondition(.ifMatch) }
      if field.name == .ifUnmodifiedSince { return .precondition(.ifUnmodifiedSince) }
    }
    return nil
  }

  /// The decision after a miss: a request that must not be forwarded cannot be answered (§5.2.1.7). An unsafe
  /// request is written through nevertheless (§4), unless the caller's own policy keeps it from the origin.
  public static func whenMissing(
    _ reason: MissReason, directives: RequestDirectives, policy: CachePolicy
  ) -> ReuseDecision {
    var untraced = Untraced()
    return whenMissing(reason, directives: directives, policy: policy, trace: &untraced)
  }

  static func whenMissing<Trace: RuleTrace>(
    _ reason: MissReason, directives: RequestDirectives, policy: CachePolicy, trace: inout Trace
  ) -> ReuseDecision {
    if case .method(let method) = reason, !method.isSafe, policy != .cacheOnly {
      trace.note(
        "May the origin be asked?", "yes: \(method) is unsafe, so it is written through",
        section: "RFC 9111 §4", topic: .decision)
      return .miss(reason)
    }
    return forbidsForwarding(directives, policy, trace: &trace)
      ? .unsatisfiable(.miss(reason)) : .miss(reason)
  }

  /// Decides what to do with a request and the stored response that it selected.
  ///
  /// - Parameters:
  ///   - stored: selected by `Vary.select`.
  ///   - request: the request; its method must have passed `methodMiss`.
  ///   - directives: the request's directives.
  ///   - policy: how the caller uses the cache.
  ///   - rules: the choices of the cache.
  ///   - now: the time.
  public static func decide(
    stored: StoredResponse, request: HTTPRequest, directives: RequestDirectives,
    policy: CachePolicy, rules: CacheRules, now: Timestamp
  ) -> ReuseDecision {
    var untraced = Untraced()
    return untraced.decide(
      stored: stored, request: request, directives: directives, policy: policy, rules: rules, now: now)
  }

  /// Why no validation can make the response usable: the policy, a response to HEAD for another method, or a
  /// response that must not be shared (§3.5). Where a 304 would make it usable, the reason is a `ValidationReason`
  /// instead.
  fileprivate static func unusable<Trace: RuleTrace>(
    stored: StoredResponse, request: HTTPRequest, policy: CachePolicy, rules: CacheRules,
    trace: inout Trace
  ) -> MissReason? {
    switch policy {
    case .bypass, .reload, .reloadEverywhere:
      return trace.failure("Does the policy allow its use?", .policy(policy), section: "", topic: .variant)
    case .standard, .revalidate, .cacheElseNetwork, .cacheOnly, .networkElseCache: break
    }
    let isHeadOnly = stored.requestMethod == .head && request.method != .head
    if let reason: MissReason = trace.failure(
      "Does its method allow that?", isHeadOnly ? .method(request.method) : nil,
      values: "it answered \(stored.requestMethod), the request is \(request.method)",
      section: "RFC 9111 §4", topic: .variant)
    {
      return reason
    }
    if rules.mode == .shared, stored.answeredAuthorized,
      let reason: MissReason = trace.failure(
        "May it be shared?", stored.facts.directives.allowsSharingAuthorized ? nil : .absent,
        values: "its request had Authorization", section: "RFC 9111 §3.5", topic: .variant)
    {
      return reason
    }
    let code = stored.head.status.code
    if rules.refusesClientErrors,
      let reason: MissReason = trace.failure(
        "Is it no error that fields may cause?", StatusCaching.mayComeFromFields(code) ? .absent : nil,
        values: "status \(code)", section: "RFC 9110 §15.5", topic: .variant)
    {
      return reason
    }
    guard CookieSharing.isForbidden(stored, rules: rules) else { return nil }
    return trace.failure(
      "May its cookie be given to all?", .absent, values: "Set-Cookie in a shared cache",
      section: "RFC 9111 §7.3", topic: .variant)
  }

  /// Whether the origin may confirm a stored response for a request: it meets the requirements of §4 except
  /// `Vary` and freshness, and the policy allows its use.
  package static func isConfirmable(
    _ stored: StoredResponse, for request: HTTPRequest, policy: CachePolicy, rules: CacheRules
  ) -> Bool {
    var untraced = Untraced()
    return unusable(stored: stored, request: request, policy: policy, rules: rules, trace: &untraced) == nil
  }

  /// The reason that forbids any reuse without validation, fresh or stale.
  fileprivate static func mandatoryValidation(
    of stored: StoredResponse, directives: RequestDirectives
  ) -> ValidationReason? {
    if stored.isInvalidated { return .invalidated }
    if stored.facts.directives.contains(.noCache) { return .responseNoCache }
    if directives.noCache { return .requestNoCache }
    return directives.pragmaNoCache ? .pragmaNoCache : nil
  }

  /// Why the request does not accept a fresh response (§5.2.1.1, §5.2.1.3, policies), or its lifetime is only guessed
  /// for others (`CredentialSharing.mustValidate`).
  ///
  /// A reload of an `immutable` response needs no validation: the origin said that it does not change while
  /// it is fresh (RFC 8246 §2). `no-cache` in the request still demands one (§2.1).
  fileprivate static func unwanted(
    facts: ReuseFacts, age: Int64, directives: RequestDirectives, policy: CachePolicy, isImmutable: Bool,
    isGuessed: Bool
  ) -> ValidationReason? {
    switch policy {
    case .cacheElseNetwork, .cacheOnly: return nil
    // An origin that must not be asked counts as unreachable.
    case .networkElseCache: return directives.onlyIfCached ? nil : .policy(policy)
    case .revalidate: return isImmutable ? nil : .policy(policy)
    case .standard, .reload, .reloadEverywhere, .bypass: break
    }
    if let maxAge = directives.maxAge, exceeds(age, maxAge), !isImmutable {
      return .requestMaxAge(.seconds(maxAge), age: .seconds(age))
    }
    let remaining = facts.freshnessLifetime.saturatingSubtract(age)
    if let minFresh = directives.minFresh, remaining < minFresh {
      return .requestMinFresh(.seconds(minFresh), remaining: .seconds(remaining))
    }
    return isGuessed ? .guessWithCredentials : nil
  }

  /// `max-age=0` demands a response that was just validated, even within the same second.
  private static func exceeds(_ age: Int64, _ maxAge: Int64) -> Bool {
    age > maxAge || maxAge == 0
  }

  /// The allowance of a stale response without asking the origin; nil if there is none (§4.2.4).
  fileprivate static func allowance(
    facts: ReuseFacts, age: Int64, directives: RequestDirectives, policy: CachePolicy, rules: CacheRules
  ) -> StaleAllowance? {
    if facts.directives.forbidsStale(in: rules.mode) { return nil }
    let staleness = age.saturatingSubtract(facts.freshnessLifetime)
    switch policy {
    case .cacheElseNetwork, .cacheOnly: return .policy(policy)
    case .networkElseCache(let maxStale, _):
      let isWithin = maxStale.map { .seconds(staleness) <= $0 } ?? true
      return directives.onlyIfCached && isWithin ? .policy(policy) : nil
    case .revalidate, .reload, .reloadEverywhere, .bypass: return nil
    case .standard: break
    }
    if let maxAge = directives.maxAge, exceeds(age, maxAge) { return nil }
    if directives.minFresh != nil { return nil }
    if let maxStale = directives.maxStale { return staleness <= maxStale ? .maxStale : nil }
    // A client that sends `max-age` does not accept a stale response (§5.2.1.1).
    if directives.maxAge == nil, rules.allowsStaleWhileRevalidate,
      let window = facts.windows[.staleWhileRevalidate], staleness <= window
    {
      return .window(.staleWhileRevalidate)
    }
    return nil
  }

  fileprivate static func validating<Trace: RuleTrace>(
    _ reason: ValidationReason, directives: RequestDirectives, policy: CachePolicy, trace: inout Trace
  ) -> ReuseDecision {
    forbidsForwarding(directives, policy, trace: &trace)
      ? .unsatisfiable(.validation(reason)) : .validate(reason)
  }

  private static func forbidsForwarding<Trace: RuleTrace>(
    _ directives: RequestDirectives, _ policy: CachePolicy, trace: inout Trace
  ) -> Bool {
    let isCacheOnly = if case .cacheOnly = policy { true } else { false }
    let isForbidden = isCacheOnly || directives.onlyIfCached
    trace.note(
      "May the origin be asked?",
      !isForbidden ? "yes" : isCacheOnly ? "no: policy \(policy.name)" : "no: only-if-cached",
      section: "RFC 9111 §5.2.1.7", topic: .decision)
    return isForbidden
  }
}

extension RuleTrace {
  /// Decides as `Reuse.decide(stored:request:directives:policy:rules:now:)`, and tells each question.
  mutating func decide(
    stored: StoredResponse, request: HTTPRequest, directives: RequestDirectives, policy: CachePolicy,
    rules: CacheRules, now: Timestamp
  ) -> ReuseDecision {
    if !rules.isPlain {
      // From here on only the properties of the rules count.
      var concerned = rules.resolved(for: request).concerning(stored.head)
      concerned.overrides = []
      return decide(
        stored: stored, request: request, directives: directives, policy: policy, rules: concerned, now: now)
    }
    if let reason = Reuse.unusable(
      stored: stored, request: request, policy: policy, rules: rules, trace: &self)
    {
      return Reuse.whenMissing(reason, directives: directives, policy: policy, trace: &self)
    }
    let (age, lifetime) = stored.ageAndLifetime(now: now)
    note(
      "How long is it fresh?", stored.lifetimeText, section: stored.facts.lifetimeSource.section,
      topic: .freshness)
    note(
      "How old is it?",
      "\(age) s: \(stored.facts.correctedInitialAge) s on arrival, \(max(0, now - stored.responseTime)) s since",
      section: "RFC 9111 §4.2.3", topic: .freshness)
    if let reason = failure(
      "May it be used without validation?", Reuse.mandatoryValidation(of: stored, directives: directives),
      values: nil, section: "RFC 9111 §4", topic: .freshness)
    {
      return Reuse.validating(reason, directives: directives, policy: policy, trace: &self)
    }
    note(
      "Is it stale?", stored.stalenessText(age: age, lifetime: lifetime), section: "RFC 9111 §4.2",
      topic: .freshness)
    if lifetime > age {
      let unwanted = Reuse.unwanted(
        facts: stored.facts, age: age, directives: directives, policy: policy,
        isImmutable: stored.facts.isImmutable(for: request, rules: rules),
        isGuessed: CredentialSharing.mustValidate(stored.facts, for: request, rules: rules))
      if let reason = failure(
        "Does the request want it as it is?", unwanted, section: "RFC 9111 §5.2.1", topic: .decision)
      {
        return Reuse.validating(reason, directives: directives, policy: policy, trace: &self)
      }
      return .fresh(age: .seconds(age), lifetime: .seconds(lifetime))
    }
    let allowance = Reuse.allowance(
      facts: stored.facts, age: age, directives: directives, policy: policy, rules: rules)
    note(
      "May it be used stale?",
      "\(allowance == nil ? "no" : "yes"): stale for \(age.saturatingSubtract(lifetime)) s, with "
        + Excerpt.list(
          stored.facts.directiveTexts + directives.texts + rules.ignoredWindows, orElse: "no directive"
        ),
      section: allowance?.section ?? "RFC 9111 §4.2.4", topic: .decision)
    if let allowance { return .stale(allowance, age: .seconds(age), lifetime: .seconds(lifetime)) }
    return Reuse.validating(
      .stale(age: .seconds(age), lifetime: .seconds(lifetime)), directives: directives, policy: policy,
      trace: &self)
  }
}

/// The decision for a request and its stored response (RFC 9111 §4).
public enum ReuseDecision: Sendable, Hashable {
  /// Reuse without asking the origin.
  case fresh(age: Duration, lifetime: Duration)
  /// Reuse although stale.
  case stale(StaleAllowance, age: Duration, lifetime: Duration)
  /// Ask the origin, with a condition if there is a validator.
  case validate(ValidationReason)
  /// Forward: nothing stored can be used.
  case miss(MissReason)
  /// The request forbids asking the origin and nothing stored can be used (§5.2.1.7).
  case unsatisfiable(UnsatisfiableReason)
}
