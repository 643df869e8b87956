import HTTPCacheSemantics
import HTTPTypes

/// A request with its stored responses, as a cache has them when it decides.
struct Decision {
  let request: HTTPRequest
  let stored: [StoredResponse]
  let seconds: Int64

  /// All decisions of a cache before it answers: key, directives, variant, reuse, the client's own conditions
  /// and its ranges.
  func decide(_ rules: CacheRules) -> Int {
    guard let target = CacheKey.target(of: request),
      case let key = CacheKey(mode: rules.mode, target: target),
      Reuse.methodMiss(request) == nil,
      case .selected(let index) = Vary.select(
        among: stored, for: request, rules: rules, digest: { Array($0.utf8) })
    else { return 1 }
    let now = Samples.now.adding(.seconds(seconds))
    let decision = Reuse.decide(
      stored: stored[index], request: request, directives: RequestDirectives(request.headerFields),
      policy: .standard, rules: rules, now: now)
    switch decision {
    case .fresh(let age, _), .stale(_, let age, _):
      if Preconditions.evaluate(request, stored: stored[index], now: now) != nil { return 2 }
      if case .partial(let ranges) = RangeRequest.evaluate(
        request, stored: stored[index], length: 20_480)
      {
        return 3 &+ ranges.count
      }
      return Int(truncatingIfNeeded: age.components.seconds &+ Int64(key.target.utf8.count & 1))
    case .validate:
      return Validation.request(request, validating: [stored[index]], policy: .standard)
        .headerFields.count
    case .miss, .unsatisfiable: return 4
    }
  }
}

/// Rows about the rules alone: no store, no body.
func decisionRows() throws -> [Row] {
  let rules = CacheRules(mode: .private)

  func decisions(
    _ responses: [Int], after seconds: Int64, adding fields: HTTPFields = [:], variants: Int = 1
  ) -> [Decision] {
    (0..<64).compactMap { index in
      let request = Samples.request(index, adding: fields)
      let response = Samples.response(responses[index % responses.count])
      var stored: [StoredResponse] = []
      for language in ["fr", "it", "es"].prefix(variants - 1) {
        let other = Samples.request(index, adding: [.acceptLanguage: language])
        stored += [Samples.stored(other, response, rules: rules)].compactMap(\.self)
      }
      stored += [Samples.stored(request, response, rules: rules)].compactMap(\.self)
      return Decision(request: request, stored: stored, seconds: seconds)
    }
  }
  func row(_ name: String, _ decisions: [Decision]) -> Row {
    Row(name, count: decisions.count) {
      var sum = 0
      for decision in decisions { sum &+= decision.decide(rules) }
      return sum
    }
  }

  let kinds: [(name: String, decisions: [Decision], share: Int)] = [
    ("fresh hit", decisions([0, 1, 2, 4, 5], after: 10), 60),
    ("fresh hit, 4 variants", decisions([3], after: 10, variants: 4), 10),
    ("stale, to be validated", decisions([0, 3, 5, 6], after: 4_000), 10),
    ("stale while revalidating", decisions([0], after: 70), 5),
    ("conditional request", decisions([1], after: 10, adding: [.ifNoneMatch: "\"x\", \"5fa53b40-8c1d\""]), 5),
    ("range request", decisions([1, 2, 4], after: 10, adding: [.range: "bytes=0-1023, 4096-8191"]), 5),
  ]
  let exchanges = (0..<64).map { (Samples.request($0), Samples.response($0)) }
  let storing = { (request: HTTPRequest, response: HTTPResponse) -> Int in
    guard
      case .store = Storability.decide(
        request: request, response: response, rules: rules, now: Samples.now),
      let stored = Samples.stored(request, response, rules: rules)
    else { return 0 }
    return Int(truncatingIfNeeded: stored.facts.freshnessLifetime)
  }

  // The mix: this many of each kind in a hundred, and five decisions about storing.
  let mixed = kinds.flatMap { kind in (0..<kind.share).map { kind.decisions[$0 % 64] } }
  let mix = Row("realistic mix", count: 100) {
    var sum = 0
    for decision in mixed { sum &+= decision.decide(rules) }
    for (request, response) in exchanges.prefix(5) { sum &+= storing(request, response) }
    return sum
  }
  let storingRow = Row("storing decided, facts derived", count: 64) {
    exchanges.reduce(0) { $0 &+ storing($1.0, $1.1) }
  }
  return [floor(exchanges), mix] + kinds.map { row($0.name, $0.decisions) } + [storingRow]
}

/// The minimum work of any cache: one look-up by the URI, and one look at each field of the request.
private func floor(_ exchanges: [(HTTPRequest, HTTPResponse)]) -> Row {
  var table: [String: Int] = [:]
  for (index, exchange) in exchanges.enumerated() { table[exchange.0.path ?? ""] = index }
  return Row("floor: dictionary and field scan", count: exchanges.count) {
    var sum = 0
    for (request, _) in exchanges {
      sum &+= table[request.path ?? ""] ?? 0
      for field in request.headerFields where field.name == .cacheControl { sum &+= 1 }
    }
    return sum
  }
}
