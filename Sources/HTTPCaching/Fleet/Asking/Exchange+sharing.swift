import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Whether a GET could be answered from the tier, as the answer to a HEAD tells.
extension Exchange {
  /// Whether the response to a GET instead of this HEAD could not be shared: its head would be the same
  /// (RFC 9110 §9.3.2). False for other methods.
  ///
  /// - Parameters:
  ///   - head: the origin's answer to this HEAD.
  ///   - now: when the answer arrived.
  ///   - fleet: the fleet that responses are shared with.
  func refusesSharing(_ head: HTTPResponse, now: Timestamp, in fleet: Fleet) -> Bool {
    guard request.method == .head else { return false }
    var get = request
    get.method = .get
    let directives = ResponseDirectives(of: head, rules: rules)
    if case .doNotStore(let refusal) = Storability.decide(
      request: get, response: head, directives: directives, rules: rules, now: now)
    {
      return refusal.isLasting
    }
    switch StoredResponse.make(
      request: get, response: ReceivedResponse(head, requestTime: now, responseTime: now),
      directives: directives, isDecoded: false, rules: rules, digest: digest)
    {
    case .made(let stored):
      let length = head.headerFields[.contentLength].flatMap { Int64($0) }
      return !fleet.mayPublish(stored, of: key, length: length)
    case .refused(let refusal): return refusal.isLasting
    }
  }
}
