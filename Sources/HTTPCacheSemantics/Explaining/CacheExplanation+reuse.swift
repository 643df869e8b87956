public import HTTPTypes

extension CacheExplanation {
  /// Explains the decision for a request and the stored responses for it (RFC 9111 §4).
  ///
  /// The questions are in the order in which the cache decides them: may the store answer, is a response
  /// stored, must it be validated, is it stale, and has it changed.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - candidates: the stored responses for its key, most recent first.
  ///   - circumstances: how the cache is used, its choices and the time.
  ///   - forward: the request that the origin would get; nil for the one that validates the selected response.
  ///   - obstacle: why the content of a QUERY is not part of its key; nil if it is, or there is none.
  public static func reuse(
    _ request: HTTPRequest, among candidates: [Candidate], in circumstances: Circumstances,
    forward: Forward? = nil, obstacle: ContentObstacle? = nil
  ) -> CacheExplanation {
    var circumstances = circumstances
    circumstances.rules = circumstances.rules.resolved(for: request)
    let (policy, rules) = (circumstances.policy, circumstances.rules)
    var explanation = CacheExplanation()
    let directives = RequestDirectives(of: request, rules: rules)
    explanation.addRequest(request, policy: policy, rules: rules)
    // Nothing is looked up then, whatever else the request says.
    if policy == .bypass {
      explanation.addForward(forward?.request ?? request, for: request)
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
      explanation.addStored(candidates)
      let suitable = candidates.indices.filter { index in
        guard let part = candidates[index].part else { return true }
        return RangeRequest.ranges(for: request, stored: candidates[index].response, part: part) != nil
      }
      let selection = Vary.select(
        among: suitable.map { candidates[$0].response }, for: request, rules: rules,
        digest: circumstances.digest)
      let matching = explanation.addVariants(
        candidates, suitable: suitable, request: request, rules: rules, digest: circumstances.digest)
      switch selection {
      case .selected(let position):
        let selected = suitable[position]
        if matching > 1 { explanation.addChoice(of: selected, among: candidates, suitable) }
        explanation.addSelected(
          candidates[selected], for: request, directives: directives, forward: forward,
          circumstances: circumstances)
        return explanation
      case .mismatch(let names): missReason = .variantMismatch(names)
      case .nothingStored: missReason = candidates.isEmpty ? .absent : .partial
      }
    }
    var decision = Reuse.whenMissing(missReason, directives: directives, policy: policy)
    if case .miss = decision {
      explanation.addForward(
        forward?.request ?? Validation.request(request, validating: [], policy: policy), for: request,
        completing: forward?.completing)
      if forward?.completing != nil { decision = .miss(.partial) }
    }
    explanation.conclude(decision)
    return explanation
  }

  private mutating func addSelected(
    _ selected: Candidate, for request: HTTPRequest, directives: RequestDirectives, forward: Forward?,
    circumstances: Circumstances
  ) {
    let (stored, part, length) = (selected.response, selected.part, selected.length)
    let (policy, rules, now) = (circumstances.policy, circumstances.rules, circumstances.now)
    let (forwarded, completing) = (forward?.request, forward?.completing)
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
        "What is done?", "reuse, fresh for \((lifetime - age).wholeSeconds) s", section: "RFC 9111 §4",
        topic: .decision)
    case .stale(let reason, let age, let lifetime):
      add(
        "What is done?", "reuse, stale for \((age - lifetime).wholeSeconds) s: \(reason)",
        section: reason.section, topic: .decision)
    case .validate(let reason):
      add("What is done?", "validate: \(reason)", section: reason.section, topic: .decision)
    case .miss(let reason):
      add("What is done?", "forward: \(reason)", section: reason.section, topic: .decision)
    case .unsatisfiable(let reason):
      add("What is done?", "refuse: \(reason)", section: reason.section, topic: .decision)
    }
  }
}
