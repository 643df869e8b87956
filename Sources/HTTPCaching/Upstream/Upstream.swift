/// The way to the origin, which a door provides. It never follows redirects and never caches.
public protocol Upstream: Sendable {
  /// Sends a request and returns when the head of the final response has arrived; the body is
  /// pulled from the result.
  ///
  /// - Throws: `UpstreamError`.
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse

  /// The most time that `send` waits for a head where a request has no `timeout`; nil if it is not known. A
  /// request that waits for another request's head waits no longer either.
  var defaultTimeout: Duration? { get }
}

extension Upstream {
  /// Not known.
  public var defaultTimeout: Duration? { nil }
}
