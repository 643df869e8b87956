import HTTPCacheSemantics
import HTTPTypes

/// The smallest cache that follows the rules: one exchange at a time, a clock that is set, bodies
/// as text. It lets the public conformance tests run against the rules alone.
struct SimulatedCache {
  struct Answer {
    var head: HTTPResponse
    var body: String
  }

  private struct Entry {
    var stored: StoredResponse
    var body: String
  }

  let rules: CacheRules
  var now: Timestamp
  private var entries: [CacheKey: [Entry]] = [:]

  init(rules: CacheRules, now: Timestamp) {
    self.rules = rules
    self.now = now
  }

  /// Answers a request; `origin` answers nil where the connection breaks.
  mutating func respond(to request: HTTPRequest, origin: (HTTPRequest) -> Answer?) throws -> Answer {
    guard let key = CacheKey(request: request, mode: rules.mode) else {
      return Answer(head: HTTPResponse(status: .badRequest), body: "")
    }
    if Reuse.methodMiss(request) != nil {
      return forward(request, for: request, key: key, origin: origin)
    }
    let directives = RequestDirectives(request.headerFields)
    let variants = entries[key] ?? []
    guard
      case .selected(let index) = Vary.select(
        among: variants.map(\.stored), for: request, rules: rules, digest: reversing)
    else {
      if case .unsatisfiable = Reuse.whenMissing(
        .absent, directives: directives, policy: .standard)
      {
        return Answer(head: HTTPResponse(status: .gatewayTimeout), body: "")
      }
      return forward(request, for: request, key: key, origin: origin)
    }
    let entry = variants[index]
    switch Reuse.decide(
      stored: entry.stored, request: request, directives: directives, policy: .standard,
      rules: rules, now: now)
    {
    case .fresh: return answer(request, from: entry)
    case .stale(.window(.staleWhileRevalidate), _, _):
      let stale = answer(request, from: entry)
      _ = validate(entry, at: index, request: request, key: key, origin: origin)
      return stale
    case .stale: return answer(request, from: entry)
    case .validate: return validate(entry, at: index, request: request, key: key, origin: origin)
    case .miss: return forward(request, for: request, key: key, origin: origin)
    case .unsatisfiable: return Answer(head: HTTPResponse(status: .gatewayTimeout), body: "")
    }
  }

  private func answer(_ request: HTTPRequest, from entry: Entry) -> Answer {
    if case .notModified(let head) = Preconditions.evaluate(request, stored: entry.stored, now: now) {
      return Answer(head: head, body: "")
    }
    let head = entry.stored.head(age: Age.current(entry.stored, now: now))
    let octets = Array(entry.body.utf8)
    let length = Int64(octets.count)
    switch RangeRequest.evaluate(request, stored: entry.stored, length: length) {
    case .partial(let ranges) where ranges.count == 1:
      let range = ranges[0]
      return Answer(
        head: RangeRequest.head(head, range: range, length: length, answering: request),
        body: String(
          decoding: octets[Int(range.lowerBound)..<Int(range.upperBound)], as: UTF8.self))
    case .unsatisfiable:
      return Answer(head: RangeRequest.unsatisfiableHead(head, length: length), body: "")
    case .whole, .partial:
      return Answer(head: head, body: request.method == .head ? "" : entry.body)
    }
  }

  private mutating func validate(
    _ entry: Entry, at index: Int, request: HTTPRequest, key: CacheKey,
    origin: (HTTPRequest) -> Answer?
  ) -> Answer {
    let conditional = Validation.request(request, validating: [entry.stored], policy: .standard)
    guard let arrived = origin(conditional) else {
      return fallback(entry, request: request, failure: .unreachable, otherwise: nil)
    }
    let code = arrived.head.status.code
    if code == 304 {
      guard
        Freshening.decide(notModified: arrived.head, candidates: [entry.stored]) == .freshen([0])
      else { return forward(request, for: request, key: key, origin: origin) }
      var fresh = entry
      let update = Freshening.update(
        of: entry.stored, with: ReceivedResponse(arrived.head, requestTime: now, responseTime: now),
        rules: rules, validating: request, digest: reversing)
      entries[key]?[index].stored = update.stored
      fresh.stored = update.answer
      return answer(request, from: fresh)
    }
    if code >= 500 {
      return fallback(
        entry, request: request, failure: .status(code),
        otherwise: keep(arrived, of: conditional, for: request, key: key))
    }
    return keep(arrived, of: conditional, for: request, key: key)
  }

  private func fallback(
    _ entry: Entry, request: HTTPRequest, failure: FailureKind, otherwise: Answer?
  ) -> Answer {
    let fallback = Reuse.afterFailure(
      stored: entry.stored, request: request, policy: .standard, rules: rules, now: now, failure: failure)
    if case .useStale = fallback { return answer(request, from: entry) }
    return otherwise ?? Answer(head: HTTPResponse(status: .gatewayTimeout), body: "")
  }

  private mutating func forward(
    _ sent: HTTPRequest, for request: HTTPRequest, key: CacheKey, origin: (HTTPRequest) -> Answer?
  ) -> Answer {
    guard let arrived = origin(sent) else {
      return Answer(head: HTTPResponse(status: .badGateway), body: "")
    }
    return keep(arrived, of: sent, for: request, key: key)
  }

  /// Stores, invalidates and passes on what arrived.
  private mutating func keep(
    _ arrived: Answer, of sent: HTTPRequest, for request: HTTPRequest, key: CacheKey
  ) -> Answer {
    for target in Invalidation.targets(request: request, response: arrived.head) {
      let other = CacheKey(mode: rules.mode, target: target.target)
      for index in (entries[other] ?? []).indices { entries[other]?[index].stored.isInvalidated = true }
    }
    if request.method == .head { updateByHead(arrived.head, request: request, key: key) }
    if Storability.decide(request: sent, response: arrived.head, rules: rules, now: now) == .store,
      case .made(let stored) = StoredResponse.make(
        request: sent, response: ReceivedResponse(arrived.head, requestTime: now, responseTime: now),
        isDecoded: false, rules: rules, digest: reversing)
    {
      var variants = entries[key] ?? []
      variants.removeAll { Vary.matches($0.stored, request: request, rules: rules, digest: reversing) }
      variants.insert(Entry(stored: stored, body: arrived.body), at: 0)
      entries[key] = variants
    }
    var passed = arrived
    passed.head.headerFields = FieldHygiene.forwardable(arrived.head.headerFields)
    return passed
  }

  private mutating func updateByHead(_ head: HTTPResponse, request: HTTPRequest, key: CacheKey) {
    for (index, entry) in (entries[key] ?? []).enumerated()
    where Vary.matches(entry.stored, request: request, rules: rules, digest: reversing) {
      switch Freshening.updatedByHead(
        entry.stored, with: ReceivedResponse(head, requestTime: now, responseTime: now), rules: rules,
        validating: request, digest: reversing)
      {
      case .update(let fresh): entries[key]?[index].stored = fresh
      case .invalidate: entries[key]?[index].stored.isInvalidated = true
      case .unrelated: break
      }
    }
  }
}
