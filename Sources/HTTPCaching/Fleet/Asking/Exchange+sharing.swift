import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Whether a GET could be answered from the tier, as the answer to a HEAD tells.
extension Exchange {
  /// Whether the response to a GET instead of this HEAD could not be shared: its head would be the same
  /// (RFC 9110 §9.3.2). False for other methods, and if the origin does not answer HEAD: 405 and 501 are about the
  /// method.
  ///
  /// - Parameters:
  ///   - head: the origin's answer to this HEAD.
  ///   - now: when the answer arrived.
  ///   - fleet: the fleet that responses are shared with.
  func refusesSharing(_ head: HTTPResponse, now: Timestamp, in fleet: Fleet) -> Bool {
    guard request.method == .head, ![405, 501].contains(head.status.code) else { return false }
    var get = request
    get.method = .get
    let response = ReceivedResponse(head, requestTime: now, responseTime: now)
    switch storageByResponseAlone(of: response, to: get, isDecoded: false) {
    case .store(let stored):
      let length = head.headerFields[.contentLength].flatMap { Int64($0) }
      return !fleet.mayPublish(stored, of: key, length: length)
    case .doNotStore(let refusal): return refusal.isLasting
    }
  }
}
