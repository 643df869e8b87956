public import HTTPTypes

/// How a request to the origin failed (RFC 9111 §4.2.4, §4.3.3).
public enum FailureKind: Sendable, Hashable {
  /// No answer, or none in time: the cache is disconnected.
  case unreachable
  /// An answer that broke the protocol or cannot be trusted; a gateway answers 502 then.
  case badGateway
  /// An answer with this status: a 5xx, or a status that the policy counts as a failure.
  case status(Int)
}

/// The decision after the origin failed (RFC 9111 §4.2.4, RFC 5861 §4).
public enum FailureFallback: Sendable, Hashable {
  /// Use the stored response.
  case useStale(StaleAllowance)
  /// Return the failure.
  case fail(FallbackRefusal)
}

/// Why a stored response cannot replace the answer of an origin that failed.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum FallbackRefusal: Reason, Hashable {
  /// The request's policy forbids using the store.
  case policy(CachePolicy)
  /// The store cannot answer this request (§4).
  case miss(MissReason)
  /// It answered an authorized request and must not be shared (§3.5).
  case authorized
  /// It sets a cookie that this shared cache does not keep (§7.3).
  case setCookie
  /// It was invalidated, by an unsafe request or on demand: validation is mandatory (§4.4).
  case invalidated
  /// The response said `no-cache` (§5.2.2.4).
  case responseNoCache
  /// The request said `no-cache`, or `Pragma: no-cache` (§5.2.1.4).
  case requestNoCache
  /// The request's `max-age` or `min-fresh` excludes a stale response (§5.2.1.1).
  case requestFreshness
  /// The response said `must-revalidate` (§5.2.2.2).
  case mustRevalidate
  /// The response said `proxy-revalidate` and the cache is shared (§5.2.2.8).
  case proxyRevalidate
  /// The response has `s-maxage` and the cache is shared (§5.2.2.10).
  case sMaxAge
  /// It is stale for longer than allowed.
  case tooStale(Duration, limit: Duration)
  /// No rule allows replacing an answer with this status by a stale response (RFC 5861 §4).
  case serverError(Int)
  /// A setting of the cache forbids it.
  case rules

  /// A few words for people.
  public var description: String {
    switch self {
    case .policy(let policy): "policy \(policy.name)"
    case .miss(let reason): reason.description
    case .authorized: "the stored response must not be shared"
    case .setCookie: "Set-Cookie in a shared cache"
    case .invalidated: "invalidated"
    case .responseNoCache: "no-cache in the response"
    case .requestNoCache: "no-cache in the request"
    case .requestFreshness: "the request asks for no stale response"
    case .mustRevalidate: "must-revalidate"
    case .proxyRevalidate: "proxy-revalidate"
    case .sMaxAge: "s-maxage"
    case .tooStale(let staleness, let limit):
      "stale for \(staleness.wholeSeconds) s, allowed \(limit.wholeSeconds) s"
    case .serverError(let code): "status \(code) and no stale-if-error"
    case .rules: "switched off"
    }
  }

  /// The section.
  public var section: String {
    switch self {
    case .policy, .rules: ""
    case .miss(let reason): reason.section
    case .authorized: "RFC 9111 §3.5"
    case .setCookie: "RFC 9111 §7.3"
    case .invalidated: "RFC 9111 §4.4"
    case .responseNoCache: "RFC 9111 §5.2.2.4"
    case .requestNoCache: "RFC 9111 §5.2.1.4"
    case .requestFreshness: "RFC 9111 §5.2.1.1"
    case .mustRevalidate: "RFC 9111 §5.2.2.2"
    case .proxyRevalidate: "RFC 9111 §5.2.2.8"
    case .sMaxAge: "RFC 9111 §5.2.2.10"
    case .tooStale: "RFC 9111 §4.2.4"
    case .serverError: "RFC 5861 §4"
    }
  }
}

