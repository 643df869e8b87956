import HTTPTypes

extension StoredResponse {
  /// The response after applying the overrides of the rules; nil if they forbid its use.
  ///
  /// Facts are derived when a response is stored. If other overrides apply now, the facts are derived again
  /// from the stored head, so that a change of overrides takes effect at once: a response that is stored only
  /// because of an override is not used without it.
  ///
  /// - Parameter rules: the rules, resolved for the request.
  package func seen(by rules: CacheRules) -> StoredResponse? {
    let fingerprint = rules.applied?.responseFingerprint ?? 0
    if facts.overrides == fingerprint, fingerprint == 0 { return self }
    guard rules.allowsUse(of: head) else { return nil }
    if facts.overrides == fingerprint { return self }
    let directives = ResponseDirectives(of: head, rules: rules)
    guard isAllowed(by: rules, directives),
      rules.otherReadings.allSatisfy({ isAllowed(by: $0, ResponseDirectives(of: head, rules: $0)) }),
      !(CookieSharing.isLeftOut(by: rules) && head.headerFields.contains(.setCookie)),
      case .names(let names) = Vary.names(of: head, rules: rules),
      names.allSatisfy({ name in nominated.contains { $0.name == name } })
    else { return nil }
    var seen = self
    seen.facts = Freshness.strictestFacts(
      response: head, directives: directives, requestTime: requestTime, responseTime: responseTime,
      rules: rules)
    seen.facts.correctedInitialAge = facts.correctedInitialAge
    return seen
  }

  /// Whether the rules alone allow to keep the response.
  private func isAllowed(by rules: CacheRules, _ directives: ResponseDirectives) -> Bool {
    !Freshening.isForbidden(directives, status: head.status.code, rules: rules)
      && !CookieSharing.isForbidden(head, rules: rules, now: responseTime)
  }

  /// This response, invalidated: to be validated before any use.
  package var invalidated: StoredResponse {
    var marked = self
    marked.isInvalidated = true
    return marked
  }

  /// Whether its key was made under equal effects on keys, or is its own target.
  package func isKeyed(by rules: CacheRules) -> Bool {
    keyFingerprint == 0 || keyFingerprint == rules.applied?.keyFingerprint
  }
}
