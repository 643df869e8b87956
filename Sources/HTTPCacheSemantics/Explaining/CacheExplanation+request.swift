import HTTPTypes

extension CacheExplanation {
  mutating func addRequest(_ request: HTTPRequest, policy: CachePolicy, rules: CacheRules) {
    let target = CacheKey.target(of: request) ?? "no valid target"
    add(
      "What is asked for?", "\(request.method) \(Excerpt.text(target))", section: "RFC 9111 §2",
      topic: .request)
    add("Which cache is asked?", "a \(rules.mode) one", section: "RFC 9111 §1", topic: .request)
    if policy != .standard {
      add("How is it to be used?", "policy \(policy.name)", section: "", topic: .request)
    }
  }

  /// Adds the checks of `Reuse.methodMiss`.
  mutating func addMethod(_ request: HTTPRequest, _ obstacle: MissReason?) {
    let question = "Can the store answer it?"
    switch obstacle {
    case nil: add(question, "yes: \(request.method)", section: "RFC 9111 §4", topic: .request)
    case .precondition(let name):
      let line = Excerpt.fields([name], of: request.headerFields) ?? name.rawName
      add(question, "no: only the origin can evaluate \(line)", section: "RFC 9111 §4.3.2", topic: .request)
    case let reason?: add(question, "no: \(reason)", section: reason.section, topic: .request)
    }
  }

  mutating func addDirectives(
    _ directives: RequestDirectives, of method: HTTPRequest.Method, policy: CachePolicy
  ) {
    add(
      "Which directives does it have?", Excerpt.list(directives.texts, orElse: "none"),
      section: directives.pragmaNoCache ? "RFC 9111 §5.4" : "RFC 9111 §5.2.1",
      topic: .request)
    var forbidding: [String] = []
    let isWrittenThrough = directives.onlyIfCached && !method.isSafe
    if directives.onlyIfCached, !isWrittenThrough { forbidding.append("only-if-cached") }
    if case .cacheOnly = policy { forbidding.append("policy \(policy.name)") }
    let isForbidden = !forbidding.isEmpty
    add(
      "May the origin be asked?",
      isForbidden
        ? "no: \(forbidding.joined(separator: ", "))"
        : isWrittenThrough ? "yes: \(method) is unsafe, so it is written through" : "yes",
      section: isWrittenThrough && !isForbidden ? "RFC 9111 §4" : "RFC 9111 §5.2.1.7",
      topic: .request)
  }

  /// The maximum number of stored responses that are described.
  private static let variantLimit = 32

  mutating func addStored(_ candidates: [Candidate]) {
    let answer =
      switch candidates.count {
      case 0: "no"
      case 1: "yes: one"
      default: "yes: \(candidates.count)"
      }
    add("Is a response stored for it?", answer, section: "RFC 9111 §4", topic: .stored)
    for (index, candidate) in candidates.prefix(Self.variantLimit).enumerated() {
      let stored = candidate.response
      var facts = [
        "status \(stored.head.status.code) to \(stored.requestMethod)",
        "received \(stored.responseTime.httpDate)",
      ]
      if stored.isInvalidated { facts.append("invalidated since") }
      if let part = candidate.part { facts.append(Self.text(part)) }
      if stored.isDecoded { facts.append("stored without its content coding") }
      if let line = Excerpt.fields([.eTag], of: stored.head.headerFields) { facts.append(line) }
      add(
        candidates.count == 1 ? "What is it?" : "What is number \(index + 1)?", facts.joined(separator: ", "),
        section: "RFC 9111 §3", topic: .stored)
    }
  }

  private static func text(_ part: StoredPart) -> String {
    let ranges = part.ranges.prefix(8).map {
      "\($0.lowerBound)-\($0.upperBound.saturatingSubtract(1))"
    }
    let length = part.length.map { " of \($0)" } ?? ""
    return "only octets \(Excerpt.list(ranges, orElse: "none"))\(length)"
      + (part.ranges.count > 8 ? " and more" : "")
  }

