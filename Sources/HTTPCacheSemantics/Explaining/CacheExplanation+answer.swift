import HTTPTypes

extension CacheExplanation {
  /// Adds whether the request demands a fresh response or allows a stale one, with the compared values.
  mutating func addWish(
    _ decision: ReuseDecision, stored: StoredResponse, directives: RequestDirectives,
    policy: CachePolicy, rules: CacheRules, now: Timestamp
  ) {
    let facts = stored.facts
    let age = Age.current(stored, now: now)
    let remaining = facts.freshnessLifetime.saturatingSubtract(age)
    var compared: [String] = []
    if policy != .standard { compared.append("policy \(policy.name)") }
    if let maxAge = directives.maxAge { compared.append("max-age=\(maxAge) at age \(age) s") }
    if let minFresh = directives.minFresh {
      compared.append("min-fresh=\(minFresh) with \(max(0, remaining)) s left")
    }
    switch decision {
    case .fresh:
      if facts.directives.contains(.immutable) { compared.append("immutable") }
      addComparison("Does the request want it as it is?", "yes", of: compared, section: "RFC 9111 §5.2.1")
    case .validate(let reason), .unsatisfiable(.validation(let reason)):
      switch reason {
      case .requestMaxAge, .requestMinFresh, .policy:
        addComparison("Does the request want it as it is?", "no", of: compared, section: reason.section)
      case .guessWithCredentials:
        addComparison(
          "May a guessed lifetime answer it?", "no", of: ["Cookie or Authorization"], section: reason.section)
      case .stale:
        compared += Self.comparedStaleness(-remaining, facts: facts, directives: directives, rules: rules)
        addComparison("May it be used stale?", "no", of: compared, section: "RFC 9111 §4.2.4")
      case .responseNoCache, .requestNoCache, .pragmaNoCache, .variantMismatch, .invalidated: break
      }
    case .stale(let allowance, _, _):
      compared += Self.comparedStaleness(-remaining, facts: facts, directives: directives, rules: rules)
      addComparison("May it be used stale?", "yes", of: compared, section: allowance.section)
    case .miss, .unsatisfiable(.miss): break
    }
  }

  private static func comparedStaleness(
    _ staleness: Int64, facts: ReuseFacts, directives: RequestDirectives, rules: CacheRules
  ) -> [String] {
    var compared = ["stale for \(staleness) s"]
    compared += forbiddingStale(facts.directives, mode: rules.mode)
    if directives.maxStale == greatestDeltaSeconds {
      compared.append("max-stale")
    } else if let maxStale = directives.maxStale {
      compared.append("max-stale=\(maxStale)")
    }
    return compared
      + ReuseWindow.allCases.filter { !$0.isAfterFailure }.compactMap { window in
        facts.windows.text(window).map { $0 + (window.isObeyed(by: rules) ? "" : " (switched off)") }
      }
  }

  private mutating func addComparison(
    _ question: String, _ answer: String, of compared: [String], section: String
  ) {
    let values = compared.isEmpty ? "" : ": " + compared.joined(separator: ", ")
    add(question, answer + values, section: section, topic: .decision)
  }

  /// Adds the request that goes to the origin (§4.3.1, §3.4).
  mutating func addForward(
    _ sent: HTTPRequest, for request: HTTPRequest, completing: Int? = nil
  ) {
    let names: [HTTPField.Name] = [
      .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange, .range,
    ]
    let conditions = Excerpt.fields(names, of: sent.headerFields)
    var with = conditions.map { ["\(sent.method) with \($0)"] } ?? ["\(sent.method)"]
    if let directives = Excerpt.fields([.cacheControl], of: sent.headerFields) {
      with.append(directives)
    }
    let own = Excerpt.fields(names, of: request.headerFields)
    if let completing {
      add(
        "What is missing? The origin is asked:",
        Excerpt.list(with, orElse: "") + ", to complete number \(completing + 1)",
        section: "RFC 9111 §3.4", topic: .decision)
    } else if conditions != own {
      add(
        "Has it changed? The origin is asked:", Excerpt.list(with, orElse: ""), section: "RFC 9111 §4.3.1",
        topic: .decision)
    } else {
      add(
        "What is the origin asked?",
        Excerpt.list(with, orElse: "") + (own == nil ? "" : ", as the request has it"),
        section: "RFC 9111 §4",
        topic: .decision)
    }
    guard conditions != own, let own else { return }
    add(
      "What becomes of its own condition or range?", "kept for the answer: \(own)",
      section: "RFC 9111 §4.3.2",
      topic: .decision)
  }

