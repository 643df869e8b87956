public import HTTPTypes

extension CacheExplanation {
  /// Explains the decision for a request and the stored responses for it (RFC 9111 §4): what `Vary` and `Reuse` ask, up
  /// to the first requirement that is not met; the last step is the decision.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - candidates: the stored responses for its key, most recent first, without those whose body has a form that the
  ///     request cannot take and those that overrides forbid, which `HTTPCache.explain` tells.
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
    let directives = RequestDirectives(of: request, rules: rules)
    var explanation = CacheExplanation()
    explanation.noteRequest(request, directives: directives, policy: policy, rules: rules)
    // Nothing is looked up then, whatever else the request says.
    if policy == .bypass {
      explanation.noteForward(forward?.request ?? request, for: request)
      explanation.conclude(.miss(.policy(policy)))
      return explanation
    }
    explanation.noteOverrides(of: request, rules: rules)
    var selected: Candidate?
    var decision: ReuseDecision
    if let reason = explanation.failure(
      "Can the store answer it?", obstacle.map(MissReason.content) ?? Reuse.methodMiss(request),
      section: "RFC 9111 §4", topic: .request)
    {
      decision = Reuse.whenMissing(reason, directives: directives, policy: policy, trace: &explanation)
    } else {
      let suitable = explanation.noteStored(candidates, for: request)
      switch Vary.select(
        among: suitable.map(\.response), for: request, rules: rules, digest: circumstances.digest,
        trace: &explanation)
      {
      case .selected(let index):
        selected = suitable[index]
        decision = explanation.decide(
          suitable[index].response, for: request, directives: directives, in: circumstances)
      case .mismatch(let names):
        decision = Reuse.whenMissing(
          .variantMismatch(names), directives: directives, policy: policy, trace: &explanation)
      case .nothingStored:
        decision = Reuse.whenMissing(
          candidates.isEmpty ? .absent : .partial, directives: directives, policy: policy, trace: &explanation
        )
      }
    }
    if forward?.completing != nil {
      switch decision {
      case .miss, .validate: decision = .miss(.partial)
      case .fresh, .stale, .unsatisfiable: break
      }
    }
    explanation.noteConsequences(of: decision, for: request, using: selected, forward, circumstances)
    explanation.conclude(decision)
    return explanation
  }

  /// Decides about the selected response, and notes what it says where the decision looks at it.
  private mutating func decide(
    _ stored: StoredResponse, for request: HTTPRequest, directives: RequestDirectives,
    in circumstances: Circumstances
  ) -> ReuseDecision {
    let rules = circumstances.rules
    var told = CacheExplanation()
    let decision = told.decide(
      stored: stored, request: request, directives: directives, policy: circumstances.policy, rules: rules,
      now: circumstances.now)
    if let start = told.steps.firstIndex(where: { $0.topic == .freshness }) {
      var response = CacheExplanation()
      response.noteItem(of: stored.head, to: request, rules: rules)
      _ = ResponseDirectives(of: stored.head, rules: rules, trace: &response)
      let fields = stored.head.headerFields
      response.note(
        "Which dates does it have?",
        Excerpt.list(
          Excerpt.dates([.date, .expires, .lastModified], of: fields, relativeTo: stored.responseTime)
            + [Excerpt.fields([.age], of: fields)].compactMap { $0 }, orElse: "none"),
        section: "RFC 9111 §4.2.3", topic: .freshness)
      told.steps.insert(contentsOf: response.steps, at: start)
    }
    steps += told.steps
    return decision
  }

  private mutating func noteRequest(
    _ request: HTTPRequest, directives: RequestDirectives, policy: CachePolicy, rules: CacheRules
  ) {
    let target = CacheKey.target(of: request) ?? "no valid target"
    note(
      "What is asked for?", "\(request.method) \(Excerpt.text(target))", section: "RFC 9111 §2",
      topic: .request)
    note("Which cache is asked?", "a \(rules.mode) one", section: "RFC 9111 §1", topic: .request)
    if policy != .standard {
      note("How is it to be used?", "policy \(policy.name)", section: "", topic: .request)
    }
    note(
      "Which directives does it have?", Excerpt.list(directives.texts, orElse: "none"),
      section: directives.pragmaNoCache ? "RFC 9111 §5.4" : "RFC 9111 §5.2.1", topic: .request)
  }

  /// Notes the stored responses.
  ///
  /// - Returns: those of which enough is stored for the request.
  private mutating func noteStored(_ candidates: [Candidate], for request: HTTPRequest) -> [Candidate] {
    let answer =
      switch candidates.count {
      case 0: "no"
      case 1: "yes: one"
      default: "yes: \(candidates.count)"
      }
    note("Is a response stored for it?", answer, section: "RFC 9111 §4", topic: .stored)
    var suitable: [Candidate] = []
    for candidate in candidates {
      let stored = candidate.response
      if let part = candidate.part, RangeRequest.ranges(for: request, stored: stored, part: part) == nil {
        note(
          "Is there more?", "only \(part.text), not all it asks for", section: "RFC 9111 §3.3", topic: .stored
        )
        continue
      }
      suitable.append(candidate)
      var facts = [
        "status \(stored.head.status.code) to \(stored.requestMethod)",
        "received \(stored.responseTime.httpDate)",
      ]
      if stored.isInvalidated { facts.append("invalidated since") }
      if stored.isExpired { facts.append("purged softly since") }
      if let part = candidate.part { facts.append("only \(part.text)") }
      if stored.isDecoded { facts.append("stored without its content coding") }
      if let line = Excerpt.fields([.eTag], of: stored.head.headerFields) { facts.append(line) }
      note(
        candidates.count == 1 ? "What is it?" : "What is number \(suitable.count)?",
        facts.joined(separator: ", "), section: "RFC 9111 §3", topic: .stored)
    }
    return suitable
  }

  private mutating func conclude(_ decision: ReuseDecision) {
    self.decision = decision
    let (answer, section) =
      switch decision {
      case .fresh(let age, let lifetime):
        ("reuse, fresh for \((lifetime - age).wholeSeconds) s", "RFC 9111 §4")
      case .stale(let reason, let age, let lifetime):
        ("reuse, stale for \((age - lifetime).wholeSeconds) s: \(reason)", reason.section)
      case .validate(let reason): ("validate: \(reason)", reason.section)
      case .miss(let reason): ("forward: \(reason)", reason.section)
      case .unsatisfiable(let reason): ("refuse: \(reason)", reason.section)
      }
    steps.append(Step("What is done?", answer, section: section, topic: .decision))
  }
}

