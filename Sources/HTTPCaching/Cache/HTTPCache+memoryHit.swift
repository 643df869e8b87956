import HTTPCacheSemantics
import HTTPCacheStore
public import HTTPTypes

extension HTTPCache {
  /// The response in memory that answers a request whole, without counting a hit; nil if the caller has to call
  /// `peek` or `respond`.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path. A request with content, conditions, ranges or cache directives
  ///     gets nil.
  ///   - options: partition and whether decoded bodies are accepted.
  ///   - longestBody: the maximum length of the body in bytes.
  public func memoryHit(
    for request: HTTPRequest, options: RequestOptions, longestBody: Int
  ) -> MemoryHit? {
    guard configuration.rules.isPlain, request.method == .get,
      let found = found(request, partition: options.partition, bodyForms: options.bodyForms),
      found.asked.features.isEmpty, case .hit(_, _, allowance: nil) = found.outcome,
      found.response.trailers.isEmpty,
      let body = try? found.variant.body.open().bytesInMemory, body.count <= longestBody,
      Int64(body.count) == found.variant.record.bodyLength
    else { return nil }
    let asked = found.asked
    var head = found.head
    addOwnFields(to: &head, found.outcome, asked.key, isSeed: found.variant.record.isSeed)
    var nominated = Set(found.stored.flatMap { $0.record.response.nominated.map(\.name) })
    if configuration.rules.separatesCredentials { nominated.insert(.authorization) }
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