  /// Adds whether the response may be used if the origin fails (§4.2.4, RFC 5861 §4).
  mutating func addFailures(
    _ stored: StoredResponse, request: HTTPRequest, policy: CachePolicy, rules: CacheRules, now: Timestamp
  ) {
    var failures: [(FailureKind, String)] = [
      (.unreachable, "And if the origin cannot be reached?"),
      (.status(503), "And if it answers 503?"),
    ]
    if case .networkElseCache(_, let onStatus) = policy {
      let others = onStatus.subtracting([503]).sorted().prefix(8)
      failures += others.map { (.status($0), "And if it answers \($0)?") }
    }
    for (failure, question) in failures {
      let fallback = Reuse.afterFailure(
        stored: stored, request: request, policy: policy, rules: rules,
        now: now, failure: failure)
      switch fallback {
      case .useStale(let allowance):
        add(question, "reuse: \(allowance)", section: allowance.section, topic: .decision)
      case .fail(let refusal):
        add(question, "the failure is passed on: \(refusal)", section: refusal.section, topic: .decision)
      }
    }
  }

  /// Adds the effect of the request's own conditions and range (§4.3.2).
  mutating func addAnswer(
    _ stored: StoredResponse, _ part: StoredPart?, request: HTTPRequest, length: Int64?,
    now: Timestamp, isValidated: Bool
  ) {
    let confirmed = isValidated ? "if confirmed, " : ""
    let fields = stored.head.headerFields
    if let conditions = Excerpt.fields([.ifNoneMatch, .ifModifiedSince], of: request.headerFields) {
      let compared =
        Excerpt.fields([.eTag, .lastModified], of: fields) ?? "no validator in what is stored"
      let isNotModified =
        if case .notModified = Preconditions.evaluate(request, stored: stored, now: now) {
          true
        } else {
          false
        }
      add(
        "What does its own condition make of it?",
        confirmed + (isNotModified ? "304" : "nothing: it is sent")
          + ", comparing \(conditions) with \(compared)",
        section: "RFC 9111 §4.3.2", topic: .decision)
      if isNotModified { return }
    }
    guard request.method == .get,
      let ranges = Excerpt.fields([.range, .ifRange], of: request.headerFields),
      request.headerFields.contains(.range)
    else { return }
    let answer: String
    if let part {
      let octets = RangeRequest.ranges(for: request, stored: stored, part: part) ?? []
      answer = Self.text(octets, length: part.length)
    } else if let length {
      answer =
        switch RangeRequest.evaluate(request, stored: stored, length: length) {
        case .whole: "nothing: all \(length) octets are sent"
        case .unsatisfiable: "416: nothing of it lies within \(length) octets"
        case .partial(let octets): Self.text(octets, length: length)
        }
    } else {
      answer = "the length is not known yet"
    }
    add(
      "What does its range make of it?", "\(confirmed)\(answer), from \(ranges)", section: "RFC 9110 §14.2",
      topic: .decision)
  }

  private static func text(_ ranges: [Range<Int64>], length: Int64?) -> String {
    let octets = ranges.map { "\($0.lowerBound)-\($0.upperBound.saturatingSubtract(1))" }
    return "206 with \(octets.joined(separator: ", ")) of \(length.map { "\($0)" } ?? "*") octets"
  }
}
