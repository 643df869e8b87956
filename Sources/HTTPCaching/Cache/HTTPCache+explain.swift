public import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPTypes

extension HTTPCache {
  /// Explains step by step what would happen to a request now, without sending it. If nothing usable is stored,
  /// the explanation includes why earlier responses were not stored.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path.
  ///   - content: the content of a QUERY, which is part of its key (RFC 10008 §2.7).
  ///   - policy: how to use the cache.
  ///   - options: partition and whether decoded bodies are accepted.
  /// - Throws: `CacheError` for a request without an absolute URI, or if the store cannot be read.
  public func explain(
    _ request: HTTPRequest, content: BodyBytes = BodyBytes(), policy: CachePolicy = .standard,
    options: RequestOptions = RequestOptions()
  ) throws(CacheError) -> CacheExplanation {
    let content = request.method == .query ? self.content(of: request, content) : nil
    var exchange = try exchange(
      for: request, hasBody: false, policy: policy, options, content: content)
    let all = try stored(for: exchange.key, rules: exchange.rules)
    let stored = all.filter { $0.record.response.isIn(options.bodyForms) }
    let seen = stored.map { $0.record.response.seen(by: exchange.rules) }
    let variants = zip(stored, seen).compactMap { $0.1 == nil ? nil : $0.0 }
    let now = configuration.clock.now
    let forward = forwarded(&exchange, variants, now: now)
    let candidates = zip(variants, seen.compactMap(\.self)).map { variant, response in
      CacheExplanation.Candidate(response, part: variant.record.part, length: variant.record.bodyLength)
    }
    var explanation = CacheExplanation.reuse(
      request, among: candidates,
      in: CacheExplanation.Circumstances(
        policy: exchange.policy, rules: exchange.rules, now: now, digest: digest),
      forward: forward.map { CacheExplanation.Forward($0.request, completing: $0.completion?.index) },
      obstacle: content?.obstacle)
    if all.count > stored.count {
      explanation.steps.insert(
        CacheExplanation.Step(
          "Is there something that this request cannot take?",
          "yes: \(all.count - stored.count), \(options.bodyForms.includesDecoded ? "in a content coding" : "decoded before it was stored")",
          section: "", topic: .stored), at: 0)
    }
    if stored.count > variants.count {
      explanation.insert(
        CacheExplanation.Step(
          "Is there what the overrides forbid to use?", "yes: \(stored.count - variants.count)",
          section: "", topic: .stored), before: .variant)
    }
    if let seed = seedStep(variants) { explanation.insert(seed, before: .variant) }
    if let other = variants.first(where: { $0.record.key != exchange.key })?.record.key {
      explanation.steps.insert(otherKey(other, exchange), at: 0)
    }
    if Self.isUnstored(explanation.decision) {
      explanation.refusals = try store.refusals(of: exchange.key).map {
        CacheExplanation.Refusal(time: $0.time, status: $0.status, steps: $0.explanation.steps)
      }
    }
    if let reason = offlineReason {
      addOffline(reason, to: &explanation, exchange, isForwarded: forward != nil, now: now)
    }
    return explanation
  }
}

extension HTTPCache {
  /// Adds the steps that differ while no origin can be asked.
  private func addOffline(
    _ reason: OfflineReason, to explanation: inout CacheExplanation, _ exchange: Exchange,
    isForwarded: Bool, now: Timestamp
  ) {
    let end = explanation.steps.lastIndex { $0.topic == .request }.map { $0 + 1 } ?? 0
    explanation.steps.insert(
      CacheExplanation.Step(
        "Is there a way to the origin?", "no: \(reason), so it counts as unreachable",
        section: "RFC 9111 §4.2.4", topic: .request), at: end)
    guard isForwarded else { return }
    let answer: String
    switch exchange.failed(UpstreamError(.unreachable, reason.description), now: now) {
    case .answerStale(let found): answer = found.outcome.description
    case .fail: answer = "it fails: \(reason)"
    }
    explanation.steps.append(
      CacheExplanation.Step(
        "And what is done without the origin?", answer, section: "RFC 9111 §4.2.4",
        topic: .decision))
  }

  /// Whether a decision is a miss for lack of a stored response, which an earlier refusal may explain.
  private static func isUnstored(_ decision: ReuseDecision?) -> Bool {
    switch decision {
    case .miss(let reason), .unsatisfiable(.miss(let reason)):
      switch reason {
      case .absent, .variantMismatch, .partial: true
      case .method, .policy, .precondition, .content, .storeFailed: false
      }
    case .fresh, .stale, .validate, .unsatisfiable(.validation), nil: false
    }
  }

  private func otherKey(_ other: CacheKey, _ exchange: Exchange) -> CacheExplanation.Step {
    guard exchange.rules.alias == nil else {
      return CacheExplanation.Step(
        "Does it share a cache item?", "yes: stored as \(other.target)", section: "", topic: .request)
    }
    return CacheExplanation.Step(
      "Does all of its query count?", "no: stored as \(other.target)",
      section: "draft-ietf-httpbis-no-vary-search §7", topic: .request)
  }

  /// The request that would be sent to the origin; nil if the origin would not be asked.
  private func forwarded(
    _ exchange: inout Exchange, _ variants: [StoredVariant], now: Timestamp
  ) -> Exchange.Forward? {
    switch exchange.start() {
    case .forward(let forward): return forward
    case .refuse: return nil
    case .lookUp: break
    }
    if case .forward(let forward) = look(among: variants, for: &exchange, now: now) {
      return forward
    }
    return nil
  }
}
