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
    if case .method(let method) = reason, !method.isSafe, policy != .cacheOnly {
      return .miss(reason)
    }
    return forbidsForwarding(directives, policy) ? .unsatisfiable(.miss(reason)) : .miss(reason)
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
    if !rules.isPlain {
      // From here on only the properties of the rules count.
      var concerned = rules.resolved(for: request).concerning(stored.head)
      concerned.overrides = []
      return decide(
        stored: stored, request: request, directives: directives, policy: policy, rules: concerned,
        now: now)
    }
    if let reason = unusable(stored: stored, request: request, policy: policy, rules: rules) {
      return whenMissing(reason, directives: directives, policy: policy)
    }
    let age = Age.current(stored, now: now)
    if let reason = mandatoryValidation(of: stored, directives: directives) {
      return validating(reason, directives: directives, policy: policy)
    }
    let lifetime = stored.facts.freshnessLifetime
    if lifetime > age {
      if let reason = unwanted(
        facts: stored.facts, age: age, directives: directives, policy: policy,
        isImmutable: isImmutable(stored.facts, request: request, rules: rules),
        isGuessed: CredentialSharing.mustValidate(stored.facts, for: request, rules: rules))
      {
        return validating(reason, directives: directives, policy: policy)
      }
      return .fresh(age: .seconds(age), lifetime: .seconds(lifetime))
    }
    if let allowance = allowance(
      facts: stored.facts, age: age, directives: directives, policy: policy, rules: rules)
    {
      return .stale(allowance, age: .seconds(age), lifetime: .seconds(lifetime))
    }
    return validating(
      .stale(age: .seconds(age), lifetime: .seconds(lifetime)), directives: directives, policy: policy)
  }

  /// Why no validation can make the response usable: the policy, a response to HEAD for another method, or a
  /// response that must not be shared (§3.5).
  private static func unusable(
    stored: StoredResponse, request: HTTPRequest, policy: CachePolicy, rules: CacheRules
  ) -> MissReason? {
    switch policy {
    case .bypass, .reload, .reloadEverywhere: return .policy(policy)
    case .standard, .revalidate, .cacheElseNetwork, .cacheOnly, .networkElseCache: break
    }
    if stored.requestMethod == .head, request.method != .head { return .method(request.method) }
    if rules.mode == .shared, stored.answeredAuthorized,
      !stored.facts.directives.allowsSharingAuthorized
    {
      return .absent
    }
    if rules.refusesClientErrors, StatusCaching.mayComeFromFields(stored.head.status.code) { return .absent }
    return CookieSharing.isForbidden(stored, rules: rules) ? .absent : nil
  }

  /// Whether the origin may confirm a stored response for a request: it meets the requirements of §4 except
  /// `Vary` and freshness, and the policy allows its use.
  package static func isConfirmable(
    _ stored: StoredResponse, for request: HTTPRequest, policy: CachePolicy, rules: CacheRules
  ) -> Bool {
    unusable(stored: stored, request: request, policy: policy, rules: rules) == nil
  }

  /// The reason that forbids any reuse without validation, fresh or stale.
  private static func mandatoryValidation(
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
  private static func unwanted(
    facts: ReuseFacts, age: Int64, directives: RequestDirectives, policy: CachePolicy,
    isImmutable: Bool, isGuessed: Bool
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

  /// Whether `immutable` counts. A client obeys it only if the origin is authenticated (RFC 8246 §3), or is
  /// this machine; a shared cache leaves it to its clients (§2.1).
  private static func isImmutable(
    _ facts: ReuseFacts, request: HTTPRequest, rules: CacheRules
  ) -> Bool {
    guard facts.directives.contains(.immutable) else { return false }
    if rules.mode == .shared || request.scheme == "https" { return true }
    return CacheKey.target(of: request).flatMap { TargetURI.origin(of: $0) }.map(isLoopback) ?? false
  }

  private static func isLoopback(origin: String) -> Bool {
    let host = origin.dropFirst("http://".count)
    if host.hasPrefix("[") { return host.hasPrefix("[::1]") }
    let name = host.prefix { $0 != ":" }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return name == "localhost"
      || (parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil })
  }

  /// `max-age=0` demands a response that was just validated, even within the same second.
  private static func exceeds(_ age: Int64, _ maxAge: Int64) -> Bool {
    age > maxAge || maxAge == 0
  }

  /// The allowance of a stale response without asking the origin; nil if there is none (§4.2.4).
  private static func allowance(
    facts: ReuseFacts, age: Int64, directives: RequestDirectives, policy: CachePolicy,
    rules: CacheRules
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

  private static func validating(
    _ reason: ValidationReason, directives: RequestDirectives, policy: CachePolicy
  ) -> ReuseDecision {
    forbidsForwarding(directives, policy)
      ? .unsatisfiable(.validation(reason)) : .validate(reason)
  }

  private static func forbidsForwarding(
    _ directives: RequestDirectives, _ policy: CachePolicy
  ) -> Bool {
    if directives.onlyIfCached { return true }
    if case .cacheOnly = policy { return true }
    return false
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
