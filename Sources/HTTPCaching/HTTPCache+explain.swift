public import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPTypes

extension HTTPCache {
  /// What would happen to a request now, step by step, without doing it. Where nothing usable is
  /// stored, it comes with the reasons why earlier responses were not stored.
  ///
  /// - Throws: `CacheError` for a request without an absolute URI, or if the store cannot be read.
  public func explain(
    _ request: HTTPRequest, policy: CachePolicy = .standard,
    options: RequestOptions = RequestOptions()
  ) throws(CacheError) -> CacheExplanation {
    var exchange = try exchange(for: request, hasBody: false, policy: policy, options)
    let stored = try store.read(exchange.key)
    let variants = options.acceptsDecoded ? stored : stored.filter { !$0.record.response.isDecoded }
    let now = configuration.clock.now
    let forward = exchange.forwarded(variants, now: now)
    var explanation = CacheExplanation.reuse(
      request: request, variants: variants.map(\.record.response), parts: variants.parts,
      lengths: variants.map(\.record.bodyLength), forwarded: forward?.request,
      completing: forward?.completion?.index, policy: policy, rules: configuration.rules, now: now,
      digest: digest)
    switch explanation.decision {
    case .miss(.absent), .miss(.variantMismatch), .miss(.partial), .unsatisfiable(.miss(.absent)),
      .unsatisfiable(.miss(.variantMismatch)), .unsatisfiable(.miss(.partial)):
      explanation.refusals = try store.refusals(of: exchange.key).map {
        CacheExplanation.Refusal(time: $0.time, status: $0.status, steps: $0.explanation.steps)
      }
    default: break
    }
    return explanation
  }
}

extension Exchange {
  /// What would be sent to the origin; nil if it would not be asked.
  fileprivate mutating func forwarded(_ variants: [StoredVariant], now: Timestamp) -> Forward? {
    switch start() {
    case .forward(let forward): return forward
    case .refuse: return nil
    case .lookUp: break
    }
    if case .forward(let forward) = found(
      variants.map(\.record.response), parts: variants.parts, now: now)
    {
      return forward
    }
    return nil
  }
}
