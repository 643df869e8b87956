public import HTTPTypes

extension CacheExplanation {
  /// Explains what is done with a request and what is stored for it (RFC 9111 §4).
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - variants: what is stored for its key, most recent first.
  ///   - policy: how the caller wants to use the cache.
  ///   - rules: the choices of the cache.
  ///   - now: the time.
  ///   - digest: makes the digest of a secret value.
  ///   - obstacle: why the content of a QUERY is not part of its key; nil if it is, or there is none.
  public static func reuse(
    request: HTTPRequest, variants: [StoredResponse], policy: CachePolicy, rules: CacheRules,
    now: Timestamp, digest: SecretDigest, obstacle: ContentObstacle? = nil
  ) -> CacheExplanation {
    var explanation = CacheExplanation()
    let directives = RequestDirectives(request.headerFields)
    if let reason = obstacle.map(MissReason.content) ?? Reuse.methodMiss(request) {
      explanation.add("Can the store answer it?", "no: \(reason)", reason.section)
      explanation.conclude(
        Reuse.whenMissing(reason, directives: directives, policy: policy))
      return explanation
    }
    explanation.add("Can the store answer it?", "yes: \(request.method)", "RFC 9111 §4")
    let selection = Vary.select(among: variants, for: request, rules: rules, digest: digest)
    guard let stored = explanation.addSelection(selection, among: variants) else {
      let reason: MissReason =
        if case .mismatch(let names) = selection { .variantMismatch(names) } else { .absent }
      explanation.conclude(Reuse.whenMissing(reason, directives: directives, policy: policy))
      return explanation
    }
    explanation.addFreshness(stored, now: now)
    explanation.conclude(
      Reuse.decide(
        stored: stored, request: request, directives: directives, policy: policy, rules: rules,
        now: now))
    return explanation
  }

  private mutating func addSelection(
    _ selection: VariantSelection, among variants: [StoredResponse]
  ) -> StoredResponse? {
    switch selection {
    case .selected(let index):
      let stored = variants[index]
      let names = stored.nominated.map(\.name.rawName).joined(separator: ", ")
      add(
        "Is a response stored for it?",
        names.isEmpty
          ? "yes: status \(stored.head.status.code), for any request"
          : "yes: status \(stored.head.status.code), its \(names) match", "RFC 9111 §4.1")
      return stored
    case .nothingStored:
      add("Is a response stored for it?", "no", "RFC 9111 §4")
      return nil
    case .mismatch(let names):
      let reason = MissReason.variantMismatch(names)
      add("Is a response stored for it?", "no: \(reason)", reason.section)
      return nil
    }
  }

  private mutating func addFreshness(_ stored: StoredResponse, now: Timestamp) {
    let facts = stored.facts
    add(
      "How long is it fresh?",
      "\(facts.freshnessLifetime) s, from \(Self.name(facts.lifetimeSource))",
      Self.section(facts.lifetimeSource))
    let age = Age.current(stored, now: now)
    add(
      "How old is it?",
      "\(age) s: \(facts.correctedInitialAge) s on arrival, "
        + "\(max(0, now - stored.responseTime)) s since", "RFC 9111 §4.2.3")
    add(
      "Is it fresh?",
      facts.freshnessLifetime > age
        ? "yes: \(facts.freshnessLifetime) > \(age)" : "no: \(facts.freshnessLifetime) <= \(age)",
      "RFC 9111 §4.2")
  }

  private mutating func conclude(_ decision: ReuseDecision) {
    self.decision = decision
    switch decision {
    case .fresh: add("What is done?", "reuse, fresh", "RFC 9111 §4")
    case .stale(let reason, _, _):
      add("What is done?", "reuse, stale: \(reason)", reason.section)
    case .validate(let reason): add("What is done?", "validate: \(reason)", reason.section)
    case .miss(let reason): add("What is done?", "forward: \(reason)", reason.section)
    case .unsatisfiable(let reason): add("What is done?", "refuse: \(reason)", reason.section)
    }
  }

  static func name(_ source: ReuseFacts.LifetimeSource) -> String {
    switch source {
    case .none: "nothing"
    case .sMaxAge: "s-maxage"
    case .maxAge: "max-age"
    case .expires: "Expires"
    case .heuristic: "the time since Last-Modified"
    case .targeted: "a targeted field"
    }
  }

  static func section(_ source: ReuseFacts.LifetimeSource) -> String {
    switch source {
    case .none: "RFC 9111 §4.2.1"
    case .sMaxAge: "RFC 9111 §5.2.2.10"
    case .maxAge: "RFC 9111 §5.2.2.1"
    case .expires: "RFC 9111 §5.3"
    case .heuristic: "RFC 9111 §4.2.2"
    case .targeted: "RFC 9213 §2.2"
    }
  }
}
