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
    peek(request, partition: "", bodyForms: .asSent)
  }

  /// Like `peek(_:)`, with a partition, or for a caller that accepts decoded bodies.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path.
  ///   - options: partition and whether decoded bodies are accepted.
  public func peek(_ request: HTTPRequest, options: RequestOptions) -> CacheResponse? {
    peek(
      request, partition: options.partition, bodyForms: options.bodyForms)
  }

  /// Like `peek(_:options:)`, for a caller that cannot use each response.
  ///
  /// - Parameter mayUse: whether the caller accepts the stored head.
  package func peek(
    _ request: HTTPRequest, options: RequestOptions, where mayUse: (HTTPResponse) -> Bool
  ) -> CacheResponse? {
    peek(request, partition: options.partition, bodyForms: options.bodyForms, where: mayUse)
  }

  private func peek(
    _ request: HTTPRequest, partition: String, bodyForms: BodyForms,
    where mayUse: (HTTPResponse) -> Bool = { _ in true }
  ) -> CacheResponse? {
    // Only `respond` finds the latest of several equivalent targets.
    if configuration.rules.obeysNoVarySearch { return nil }
    guard request.method == .get || request.method == .head,
      let target = CacheKey.target(of: request)
    else { return nil }
    let rules =
      configuration.rules.isPlain
      ? configuration.rules : configuration.rules.resolved(for: request, target: target)
    let key = CacheKey(request: request, target: target, rules: rules, partition: partition)
    guard let stored = peeked(key, rules: rules) else { return nil }
    let variants = usable(stored, bodyForms)
    return peek(request, among: variants, key: key, target: target, rules: rules, where: mayUse)
  }

  private func peek(
    _ request: HTTPRequest, among variants: [StoredVariant], key: CacheKey, target: String,
    rules: CacheRules, where mayUse: (HTTPResponse) -> Bool
  ) -> CacheResponse? {
    let features = RequestFeatures(request.headerFields)
    guard Reuse.methodMiss(request, features: features) == nil,
      let (variant, selected) = selected(among: variants, for: request, rules: rules),
      mayUse(selected.head)
    else { return nil }
    let now = configuration.clock.now
    let response: StoredResponse
    if rules.isPlain, selected.facts.overrides == 0 {
      response = selected
    } else {
      guard let seen = selected.seen(by: rules) else { return nil }
      response = seen
    }
    let outcome: CacheOutcome
    let age: Duration
    switch Reuse.decide(
      stored: response, request: request,
      directives: rules.isPlain
        ? RequestDirectives(request.headerFields, features: features)
        : RequestDirectives(of: request, features: features, rules: rules),
      policy: .standard, rules: rules, now: now)
    {
    case .fresh(let current, let lifetime):
      age = current
      outcome = .hit(age: age, lifetime: lifetime, allowance: nil)
    case .stale(let allowance, let current, let lifetime) where allowance != .whileRevalidate:
      age = current
      outcome = .hit(age: age, lifetime: lifetime, allowance: allowance)
    case .stale, .validate, .miss, .unsatisfiable: return nil
    }
    return answer(
      response, head: variant.record.head(age: age.wholeSeconds), outcome: outcome, variant,
      to: AskedRequest(request: request, features: features, key: key, target: target, now: now)
    )?.sharingHead(of: variant.record, for: request)
  }

  /// The variants in memory for a key; nil if the disk tier may have more of them.
  private func peeked(_ key: CacheKey, rules: CacheRules) -> [StoredVariant]? {
    guard let stored = found(inMemory: key, rules: rules), !failedChanges.concern(stored) else { return nil }
    return stored
  }

  private func found(inMemory key: CacheKey, rules: CacheRules) -> [StoredVariant]? {
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
