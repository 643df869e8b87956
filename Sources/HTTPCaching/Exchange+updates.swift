import HTTPCacheSemantics
import HTTPTypes

extension Exchange {
  /// What a response to HEAD does to each stored response to GET that could have been chosen for it
  /// (RFC 9111 §4.3.5).
  func headFreshening(
    _ response: HTTPResponse, requestTime: Timestamp, responseTime: Timestamp
  ) -> [RecordUpdate] {
    guard request.method == .head, response.status.code == 200 else { return [] }
    return matching.compactMap { index in
      switch Freshening.updatedByHead(
        candidates[index], with: response, requestTime: requestTime, responseTime: responseTime,
        rules: rules, validating: request, digest: digest)
      {
      case .update(let stored): RecordUpdate(index: index, response: keyed(stored))
      case .invalidate: invalidated(index)
      case .unrelated: nil
      }
    }
  }

  /// The origin sent something new that cannot take the old one's place: the old one must not be
  /// used again without asking.
  func superseded(by response: HTTPResponse, _ storage: Storage) -> [RecordUpdate] {
    guard request.method == .get || request.method == .query, response.status.code < 500,
      response.status.code != 304, case .doNotStore(let refusal) = storage
    else { return [] }
    switch refusal {
    case .responseNoStore, .privateInShared, .notCacheable, .neverReusable, .varyAny, .authorized,
      .varySecret, .malformed, .override:
      return matching.filter { $0 == matched || part($0) != nil }.map(invalidated)
    default: return []
    }
  }

  private func invalidated(_ index: Int) -> RecordUpdate {
    var stored = candidates[index]
    stored.isInvalidated = true
    return RecordUpdate(index: index, response: stored)
  }
}