extension Reuse {
  /// Decides whether a stored response replaces the answer of an origin that failed (RFC 9111 §4.2.4, RFC
  /// 5861 §4).
  ///
  /// - Parameters:
  ///   - stored: selected by `Vary.select`.
  ///   - request: the request.
  ///   - policy: how the caller uses the cache.
  ///   - rules: the choices of the cache.
  ///   - now: the time.
  ///   - failure: how the origin failed.
  public static func afterFailure(
    stored: StoredResponse, request: HTTPRequest, policy: CachePolicy, rules: CacheRules, now: Timestamp,
    failure: FailureKind
  ) -> FailureFallback {
    let asked = rules.isPlain ? rules : rules.resolved(for: request)
    let directives = RequestDirectives(of: request, rules: asked)
    let rules = rules.isPlain ? rules : asked.concerning(stored.head)
    let facts = stored.facts
    let (age, lifetime) = stored.ageAndLifetime(now: now)
    let staleness = max(0, age.saturatingSubtract(lifetime))
    let isFresh = lifetime > age
    if let refusal = refusal(stored: stored, request: request, policy: policy, rules: rules) {
      return .fail(refusal)
    }
    if directives.noCache || directives.pragmaNoCache { return .fail(.requestNoCache) }
    if !isFresh, let refusal = forbidden(facts.directives, mode: rules.mode) {
      return .fail(refusal)
    }
    if case .networkElseCache(let maxStale, let onStatus) = policy,
      failure == .unreachable || failure.status.map(onStatus.contains) ?? false
    {
      if let maxStale, .seconds(staleness) > maxStale {
        return .fail(.tooStale(.seconds(staleness), limit: maxStale))
      }
      return .useStale(.policy(policy))
    }
    return fallback(
      facts: facts, staleness: staleness, directives: directives, rules: rules, failure: failure)
  }

  /// The reason that forbids the use of the stored response, fresh or stale.
  private static func refusal(
    stored: StoredResponse, request: HTTPRequest, policy: CachePolicy, rules: CacheRules
  ) -> FallbackRefusal? {
    switch policy {
    case .reload, .reloadEverywhere, .revalidate, .bypass: return .policy(policy)
    case .standard, .cacheElseNetwork, .cacheOnly, .networkElseCache: break
    }
    if let reason = methodMiss(request) { return .miss(reason) }
    if stored.requestMethod == .head, request.method != .head {
      return .miss(.method(request.method))
    }
    if rules.mode == .shared, stored.answeredAuthorized,
      !stored.facts.directives.allowsSharingAuthorized
    {
      return .authorized
    }
    if CookieSharing.isForbidden(stored, rules: rules) { return .setCookie }
    if rules.refusesClientErrors, StatusCaching.mayComeFromFields(stored.head.status.code) {
      return .miss(.absent)
    }
    if stored.isInvalidated { return .invalidated }
    return stored.facts.directives.contains(.noCache) ? .responseNoCache : nil
  }

  /// The directive that forbids the use of a stale response (§4.2.4).
  private static func forbidden(
    _ directives: ReuseFacts.Directives, mode: CacheMode
  ) -> FallbackRefusal? {
    if directives.contains(.mustRevalidate) { return .mustRevalidate }
    guard mode == .shared else { return nil }
    if directives.contains(.proxyRevalidate) { return .proxyRevalidate }
    return directives.contains(.sMaxAge) ? .sMaxAge : nil
  }

  /// Checks `stale-if-error` first: it holds regardless of other freshness information (RFC 5861 §4). A
  /// window that has passed also ends the use while disconnected.
  private static func fallback(
    facts: ReuseFacts, staleness: Int64, directives: RequestDirectives, rules: CacheRules,
    failure: FailureKind
  ) -> FailureFallback {
    if rules.allowsStaleIfError, countsAsError(failure),
      let window = [facts.windows[.staleIfError], directives.staleIfError].compactMap({ $0 }).max()
    {
      return staleness <= window
        ? .useStale(.window(.staleIfError)) : .fail(.tooStale(.seconds(staleness), limit: .seconds(window)))
    }
    switch failure {
    case .status(let code): return .fail(.serverError(code))
    case .badGateway: return .fail(.serverError(502))
    case .unreachable: break
    }
    guard rules.allowsStaleWhenDisconnected else { return .fail(.rules) }
    if directives.minFresh != nil { return .fail(.requestFreshness) }
    if let maxStale = directives.maxStale {
      return staleness <= maxStale
        ? .useStale(.disconnected) : .fail(.tooStale(.seconds(staleness), limit: .seconds(maxStale)))
    }
    return directives.maxAge == nil ? .useStale(.disconnected) : .fail(.requestFreshness)
  }

  /// Whether a failure would result in a 500, 502, 503 or 504 (RFC 5861 §4).
  private static func countsAsError(_ failure: FailureKind) -> Bool {
    switch failure {
    case .unreachable, .badGateway: true
    case .status(let code): code == 500 || (502...504).contains(code)
    }
  }
}

extension FailureKind {
  /// The status of the origin's answer; nil if there was no usable answer.
  fileprivate var status: Int? { if case .status(let code) = self { code } else { nil } }
}
