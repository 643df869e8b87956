public import HTTPTypes

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
    let staleness = max(
      0, Age.current(stored, now: now).saturatingSubtract(facts.freshnessLifetime))
    let isFresh = facts.freshnessLifetime > Age.current(stored, now: now)
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
      let window = larger(facts.windows[.staleIfError], directives.staleIfError)
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

  private static func larger(_ first: Int64?, _ second: Int64?) -> Int64? {
    guard let first else { return second }
    return max(first, second ?? first)
  }
}

extension FailureKind {
  /// The status of the origin's answer; nil if there was no usable answer.
  fileprivate var status: Int? { if case .status(let code) = self { code } else { nil } }
}
