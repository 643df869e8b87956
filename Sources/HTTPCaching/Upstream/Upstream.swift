/// Sends requests to the origin; each door provides one. It never follows redirects and never caches.
public protocol Upstream: Sendable {
  /// Sends a request and returns when the head of the final response has arrived; the body is
  /// pulled from the result.
  ///
  /// - Throws: `UpstreamError`.
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse

  /// The longest time that `send` waits for a head if a request has no `timeout`; nil if unknown. Followers
  /// wait no longer either.
  var defaultTimeout: Duration? { get }
}

extension Upstream {
  /// Unknown.
  public var defaultTimeout: Duration? { nil }
}