  /// Adds the comparisons of `RangeRequest.ranges` and `Vary.select`.
  ///
  /// - Returns: the number of variants that match.
  mutating func addVariants(
    _ candidates: [Candidate], suitable: [Int], request: HTTPRequest, rules: CacheRules,
    digest: SecretDigest
  ) -> Int {
    var matching = 0
    for (index, candidate) in candidates.prefix(Self.variantLimit).enumerated() {
      let name = candidates.count == 1 ? "it" : "number \(index + 1)"
      if !suitable.contains(index), let part = candidate.part {
        add(
          "Is \(name) for this request?", "no: \(Self.text(part)), not all it asks for",
          section: "RFC 9111 §3.3",
          topic: .variant)
        continue
      }
      let (matches, text) = Self.comparison(
        of: candidate.response, with: request, rules: rules, digest: digest)
      if matches { matching += 1 }
      add(
        "Is \(name) for this request?", "\(matches ? "yes" : "no"): \(text)", section: "RFC 9111 §4.1",
        topic: .variant)
    }
    return matching
  }

  /// Adds why one of several matching variants is taken.
  mutating func addChoice(of selected: Int, among candidates: [Candidate], _ suitable: [Int]) {
    let variants = candidates.map(\.response)
    let others = suitable.filter { $0 != selected }
    let isByVary =
      !variants[selected].nominated.isEmpty && others.contains { variants[$0].nominated.isEmpty }
    add(
      "Which of them is taken?",
      "number \(selected + 1), of \(variants[selected].date.httpDate): "
        + (isByVary ? "the latest of those with Vary" : "the latest by Date"),
      section: isByVary ? "RFC 9111 §4.1" : "RFC 9111 §4",
      topic: .variant)
  }

  private static func comparison(
    of stored: StoredResponse, with request: HTTPRequest, rules: CacheRules, digest: SecretDigest
  ) -> (matches: Bool, text: String) {
    let nominated = Vary.nominated(of: stored, rules: rules)
    if nominated.isEmpty {
      let isIgnored = !stored.nominated.isEmpty
      return (true, isIgnored ? "its Vary is ignored" : "it has no Vary, so it is for any")
    }
    let differing = nominated.filter {
      !Vary.matches($0, fields: request.headerFields, rules: rules, digest: digest)
    }
    let shown = (differing.isEmpty ? nominated : differing).prefix(16).map { nominated in
      let kept = text(nominated.value)
      if differing.isEmpty { return "\(nominated.name.rawName) is \(kept) in both" }
      return
        "\(nominated.name.rawName) was \(kept), is \(text(of: nominated.name, in: request, rules: rules))"
    }
    return (differing.isEmpty, shown.joined(separator: ", "))
  }

  private static func text(_ value: NominatedField.Value) -> String {
    switch value {
    case .absent: "absent"
    case .text(let text): "'\(Excerpt.text(text))'"
    case .digest: "secret"
    }
  }

  private static func text(
    of name: HTTPField.Name, in request: HTTPRequest, rules: CacheRules
  ) -> String {
    guard request.headerFields.contains(name) else { return "absent" }
    if FieldHygiene.isCredential(name) { return "another secret" }
    return "'\(Excerpt.text(Vary.normalized(name, in: request.headerFields, rules: rules)))'"
  }

  /// Adds the reasons not to use the selected response that no validation can remove.
  mutating func addUsability(
    _ stored: StoredResponse, request: HTTPRequest, policy: CachePolicy, rules: CacheRules
  ) {
    switch policy {
    case .bypass, .reload, .reloadEverywhere:
      add("Does the policy allow its use?", "no: policy \(policy.name)", section: "", topic: .variant)
    case .standard: break
    case .revalidate, .cacheElseNetwork, .cacheOnly, .networkElseCache:
      add("Does the policy allow its use?", "yes: policy \(policy.name)", section: "", topic: .variant)
    }
    let isHeadOnly = stored.requestMethod == .head && request.method != .head
    add(
      "Does its method allow that?",
      isHeadOnly
        ? "no: it answered HEAD and has no body"
        : "yes: it answered \(stored.requestMethod), the request is \(request.method)",
      section: "RFC 9111 §4",
      topic: .variant)
    guard rules.mode == .shared else { return }
    let allowing = stored.facts.directives.sharing.texts
    let answer =
      !stored.answeredAuthorized
      ? "yes: its request had no Authorization"
      : allowing.isEmpty
        ? "no: its request had Authorization, and nothing allows sharing"
        : "yes: its request had Authorization, but \(allowing.joined(separator: ", ")) allows sharing"
    add("May it be shared?", answer, section: "RFC 9111 §3.5", topic: .variant)
  }
}
