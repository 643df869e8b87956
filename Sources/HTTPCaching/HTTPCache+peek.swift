import HTTPCacheSemantics
import HTTPCacheStore
public import HTTPTypes

extension HTTPCache {
  /// A fresh answer from memory, without suspending, or nil: then `respond` has to be asked.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path.
  ///   - options: partition and whether decoded bodies will do.
  public func peek(
    _ request: HTTPRequest, options: RequestOptions = RequestOptions()
  ) -> CacheResponse? {
    // The latest of several equivalent targets is for `respond` to find.
    if configuration.rules.obeysNoVarySearch { return nil }
    guard request.method == .get || request.method == .head,
      let key = CacheKey(
        request: request, mode: configuration.rules.mode, partition: options.partition),
      case .found(let stored) = store.peek(key)
    else { return nil }
    let features = RequestFeatures(request.headerFields)
    let variants = usable(stored, acceptsDecoded: options.acceptsDecoded)
    guard Reuse.methodMiss(request, features: features) == nil,
      let variant = selected(among: variants, for: request)
    else { return nil }
    let now = configuration.clock.now
    let response = variant.record.response
    let outcome: CacheOutcome
    let age: Int64
    switch Reuse.decide(
      stored: response, request: request,
      directives: RequestDirectives(request.headerFields, features: features), policy: .standard,
      rules: configuration.rules, now: now)
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
      response, head: variant.record.head(age: age), outcome: outcome, variant, to: request,
      features: features, key: key, now: now)
  }

  private func selected(among variants: [StoredVariant], for request: HTTPRequest) -> StoredVariant? {
    // One variant alone only has to match.
    if variants.count == 1 {
      let isMatch = Vary.matches(
        variants[0].record.response, request: request, rules: configuration.rules, digest: digest)
      return isMatch ? variants[0] : nil
    }
    guard
      case .selected(let index) = Vary.select(
        among: variants.map(\.record.response), for: request, rules: configuration.rules,
        digest: digest)
    else { return nil }
    return variants[index]
  }
}
