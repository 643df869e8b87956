public import HTTPTypes

extension CacheExplanation {
  /// Explains whether a response is stored (RFC 9111 §3).
  ///
  /// - Parameters:
  ///   - request: the request as it was forwarded.
  ///   - response: the head as it arrived.
  ///   - rules: the choices of the cache.
  ///   - now: when it arrived.
  public static func storage(
    request: HTTPRequest, response: HTTPResponse, rules: CacheRules, now: Timestamp
  ) -> CacheExplanation {
    var explanation = CacheExplanation()
    let directives = ResponseDirectives(response.headerFields, rules: rules)
    let source =
      if case .targeted(let name) = directives.source { name } else { "Cache-Control" }
    explanation.add(
      "Whom does it concern?", "\(rules.mode) cache, \(source) decides",
      directives.source == .cacheControl ? "RFC 9111 §5.2" : "RFC 9213 §2.2")
    let facts = Freshness.facts(
      response: response, requestTime: now, responseTime: now, rules: rules)
    explanation.add(
      "How long is it fresh?", "\(facts.freshnessLifetime) s, from \(name(facts.lifetimeSource))",
      section(facts.lifetimeSource))
    explanation.add(
      "Can it be validated?",
      Validation.hasValidator(response.headerFields, now: now)
        ? "yes: it has a validator" : "no: it has no validator", "RFC 9111 §4.3.1")
    let target = CacheKey.target(of: request) ?? ""
    if ClearSiteData.clearsCache(response, target: target, rules: rules) {
      let reason = StorageRefusal.clearsSite
      explanation.add("Does it clear the cache?", "yes, for its origin", reason.section)
      explanation.add("Is it stored?", "no: \(reason)", reason.section)
      return explanation
    }
    switch Storability.decide(request: request, response: response, rules: rules, now: now) {
    case .store: explanation.add("Is it stored?", "yes", "RFC 9111 §3")
    case .doNotStore(let reason):
      explanation.add("Is it stored?", "no: \(reason)", reason.section)
    }
    return explanation
  }
}
