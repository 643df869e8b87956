public import HTTPTypes

extension CacheExplanation {
  /// Explains whether a response is stored (RFC 9111 §3): the requirements that `Storability` asks, up to the first
  /// one that is not met; the last step is the decision.
  ///
  /// - Parameters:
  ///   - request: the request as it was forwarded.
  ///   - response: the head as it arrived.
  ///   - rules: the choices of the cache.
  ///   - now: the time when it arrived.
  public static func storage(
    request: HTTPRequest, response: HTTPResponse, rules: CacheRules, now: Timestamp
  ) -> CacheExplanation {
    var explanation = CacheExplanation()
    let rules = rules.resolved(for: request)
    explanation.note("Which cache is it for?", "a \(rules.mode) one", section: "RFC 9111 §1", topic: .storing)
    explanation.noteOverrides(of: request, rules: rules)
    explanation.noteItem(of: response, to: request, rules: rules)
    let directives = ResponseDirectives(of: response, rules: rules, trace: &explanation)
    for index in explanation.steps.indices where explanation.steps[index].topic == .freshness {
      explanation.steps[index].topic = .storing
    }
    var refusal: StorageRefusal?
    do throws(StorageRefusal) {
      try Storability.check(
        request: request, response: response, directives: directives, rules: rules, now: now,
        trace: &explanation)
    } catch {
      refusal = error
    }
    if ClearSiteData.clearsCache(response, target: CacheKey.target(of: request) ?? "", rules: rules) {
      refusal = .clearsSite
    }
    explanation.conclude(refusal)
    return explanation
  }

  /// The explanation of a response that was not stored for a reason outside its head, or of which nothing
  /// else may be kept.
  public static func refusal(_ refusal: StorageRefusal) -> CacheExplanation {
    var explanation = CacheExplanation()
    explanation.conclude(refusal)
    return explanation
  }

  private mutating func conclude(_ refusal: StorageRefusal?) {
    steps.append(
      Step(
        "Is it stored?", refusal.map { "no: \($0)" } ?? "yes", section: refusal?.section ?? "RFC 9111 §3"))
  }

  /// Notes the overrides that match a request, and the key that they give it.
  ///
  /// - Parameter rules: the rules, resolved for the request.
  mutating func noteOverrides(of request: HTTPRequest, rules: CacheRules) {
    guard let applied = rules.applied else { return }
    note(
      "Which overrides match?",
      Excerpt.list(applied.matched.map(rules.nameOfOverride), orElse: "none of \(rules.overrides.count)"),
      section: "", topic: .overrides)
    for reading in applied.readings {
      note(
        "Which match as an origin may read the path?",
        Excerpt.list(reading.matched.map(rules.nameOfOverride), orElse: "none"), section: "",
        topic: .overrides)
    }
    if applied.keyFingerprint != 0, let target = CacheKey.target(of: request) {
      note("What is its key?", Excerpt.text(rules.keyTarget(of: target)), section: "", topic: .overrides)
    }
  }

  /// Notes the cache item that a response names.
  mutating func noteItem(of response: HTTPResponse, to request: HTTPRequest, rules: CacheRules) {
    guard let name = rules.alias, request.method == .get || request.method == .head,
      let target = CacheKey.target(of: request)
    else { return }
    let answer =
      switch CacheAlias.read(name, in: response.headerFields, target: target) {
      case .absent: "none: no \(name.rawName)"
      case .item(let item): Excerpt.text(item)
      case .refused(let refusal):
        "none: \(refusal), in \(Excerpt.fields([name], of: response.headerFields) ?? "")"
      }
    note("Which cache item does it name?", answer, section: "", topic: .overrides)
  }
}
