import HTTPCacheSemantics
import HTTPCacheStore
public import HTTPTypes

extension HTTPCache {
  /// A fresh answer from memory, without suspending; nil if the caller has to call `respond`.
  ///
  /// A request whose `Content-Length` is not 0, or that has `Transfer-Encoding`, is not answered
  /// (RFC 9110 §9.3.1). For content without either field, as HTTP/2 allows, call `respond`.
  ///
  /// - Parameter request: with scheme, authority and path.
  public func peek(_ request: HTTPRequest) -> CacheResponse? {
    peek(request, partition: "", bodyForms: .asSent, separatesCredentials: false)
  }

  /// Like `peek(_:)`, with a partition, or for a caller that accepts decoded bodies.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path.
  ///   - options: partition and whether decoded bodies are accepted.
  public func peek(_ request: HTTPRequest, options: RequestOptions) -> CacheResponse? {
    peek(
      request, partition: options.partition, bodyForms: options.bodyForms,
      separatesCredentials: options.separatesCredentials)
  }

  /// Like `peek(_:options:)`, for a door that otherwise calls `respond`. Nil as long as there are changes that the
  /// store failed to make, because `respond` tries them again.
  ///
  /// - Parameter mayUse: whether the caller accepts the stored head.
  package func peek(
    _ request: HTTPRequest, options: RequestOptions, where mayUse: (HTTPResponse) -> Bool
  ) -> CacheResponse? {
    guard failedChanges.isEmpty else { return nil }
    return peek(
      request, partition: options.partition, bodyForms: options.bodyForms,
      separatesCredentials: options.separatesCredentials, where: mayUse)
  }

  private func peek(
    _ request: HTTPRequest, partition: String, bodyForms: BodyForms, separatesCredentials: Bool,
    where mayUse: (HTTPResponse) -> Bool = { _ in true }
  ) -> CacheResponse? {
    guard
      let found = found(
        request, partition: partition, bodyForms: bodyForms, separatesCredentials: separatesCredentials),
      mayUse(found.response.head)
    else { return nil }
    guard
      var response = answer(
        found.response, head: found.head, outcome: found.outcome, found.variant, to: found.asked)
    else { return nil }
    response.shareHead(of: found.variant.record, for: request)
    return response
  }

  /// A response in memory that may answer a request, before the request's conditions and ranges are looked at.
  struct PeekedResponse {
    let asked: AskedRequest
    /// All variants of the key.
    let stored: [StoredVariant]
    let variant: StoredVariant
    /// The response of `variant`, seen by the rules.
    let response: StoredResponse
    let outcome: CacheOutcome

    /// The head of the complete response, with its age.
    var head: HTTPResponse { variant.record.head(age: outcome.age?.wholeSeconds ?? 0) }
  }

  /// The response in memory that may answer a request without suspending; nil if the caller has to call `respond`.
  func found(
    _ request: HTTPRequest, partition: String, bodyForms: BodyForms, separatesCredentials: Bool
  ) -> PeekedResponse? {
    // Only `respond` finds the latest of several equivalent targets.
    if configuration.rules.obeysNoVarySearch { return nil }
    guard request.method == .get || request.method == .head,
      let target = CacheKey.target(of: request)
    else { return nil }
    var rules =
      configuration.rules.isPlain
      ? configuration.rules : configuration.rules.resolved(for: request, target: target)
    if separatesCredentials { rules.separatesCredentials = true }
    let key = CacheKey(request: request, target: target, rules: rules, partition: partition)
    guard let stored = peeked(key, rules: rules) else { return nil }
    let features = RequestFeatures(request.headerFields)
    guard Reuse.methodMiss(request, features: features) == nil,
      !features.contains(.host) || !request.namesOtherHost,
      let (variant, selected) = selected(among: usable(stored, bodyForms), for: request, rules: rules)
    else { return nil }
    let now = configuration.clock.now
    let response: StoredResponse
    if rules.isPlain, selected.facts.overrides == 0 {
      response = selected
    } else {
      guard let seen = selected.seen(by: rules) else { return nil }
      response = seen
    }
    let decision = Reuse.decide(
      stored: response, request: request,
      directives: rules.isPlain
        ? RequestDirectives(request.headerFields, features: features)
        : RequestDirectives(of: request, features: features, rules: rules),
      policy: .standard, rules: rules, now: now)
    guard let outcome = Self.hit(decision) else { return nil }
    return PeekedResponse(
      asked: AskedRequest(request: request, features: features, key: key, target: target, now: now),
      stored: stored, variant: variant, response: response, outcome: outcome)
  }

  private static func hit(_ decision: ReuseDecision) -> CacheOutcome? {
    switch decision {
    case .fresh(let age, let lifetime): .hit(age: age, lifetime: lifetime, allowance: nil)
    case .stale(let allowance, let age, let lifetime) where allowance != .window(.staleWhileRevalidate):
      .hit(age: age, lifetime: lifetime, allowance: allowance)
    case .stale, .validate, .miss, .unsatisfiable: nil
    }
  }

  /// The variants in memory for a key; nil if the disk tier may have more of them.
  func peeked(_ key: CacheKey, rules: CacheRules) -> [StoredVariant]? {
    guard let stored = variants(inMemory: key, rules: rules), !failedChanges.concern(stored) else {
      return nil
    }
    return stored
  }

  private func variants(inMemory key: CacheKey, rules: CacheRules) -> [StoredVariant]? {
    if !rules.isPlain, rules.alias != nil { return peekedItem(of: key, rules: rules) }
    guard case .found(let stored) = store.peek(key),
      stored.allSatisfy({
        $0.record.response.keyFingerprint == 0 || $0.record.response.isKeyed(by: rules)
      })
    else { return nil }
    return stored
  }

  /// The variant that `Vary` selects, and its response.
  func selected(
    among variants: [StoredVariant], for request: HTTPRequest, rules: CacheRules
  ) -> (StoredVariant, StoredResponse)? {
    // A single variant only has to match.
    if variants.count == 1 {
      let variant = variants[0]
      let response = variant.record.response
      let isMatch = Vary.matches(response, request: request, rules: rules, digest: digest)
      return isMatch ? (variant, response) : nil
    }
    guard
      case .selected(let index) = Vary.select(
        among: variants.map(\.record.response), for: request, rules: rules, digest: digest)
    else { return nil }
    return (variants[index], variants[index].record.response)
  }
}
