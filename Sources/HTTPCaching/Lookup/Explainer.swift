import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Explains what would happen to a request now, without sending it.
struct Explainer {
  let engine: Engine

  private var lookup: Lookup { engine.lookup }

  /// As `HTTPCache.explain(_:content:policy:options:)`.
  func explain(
    _ request: HTTPRequest, content: BodyBytes, policy: CachePolicy, options: RequestOptions
  ) throws(CacheError) -> CacheExplanation {
    let content =
      request.method == .query ? QueryContent(content, of: request, rules: engine.configuration.rules) : nil
    var exchange = try lookup.exchange(for: request, content: content, policy: policy, options: options)
    let present = try lookup.stored(for: exchange.key, rules: exchange.rules)
    let mayUseEntries = lookup.mayUseEntries
    let all = mayUseEntries ? present : []
    let stored = all.filter { $0.record.response.isIn(options.bodyForms) }
    let seen = stored.map { $0.record.response.seen(by: exchange.rules) }
    let variants = zip(stored, seen).compactMap { $0.1 == nil ? nil : $0.0 }
    let now = engine.clock.now
    let forward = forwarded(&exchange, variants, now: now)
    let candidates = zip(variants, seen.compactMap(\.self)).map { variant, response in
      CacheExplanation.Candidate(response, part: variant.record.part, length: variant.record.bodyLength)
    }
    var explanation = CacheExplanation.reuse(
      request, among: candidates,
      in: CacheExplanation.Circumstances(
        policy: exchange.policy, rules: exchange.rules, now: now, digest: lookup.digest),
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
    if !mayUseEntries {
      explanation.steps.insert(
        CacheExplanation.Step(
          "May stored responses be used?",
          "no, \(present.count) are left out: this program stood still, and reads first what has changed since then",
          section: "", topic: .stored), at: 0)
    }
    if let seed = seedStep(variants) { explanation.insert(seed, before: .variant) }
    if let other = variants.first(where: { $0.record.key != exchange.key })?.record.key {
      explanation.steps.insert(otherKey(other, exchange), at: 0)
    }
    if Self.isUnstored(explanation.decision), mayUseEntries || present.isEmpty {
      explanation.refusals = try engine.shelf.store.refusals(of: exchange.key).map {
        CacheExplanation.Refusal(time: $0.time, status: $0.status, steps: $0.explanation.steps)
      }
    }
    if let fleet = engine.fleet, forward != nil {
      addFleet(fleet, to: &explanation, of: exchange)
    }
    if let reason = engine.offlineReason {
      addOffline(reason, to: &explanation, of: exchange, isForwarded: forward != nil, now: now)
    }
    return explanation
  }

  /// The step that tells of a seed among the stored responses; nil if there is none.
  private func seedStep(_ variants: [StoredVariant]) -> CacheExplanation.Step? {
    guard let seed = variants.first(where: { $0.record.isSeed })?.record else { return nil }
    return CacheExplanation.Step(
      "Does a stored response ship with the program?",
      "yes: from a seed, received or last confirmed \(seed.response.responseTime.httpDate)", section: "",
      topic: .stored)
  }

  /// Adds the step that tells whether the tier of the fleet would be asked before the origin.
  private func addFleet(_ fleet: Fleet, to explanation: inout CacheExplanation, of exchange: Exchange) {
    let end = explanation.steps.lastIndex { $0.topic == .request }.map { $0 + 1 } ?? 0
    let obstacle =
      engine.offlineReason == nil
      ? fleet.obstacle(exchange, isBackground: false)
        ?? (fleet.breaker.isOpen(uptime: fleet.clock.uptime) ? "the tier did not answer" : nil)
      : "offline"
    explanation.steps.insert(
      CacheExplanation.Step(
        "Is the fleet asked before the origin?", "\(obstacle.map { "no: \($0)" } ?? "yes"); \(fleet.status)",
        section: "", topic: .request), at: end)
  }

  /// Adds the steps that differ while no origin can be asked.
  private func addOffline(
    _ reason: OfflineReason, to explanation: inout CacheExplanation, of exchange: Exchange,
    isForwarded: Bool, now: Timestamp
  ) {
    let end = explanation.steps.lastIndex { $0.topic == .request }.map { $0 + 1 } ?? 0
    explanation.steps.insert(
      CacheExplanation.Step(
        "Is there a way to the origin?", "no: \(reason), so it counts as unreachable",
        section: "RFC 9111 §4.2.4", topic: .request), at: end)
    guard isForwarded else { return }
    let stale = exchange.failed(UpstreamError(.unreachable, reason.description), now: now)
    explanation.steps.append(
      CacheExplanation.Step(
        "And what is done without the origin?", stale?.outcome.description ?? "it fails: \(reason)",
        section: "RFC 9111 §4.2.4", topic: .decision))
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
    if case .forward(let forward) = lookup.look(among: variants, for: &exchange, now: now) {
      return forward
    }
    return nil
  }
}
