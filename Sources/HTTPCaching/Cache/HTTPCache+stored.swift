import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

extension HTTPCache {
  /// The stored answer to a request, after following stored redirects; nil if the origin would have to be
  /// asked.
  ///
  /// - Parameters:
  ///   - content: the content of a QUERY. Its redirects are not followed here.
  ///   - onlyFresh: whether to refuse stale responses, even allowed ones.
  /// - Throws: `CacheError` with `invalidRequest`.
  func storedResponse(
    to request: HTTPRequest, content: QueryContent? = nil, policy: CachePolicy,
    options: RequestOptions, onlyFresh: Bool = false
  ) throws(CacheError) -> CacheResponse? {
    var request = request
    var redirects: [CacheOutcome] = []
    while redirects.count <= options.redirectLimit {
      var exchange = try exchange(
        for: request, hasBody: content?.hasBody ?? false, policy: policy, options, content: content)
      guard var response = storedAnswer(&exchange, onlyFresh: onlyFresh) else { return nil }
      guard options.redirectLimit > 0,
        let next = Redirect(
          of: request, isRepeatable: exchange.isRepeatable, response: response.head,
          base: exchange.target)
      else {
        response.redirects = redirects
        return response
      }
      guard request.method != .query else { return nil }
      redirects.append(response.outcome)
      request = next.request
    }
    return nil
  }

  private func storedAnswer(_ exchange: inout Exchange, onlyFresh: Bool) -> CacheResponse? {
    guard case .lookUp = exchange.start(), var variants = variants(for: exchange) else { return nil }
    while true {
      let now = configuration.clock.now
      guard case .answer(let found, _) = look(among: variants, for: &exchange, now: now) else {
        return nil
      }
      if onlyFresh, case .hit(_, _, _?) = found.outcome { return nil }
      if let response = answer(found, variants[found.index], exchange, now: now) { return response }
      // The body is gone or damaged: treat this variant as not stored.
      variants.remove(at: found.index)
    }
  }
}
