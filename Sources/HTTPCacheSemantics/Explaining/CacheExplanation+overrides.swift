import HTTPTypes

extension CacheExplanation {
  /// The maximum number of effects on a response that are listed.
  private static let effectLimit = 12

  /// Adds the overrides that match a request, and each effect on the request and its key.
  ///
  /// - Parameter rules: the rules, resolved for the request.
  mutating func addOverrides(_ request: HTTPRequest, rules: CacheRules) {
    guard let applied = rules.applied else { return }
    let names = applied.matched.map { Self.name(of: $0, rules) }
    add(
      "Which overrides match?", Excerpt.list(names, orElse: "none of \(rules.overrides.count)"),
      section: "", topic: .overrides)
    for reading in applied.readings {
      add(
        "Which match as an origin may read the path?",
        Excerpt.list(reading.matched.map { Self.name(of: $0, rules) }, orElse: "none"),
        section: "", topic: .overrides)
    }
    var key = KeyTarget(CacheKey.target(of: request) ?? "")
    for index in applied.matched {
      for effect in rules.overrides[index].effects where !effect.isOnResponse {
        let outcome: String
        if case .alias = effect {
          outcome = request.method == .query ? "not for QUERY" : "where a response has it"
        } else if effect.isOnKey {
          let before = key.target
          key.apply(effect)
          outcome = key.target == before ? "changes nothing" : Excerpt.text(key.target)
        } else {
          outcome = Self.ignored(in: request, rules)
        }
        add(Self.question(index, rules), "\(effect): \(outcome)", section: "", topic: .overrides)
      }
    }
  }

  /// Adds each effect on a response, in order.
  ///
  /// - Parameters:
  ///   - response: the head as it arrived or as it is stored.
  ///   - request: the request that it answers.
  ///   - rules: the rules, resolved for the request.
  ///   - now: the time when it arrived.
  mutating func addEffects(
    on response: HTTPResponse, to request: HTTPRequest, rules: CacheRules, now: Timestamp
  ) {
    guard let applied = rules.applied else { return }
    if applied.responseFingerprint != 0 { addEffects(on: response, applied: applied, rules: rules, now: now) }
    addItem(of: response, to: request, applied)
  }

  private mutating func addEffects(
    on response: HTTPResponse, applied: OverrideSet, rules: CacheRules, now: Timestamp
  ) {
    let origin = ResponseDirectives(response.headerFields, rules: rules)
    let unprotected = ResponseDirectives.unprotected(response, rules: rules)
    var directives = origin
    var steps: [Step] = []
    for index in applied.matched where rules.overrides[index].responseFingerprint != 0 {
      let override = rules.overrides[index]
      let question = Self.question(index, rules)
      guard override.concerns(response) else {
        steps.append(Step(question, "nothing: not for this response", section: "", topic: .overrides))
        continue
      }
      for effect in override.effects where effect.isOnResponse {
        guard override.applies(effect, to: response) else {
          let outcome = "\(effect): not for status \(response.status.code)"
          steps.append(Step(question, outcome, section: "", topic: .overrides))
          continue
        }
        let before = directives
        directives.apply(effect, to: response, origin: origin, unprotected: unprotected)
        let outcome = Self.outcome(
          of: effect, from: before, to: directives, on: response, rules: rules, now: now)
        steps.append(Step(question, "\(effect): \(outcome)", section: "", topic: .overrides))
      }
    }
    if !rules.allowsUse(of: response), rules.pins(response) {
      steps.append(
        Step("Which counts, never store or pin?", "never store", section: "", topic: .overrides))
    }
    self.steps += steps.prefix(Self.effectLimit)
    if steps.count > Self.effectLimit {
      add(
        "What else do overrides change?", "\(steps.count - Self.effectLimit) more", section: "",
        topic: .overrides)
    }
  }

  /// Adds the cache item that a response names.
  private mutating func addItem(
    of response: HTTPResponse, to request: HTTPRequest, _ applied: OverrideSet
  ) {
    guard let name = applied.alias, request.method == .get || request.method == .head,
      let target = CacheKey.target(of: request)
    else { return }
    let line = Excerpt.fields([name], of: response.headerFields) ?? ""
    let question = "Which cache item does it name?"
    switch CacheAlias.read(name, in: response.headerFields, target: target) {
    case .absent: add(question, "none: no \(name.rawName)", section: "", topic: .overrides)
    case .item(let item): add(question, Excerpt.text(item), section: "", topic: .overrides)
    case .refused(let refusal): add(question, "none: \(refusal), in \(line)", section: "", topic: .overrides)
    }
  }

  private static func outcome(
    of effect: RuleEffect, from before: ResponseDirectives, to after: ResponseDirectives,
    on response: HTTPResponse, rules: CacheRules, now: Timestamp
  ) -> String {
    switch effect {
    case .lifetime:
      let lifetimes = [before, after].map { directives in
        Freshness.facts(
          response: response, directives: directives, requestTime: now, responseTime: now,
          rules: rules
        ).freshnessLifetime
      }
      return lifetimes[0] == lifetimes[1]
        ? "changes nothing: \(lifetimes[0]) s" : "\(lifetimes[0]) s becomes \(lifetimes[1]) s"
    case .window, .ignoring, .adding, .cacheControl:
      if before == after { return "changes nothing" }
      if before.texts == after.texts { return "Expires does not count" }
      return "\(Excerpt.list(before.texts, orElse: "none")) becomes "
        + Excerpt.list(after.texts, orElse: "none")
    case .sharingDespite: return rules.mode == .shared ? "in force" : "changes nothing: it is private"
    case .heuristics, .ignoringVary, .allowsStaleWhileRevalidate, .allowsStaleIfError,
      .allowsStaleWhenDisconnected, .stores, .pins, .ignoringRequestDirectives, .droppingQuery,
      .keepingQuery, .ignoringQuery, .sortingQuery, .lowercasingPath, .alias:
      return "in force"
    }
  }

  private static func ignored(in request: HTTPRequest, _ rules: CacheRules) -> String {
    let obeyed = RequestDirectives(of: request, rules: rules).texts
    let ignored = RequestDirectives(request.headerFields).texts.filter { !obeyed.contains($0) }
    return ignored.isEmpty
      ? "changes nothing" : "\(ignored.joined(separator: ", ")) not obeyed"
  }

  private static func question(_ index: Int, _ rules: CacheRules) -> String {
    "What does \(name(of: index, rules)) change?"
  }

  private static func name(of index: Int, _ rules: CacheRules) -> String { rules.nameOfOverride(index) }
}