extension CacheExplanation {
  /// Notes what the origin is asked, what happens if it fails, and what becomes of the request's conditions and range.
  mutating func noteConsequences(
    of decision: ReuseDecision, for request: HTTPRequest, using selected: Candidate?, _ forward: Forward?,
    _ circumstances: Circumstances
  ) {
    let policy = circumstances.policy
    switch decision {
    case .unsatisfiable: break
    case .fresh, .stale:
      if let selected { noteAnswer(selected, request: request, now: circumstances.now, prefix: "") }
    case .miss:
      noteForward(
        forward?.request ?? Validation.request(request, validating: [], policy: policy), for: request,
        isCompleting: forward?.completing != nil)
    case .validate:
      guard let selected else { break }
      let stored = selected.response
      noteForward(
        forward?.request
          ?? Validation.request(
            request, validating: Validation.hasValidator(stored) ? [stored] : [],
            keepsRange: selected.part != nil, policy: policy), for: request)
      noteFailures(stored, request: request, circumstances)
      noteAnswer(selected, request: request, now: circumstances.now, prefix: "if confirmed, ")
    }
  }

  /// Notes the request that goes to the origin (§4.3.1, §3.4).
  mutating func noteForward(_ sent: HTTPRequest, for request: HTTPRequest, isCompleting: Bool = false) {
    let names: [HTTPField.Name] = [
      .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange, .range,
    ]
    let conditions = Excerpt.fields(names, of: sent.headerFields)
    let own = Excerpt.fields(names, of: request.headerFields)
    let with =
      "\(sent.method)" + (conditions.map { " with \($0)" } ?? "")
      + (Excerpt.fields([.cacheControl], of: sent.headerFields).map { ", \($0)" } ?? "")
    if isCompleting {
      note("What is missing? The origin is asked:", with, section: "RFC 9111 §3.4", topic: .decision)
    } else if conditions != own {
      note("Has it changed? The origin is asked:", with, section: "RFC 9111 §4.3.1", topic: .decision)
    } else {
      note("What is the origin asked?", with, section: "RFC 9111 §4", topic: .decision)
    }
    guard conditions != own, let own else { return }
    note(
      "What becomes of its own condition or range?", "kept for the answer: \(own)",
      section: "RFC 9111 §4.3.2", topic: .decision)
  }

