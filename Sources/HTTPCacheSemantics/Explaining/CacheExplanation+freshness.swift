import HTTPTypes

extension CacheExplanation {
  /// Adds the freshness and age of the selected response (§4.2).
  mutating func addFreshness(
    _ stored: StoredResponse, directives: RequestDirectives, rules: CacheRules, now: Timestamp
  ) {
    let facts = stored.facts
    let fields = stored.head.headerFields
    addMandatoryValidation(stored, directives)
    let found = ResponseDirectives(of: stored.head, rules: rules)
    addSource(found)
    add(
      "Which dates does it have?",
      Excerpt.list(
        Excerpt.dates([.date, .expires, .lastModified], of: fields, relativeTo: stored.responseTime)
          + [Excerpt.fields([.age], of: fields)].compactMap { $0 }, orElse: "none"),
      section: "RFC 9111 §4.2.3",
      topic: .freshness)
    add(
      "How long is it fresh?",
      "\(facts.freshnessLifetime) s, from "
        + Self.origin(
          of: facts, found, status: stored.head.status.code, fields: fields,
          responseTime: stored.responseTime, rules: rules),
      section: Self.section(facts.lifetimeSource),
      topic: .freshness)
    let age = Age.current(stored, now: now)
    add(
      "How old is it?",
      "\(age) s: \(facts.correctedInitialAge) s on arrival, "
        + "\(max(0, now - stored.responseTime)) s since",
      section: "RFC 9111 §4.2.3", topic: .freshness)
    add(
      "Is it stale?",
      facts.freshnessLifetime > age
        ? "no: lifetime \(facts.freshnessLifetime) s > age \(age) s"
        : "yes: lifetime \(facts.freshnessLifetime) s <= age \(age) s",
      section: "RFC 9111 §4.2", topic: .freshness)
    addStaleUse(facts, rules: rules.concerning(stored.head))
  }

  /// Adds what forbids any reuse without validation, fresh or stale.
  private mutating func addMandatoryValidation(
    _ stored: StoredResponse, _ directives: RequestDirectives
  ) {
    var reasons: [ValidationReason] = []
    if stored.isInvalidated { reasons.append(.invalidated) }
    if stored.facts.directives.contains(.noCache) { reasons.append(.responseNoCache) }
    if directives.noCache { reasons.append(.requestNoCache) }
    if directives.pragmaNoCache { reasons.append(.pragmaNoCache) }
    add(
      "Must it be validated, fresh or not?",
      reasons.isEmpty
        ? "no: not invalidated, and no-cache in neither response nor request"
        : "yes: \(reasons.map(\.description).joined(separator: ", "))",
      section: reasons.first?.section ?? "RFC 9111 §4",
      topic: .freshness)
  }

  mutating func addSource(_ found: ResponseDirectives, topic: Topic = .freshness) {
    let isReplaced = found.source != .cacheControl
    let isTargeted = isReplaced && found.source != .override
    add(
      "Which directives does it have?",
      Excerpt.list(found.texts, orElse: "none") + " in \(found.field)"
        + (isReplaced ? ", which replaces Cache-Control and Expires" : ""),
      section: isTargeted ? "RFC 9213 §2.2" : "RFC 9111 §5.2.2",
      topic: topic)
  }

  /// The origin of a lifetime, with the values that it overrules or is calculated from (§4.2.1, §4.2.2).
  static func origin(
    of facts: ReuseFacts, _ found: ResponseDirectives, status: Int, fields: HTTPFields,
    responseTime: Timestamp, rules: CacheRules
  ) -> String {
    let date = fields.date(.date, relativeTo: responseTime).time ?? responseTime
    switch facts.lifetimeSource {
    case .sMaxAge:
      return "s-maxage, which goes before max-age and Expires in a shared cache"
    case .maxAge:
      let ignored = found.sMaxAge.map { " (s-maxage=\($0) is for shared caches)" } ?? ""
      return "max-age\(ignored)" + (fields.contains(.expires) ? ", which goes before Expires" : "")
    case .targeted: return "\(found.field), a targeted field"
    case .override: return "an override"
    case .expires:
      guard case .valid(let expires) = fields.date(.expires, relativeTo: responseTime) else {
        return "Expires, which is not a date"
      }
      return "Expires, \(expires - date) s after Date"
    case .heuristic:
      let modified = fields.date(.lastModified, relativeTo: responseTime).time ?? date
      let longest = rules.longestHeuristicLifetime.wholeSeconds
      let isTold = rules.heuristicLimit != nil || facts.freshnessLifetime == longest
      let limit = isTold && longest != .max ? ", at most \(longest) s" : ""
      return "\(rules.heuristicFraction) of the \(min(date, responseTime) - modified) s "
        + "since Last-Modified\(limit)" + (found.lifetimes.isEmpty ? "" : ", and an override")
    case .none:
      if !StatusCaching.isHeuristicallyCacheable(status), !found.flags.contains(.public) {
        return "nothing: no lifetime said, and status \(status) allows no guess"
      }
      return fields.contains(.lastModified)
        ? "nothing: no lifetime said, and Last-Modified allows no guess"
        : "nothing: no lifetime said, and no Last-Modified to guess from"
    }
  }

  /// Adds what the response allows once it is stale (§4.2.4).
  private mutating func addStaleUse(_ facts: ReuseFacts, rules: CacheRules) {
    var said = ReuseWindow.allCases.compactMap { window in
      facts.windows[window].map {
        "\(window.rawValue) for \($0) s" + (window.isObeyed(by: rules) ? "" : " (switched off)")
      }
    }
    let forbidding = Self.forbiddingStale(facts.directives, mode: rules.mode)
    if !forbidding.isEmpty { said.append("\(forbidding.joined(separator: ", ")) forbids it") }
    add(
      "What does it say of its use once stale?", Excerpt.list(said, orElse: "nothing"),
      section: "RFC 9111 §4.2.4", topic: .freshness)
  }

  static func forbiddingStale(_ directives: ReuseFacts.Directives, mode: CacheMode) -> [String] {
    guard directives.forbidsStale(in: mode) else { return [] }
    let counted: ReuseFacts.Directives =
      mode == .shared ? [.mustRevalidate, .proxyRevalidate, .sMaxAge] : [.mustRevalidate]
    return directives.intersection(counted).texts
  }

  static func section(_ source: ReuseFacts.LifetimeSource) -> String {
    switch source {
    case .none: "RFC 9111 §4.2.1"
    case .sMaxAge: "RFC 9111 §5.2.2.10"
    case .maxAge: "RFC 9111 §5.2.2.1"
    case .expires: "RFC 9111 §5.3"
    case .heuristic: "RFC 9111 §4.2.2"
    case .targeted: "RFC 9213 §2.2"
    case .override: ""
    }
  }
}
