import HTTPCacheSemantics
import HTTPTypes

extension Exchange {
  /// Decides whether the origin's response is stored.
  ///
  /// - Parameter refusal: the upstream's reason not to store it.
  func storage(
    of response: HTTPResponse, requestTime: Timestamp, responseTime: Timestamp, isDecoded: Bool,
    refusal: StorageRefusal?
  ) -> Storage {
    if policy == .bypass { return .doNotStore(.policy) }
    if isStoredWhole(response, receivedAt: responseTime) { return .doNotStore(.partialContent) }
    switch request.method {
    case .get, .post, .query: break
    default: return .doNotStore(.method(request.method))
    }
    if ClearSiteData.clearsCache(response, target: key.target, rules: rules) {
      return .doNotStore(.clearsSite)
    }
    if case .content(let obstacle)? = contentMiss { return .doNotStore(.content(obstacle)) }
    if case .doNotStore(let refusal) = Storability.decide(
      request: request, response: response, rules: rules, now: responseTime)
    {
      return .doNotStore(refusal)
    }
    if let refusal { return .doNotStore(refusal) }
    switch StoredResponse.make(
      request: request,
      response: ReceivedResponse(response, requestTime: requestTime, responseTime: responseTime),
      isDecoded: isDecoded, rules: rules, digest: digest)
    {
    case .made(let stored): return .store(keyed(stored))
    case .refused(let refusal): return .doNotStore(refusal)
    }
  }
}
