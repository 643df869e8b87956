public import HTTPCacheStore
public import HTTPTypes
public import HTTPCacheSemantics

/// An HTTP cache (RFC 9111): answers requests from what it has stored, and asks an upstream for the
/// rest.
public final class HTTPCache: Sendable {
  /// What the cache was made with.
  public let configuration: Configuration
  /// Where responses are kept.
  public let store: any CacheStore

  /// Makes a cache over a store of the caller's.
  public init(configuration: Configuration, store: any CacheStore) {
    self.configuration = configuration
    self.store = store
  }

  /// Answers a request.
  ///
  /// - Parameters:
  ///   - request: with scheme, authority and path; `Authorization` and `Cookie` already added.
  ///   - body: the request's content.
  ///   - policy: how to use the cache.
  ///   - options: what else there is to say of this request.
  ///   - upstream: the way to the origin.
  /// - Throws: `UpstreamError` if the origin had to be asked, failed, and nothing stored may answer;
  ///   `CacheError.Code.invalidRequest` for a request without an absolute URI.
  public func respond(
    to request: HTTPRequest, body: MessageBody? = nil, policy: CachePolicy = .standard,
    options: RequestOptions = RequestOptions(), via upstream: any Upstream
  ) async throws -> CacheResponse {
    let response = try await upstream.send(
      UpstreamRequest(
        head: request, body: body, timeout: options.timeout, priority: options.priority,
        context: options.context, onInterim: options.onInterim))
    return CacheResponse(
      head: response.head, body: response.body,
      outcome: .forwarded(
        .miss(.policy(.bypass)), status: response.head.status.code,
        storage: .doNotStore(.policy), collapsed: false),
      finalTarget: request.path ?? "")
  }
}
