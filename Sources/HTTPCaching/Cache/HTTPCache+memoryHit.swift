import HTTPCacheSemantics
import HTTPCacheStore
public import HTTPTypes

extension HTTPCache {
  /// The answer from memory to a request, without counting a hit; nil if the caller has to call `peek` or `respond`.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path. A request with content, or for several ranges, gets nil.
  ///   - options: partition and whether decoded bodies are accepted.
  ///   - longestBody: the maximum length of the answer's body in bytes.
  public func memoryHit(
    for request: HTTPRequest, options: RequestOptions, longestBody: Int
  ) -> MemoryHit? {
    guard configuration.rules.isPlain, request.method == .get,
      let found = found(
        request, partition: options.partition, bodyForms: options.bodyForms,
        separatesCredentials: options.separatesCredentials),
      case .hit(_, _, allowance: nil) = found.outcome, found.response.trailers.isEmpty,
      let whole = try? found.variant.body.open().bytesInMemory,
      Int64(whole.count) == found.variant.record.bodyLength
    else { return nil }
    let asked = found.asked
    let plan = StoredAnswerPlan(
      request: request, features: asked.features, stored: found.response, head: found.head,
      length: Int64(whole.count), part: nil, now: asked.now)
    var head: HTTPResponse
    let body: BodyBytes
    switch plan {
    case .head(let planned): (head, body) = (planned, BodyBytes())
    case .body(let planned, let range):
      (head, body) = (planned, whole[Int(range.lowerBound)..<Int(range.upperBound)])
    // The boundary of several ranges is a new one for each answer.
    case .parts, nil: return nil
    }
    guard body.count <= longestBody else { return nil }
    addOwnFields(to: &head, found.outcome, asked.key, isSeed: found.variant.record.isSeed)
    var nominated = Set(found.stored.flatMap { $0.record.response.nominated.map(\.name) })
    let isGuessed = found.stored.contains { $0.record.response.facts.lifetimeSource == .heuristic }
    let rules = configuration.rules
    if rules.separatesCredentials || options.separatesCredentials {
      nominated.formUnion([.authorization, .cookie])
    } else if rules.mode == .shared, isGuessed {
      // A guess answers no request with credentials (`ValidationReason.guessWithCredentials`). The caller must tell
      // requests with a cookie from others; its value does not matter.
      nominated.insert(.authorization)
    }
    return MemoryHit(
      head: head, body: body, outcome: found.outcome, nominatedFields: nominated, time: asked.now,
      key: asked.key, target: asked.target, records: found.stored.map(\.record))
  }

  /// Counts an answer with a hit, if the hit still answers requests that are equal to its own.
  ///
  /// - Returns: false if the second of `MemoryHit.time` is over, or a response to the target was stored, freshened,
  ///   invalidated or removed since, in whichever process. Then the hit must not be sent.
  public func use(_ hit: MemoryHit) -> Bool {
    guard configuration.clock.now == hit.time, let stored = peeked(hit.key, rules: configuration.rules),
      stored.count == hit.records.count
    else { return false }
    for index in stored.indices where stored[index].record !== hit.records[index] { return false }
    store.count(CacheCounts(hits: 1, hitBytes: Int64(hit.body.count)))
    observe(.answered(target: hit.target, hit.outcome))
    return true
  }
}
