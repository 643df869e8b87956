public import HTTPCacheSemantics
import HTTPCacheStore
public import HTTPTypes

extension HTTPCache {
  /// Answers a request: from the store if RFC 9111 and the policy allow it, else from the origin.
  ///
  /// Follows at most `options.redirectLimit` redirects, each through the cache.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path; `Authorization` and `Cookie` already added.
  ///   - body: the request's content; a length of 0 means none. A GET or HEAD with content goes to the origin,
  ///     and its response is not stored (RFC 9110 §9.3.1). The content of a QUERY is part of the key
  ///     (RFC 10008 §2.7): up to `CacheRules.queryContentLimit` bytes of it are read into memory.
  ///   - policy: how to use the cache.
  ///   - options: further settings for this request.
  ///   - upstream: the way to the origin.
  /// - Returns: the response. If the request forbids asking the origin and nothing stored may answer, its
  ///   status is 504 and its outcome `.unsatisfiable` (RFC 9111 §5.2.1.7).
  /// - Throws: `UpstreamError` if the origin had to be asked, failed, and nothing stored may answer;
  ///   `CacheError` with `invalidRequest` for a request without an absolute http or https URI;
  ///   `CancellationError`; what `body` throws while the content of a QUERY is read.
  public func respond(
    to request: HTTPRequest, body: MessageBody? = nil, policy: CachePolicy = .standard,
    options: RequestOptions = RequestOptions(), via upstream: any Upstream
  ) async throws -> CacheResponse {
    var request = request
    var body = body
    var redirects: [CacheOutcome] = []
    while true {
      var response: CacheResponse
      var isRepeatable = true
      var content: QueryContent?
      if body == nil, policy == .standard, let hit = peek(request, options: options, where: { _ in true }) {
        if redirects.isEmpty, hit.head.status.kind != .redirection { return hit }
        response = hit
      } else {
        content = try await self.content(of: request, body, policy: policy)
        let exchange = try exchange(
          for: request, hasBody: body.map { $0.length != 0 } ?? false, policy: policy, options,
          content: content)
        isRepeatable = exchange.isRepeatable
        response = try await ExchangeRunner(cache: self, options: options, upstream: upstream, body: body)
          .run(exchange)
      }
      guard options.redirectLimit > 0,
        let next = Redirect(
          of: request, isRepeatable: isRepeatable, response: response.head, base: response.finalTarget)
      else {
        response.redirects = redirects
        return response
      }
      guard redirects.count < options.redirectLimit else {
        response.body.source.cancel()
        throw UpstreamError(
          .protocol, "more than \(options.redirectLimit) redirects",
          cause: RedirectLimitReached(limit: options.redirectLimit))
      }
      redirects.append(response.outcome)
      try await Redirect.drain(response.body)
      request = next.request
      body = request.method == .query ? content?.makeBody() : nil
    }
  }

  /// Makes the exchange for a request. One whose `Host` is not that of its URI bypasses the store.
  func exchange(
    for request: HTTPRequest, hasBody: Bool, policy: CachePolicy, _ options: RequestOptions,
    content: QueryContent? = nil
  ) throws(CacheError) -> Exchange {
    guard let target = CacheKey.target(of: request) else {
      throw CacheError(
        .invalidRequest,
        "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")")
    }
    var rules = configuration.rules.resolved(for: request, target: target)
    if options.separatesCredentials { rules.separatesCredentials = true }
    var key = CacheKey(
      request: request, target: target, rules: rules, partition: options.partition)
    if let digest = content?.digest { key = key.with(contentDigest: digest) }
    var (policy, hasBody) = (policy, hasBody)
    if request.namesOtherHost {
      // No stored response answers a request with content: `cacheOnly` then asks no origin either.
      if policy == .cacheOnly { hasBody = true } else { policy = .bypass }
    }
    var exchange = Exchange(
      PresentedRequest(
        request, key: key, target: target, policy: policy, rules: rules, hasBody: hasBody,
        bodyForms: options.bodyForms, digest: digest, content: content))
    exchange.validatesInBackground = options.validatesInBackground
    return exchange
  }
}
