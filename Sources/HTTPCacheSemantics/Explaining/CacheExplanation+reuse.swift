public import HTTPTypes

extension CacheExplanation {
  /// Explains the decision for a request and the stored responses for it (RFC 9111 §4).
  ///
  /// The questions are in the order in which the cache decides them: may the store answer, is a response
  /// stored, must it be validated, is it stale, and has it changed.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - variants: the stored responses for its key, most recent first.
  ///   - parts: the stored part of each response, nil for all; empty if all are complete.
  ///   - lengths: the lengths of the complete bodies in bytes, where known.
  ///   - forwarded: the request that the origin would get; nil for the one that validates the selected
  ///     response.
  ///   - completing: the index of the incomplete response that `forwarded` completes, if any.
  ///   - policy: how the caller uses the cache.
  ///   - rules: the choices of the cache.
  ///   - now: the time.
  ///   - digest: makes the digest of a secret value.
  ///   - obstacle: why the content of a QUERY is not part of its key; nil if it is, or there is none.
  public static func reuse(
    request: HTTPRequest, variants: [StoredResponse], parts: [StoredPart?] = [],
    lengths: [Int64?] = [], forwarded: HTTPRequest? = nil, completing: Int? = nil,
    policy: CachePolicy, rules: CacheRules, now: Timestamp, digest: SecretDigest,
    obstacle: ContentObstacle? = nil
  ) -> CacheExplanation {
    var explanation = CacheExplanation()
    let rules = rules.resolved(for: request)
    let directives = RequestDirectives(of: request, rules: rules)
    explanation.addRequest(request, policy: policy, rules: rules)
    // Nothing is looked up then, whatever else the request says.
    if policy == .bypass {
      explanation.addForward(forwarded ?? request, for: request)
      explanation.conclude(.miss(.policy(policy)))
      return explanation
    }
    let obstacle = obstacle.map(MissReason.content) ?? Reuse.methodMiss(request)
    explanation.addMethod(request, obstacle)
    explanation.addDirectives(directives, of: request.method, policy: policy)
    explanation.addOverrides(request, rules: rules)
    let missReason: MissReason
    if let obstacle {
      missReason = obstacle
    } else {
      explanation.addStored(variants, parts)
      let suitable = variants.indices.filter { index in
        guard let part = parts.element(index) else { return true }
        return RangeRequest.ranges(for: request, stored: variants[index], part: part) != nil
      }
      let selection = Vary.select(
        among: suitable.map { variants[$0] }, for: request, rules: rules, digest: digest)
      let selected = if case .selected(let position) = selection { suitable[position] } else { nil as Int? }
      let matching = explanation.addVariants(
        variants, parts, suitable: suitable, request: request, rules: rules, digest: digest)
      if let selected {
        if matching > 1 { explanation.addChoice(of: selected, among: variants, suitable) }
        explanation.addSelected(
          variants[selected], part: parts.element(selected), length: lengths.element(selected),
          ReuseQuestion(
            request: request, directives: directives, forwarded: forwarded, completing: completing,
            policy: policy, rules: rules, now: now))
        return explanation
      }
      missReason =
        if case .mismatch(let names) = selection {
          .variantMismatch(names)
        } else {
          parts.isEmpty ? .absent : .partial
        }
    }
    var decision = Reuse.whenMissing(missReason, directives: directives, policy: policy)
    if case .miss = decision {
      explanation.addForward(
        forwarded ?? Validation.request(request, validating: [], policy: policy), for: request,
        completing: completing)
      if completing != nil { decision = .miss(.partial) }
    }
    explanation.conclude(decision)
    return explanation
  }

  private mutating func addSelected(
    _ stored: StoredResponse, part: StoredPart?, length: Int64?, _ question: ReuseQuestion
  ) {
    let (request, directives, policy) = (question.request, question.directives, question.policy)
    let (rules, now) = (question.rules, question.now)
    let (forwarded, completing) = (question.forwarded, question.completing)
    let decision = Reuse.decide(
      stored: stored, request: request, directives: directives, policy: policy, rules: rules,
      now: now)
    addUsability(stored, request: request, policy: policy, rules: rules)
    switch decision {
    case .miss, .unsatisfiable(.miss): break
    case .fresh, .stale, .validate, .unsatisfiable(.validation):
      addEffects(on: stored.head, to: request, rules: rules, now: stored.responseTime)
      addFreshness(stored, directives: directives, rules: rules, now: now)
      addWish(
        decision, stored: stored, directives: directives, policy: policy, rules: rules, now: now)
    }
    switch decision {
    case .validate where completing == nil:
      let validating = Validation.hasValidator(stored) ? [stored] : []
      addForward(
        forwarded
          ?? Validation.request(
            request, validating: validating, keepsRange: part != nil, policy: policy), for: request)
      addFailures(
        stored, request: request, policy: policy, rules: rules, now: now)
      addAnswer(stored, part, request: request, length: length, now: now, isValidated: true)
    case .fresh, .stale:
      addAnswer(stored, part, request: request, length: length, now: now, isValidated: false)
    case .miss, .validate:
      addForward(
        forwarded ?? Validation.request(request, validating: [], policy: policy), for: request,
        completing: completing)
    case .unsatisfiable: break
    }
    if completing != nil {
      switch decision {
      case .miss, .validate: conclude(.miss(.partial))
      case .fresh, .stale, .unsatisfiable: conclude(decision)
      }
    } else {
      conclude(decision)
    }
  }

  private mutating func conclude(_ decision: ReuseDecision) {
    self.decision = decision
    switch decision {
    case .fresh(let age, let lifetime):
      add(
        .decision, "What is done?", "reuse, fresh for \((lifetime - age).wholeSeconds) s",
        "RFC 9111 §4")
    case .stale(let reason, let age, let lifetime):
      add(
        .decision, "What is done?",
        "reuse, stale for \((age - lifetime).wholeSeconds) s: \(reason)", reason.section)
    case .validate(let reason):
      add(.decision, "What is done?", "validate: \(reason)", reason.section)
    case .miss(let reason): add(.decision, "What is done?", "forward: \(reason)", reason.section)
    case .unsatisfiable(let reason):
      add(.decision, "What is done?", "refuse: \(reason)", reason.section)
    }
  }
}

/// A request, and what decides whether a stored response answers it.
private struct ReuseQuestion {
  let request: HTTPRequest
  let directives: RequestDirectives
  /// As for `CacheExplanation.reuse`.
  let forwarded: HTTPRequest?
  /// As for `CacheExplanation.reuse`.
  let completing: Int?
  let policy: CachePolicy
  let rules: CacheRules
  let now: Timestamp
}

extension Array {
  /// The element at an index, nil beyond the end.
  func element<Wrapped>(_ index: Int) -> Wrapped? where Element == Wrapped? {
    indices.contains(index) ? self[index] : nil
  }
}