  /// Notes whether the response may be used if the origin fails (§4.2.4, RFC 5861 §4).
  private mutating func noteFailures(
    _ stored: StoredResponse, request: HTTPRequest, _ circumstances: Circumstances
  ) {
    var failures: [(FailureKind, String)] = [
      (.unreachable, "And if the origin cannot be reached?"),
      (.status(503), "And if it answers 503?"),
    ]
    if case .networkElseCache(_, let onStatus) = circumstances.policy {
      let others = onStatus.subtracting([503]).sorted().prefix(8)
      failures += others.map { (.status($0), "And if it answers \($0)?") }
    }
    for (failure, question) in failures {
      switch Reuse.afterFailure(
        stored: stored, request: request, policy: circumstances.policy, rules: circumstances.rules,
        now: circumstances.now, failure: failure)
      {
      case .useStale(let allowance):
        note(question, "reuse: \(allowance)", section: allowance.section, topic: .decision)
      case .fail(let refusal):
        note(question, "the failure is passed on: \(refusal)", section: refusal.section, topic: .decision)
      }
    }
  }

  /// Notes the effect of the request's own conditions and range (§4.3.2).
  private mutating func noteAnswer(
    _ selected: Candidate, request: HTTPRequest, now: Timestamp, prefix: String
  ) {
    let (stored, part, length) = (selected.response, selected.part, selected.length)
    if let conditions = Excerpt.fields([.ifNoneMatch, .ifModifiedSince], of: request.headerFields) {
      let compared =
        Excerpt.fields([.eTag, .lastModified], of: stored.head.headerFields)
        ?? "no validator in what is stored"
      let isNotModified = Preconditions.evaluate(request, stored: stored, now: now) != nil
      note(
        "What does its own condition make of it?",
        prefix + (isNotModified ? "304" : "nothing: it is sent")
          + ", comparing \(conditions) with \(compared)", section: "RFC 9111 §4.3.2", topic: .decision)
      if isNotModified { return }
    }
    guard request.method == .get, request.headerFields.contains(.range),
      let ranges = Excerpt.fields([.range, .ifRange], of: request.headerFields)
    else { return }
    let decision =
      part.map { .partial(RangeRequest.ranges(for: request, stored: stored, part: $0) ?? []) }
      ?? RangeRequest.evaluate(request, stored: stored, length: length)
    let answer =
      switch decision {
      case .whole: "nothing: all of it is sent"
      case .unsatisfiable: "416: nothing of it lies within \(length ?? 0) octets"
      case .partial(let octets): "206 with \(StoredPart(ranges: octets, length: part?.length ?? length).text)"
      }
    note(
      "What does its range make of it?", "\(prefix)\(answer), from \(ranges)", section: "RFC 9110 §14.2",
      topic: .decision)
  }
}
