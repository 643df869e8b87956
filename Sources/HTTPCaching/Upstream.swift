/// The way to the origin, which a door provides. It never follows redirects and never caches.
public protocol Upstream: Sendable {
  /// Sends a request and returns when the head of the final response has arrived; the body is
  /// pulled from the result.
  ///
  /// - Throws: `UpstreamError`.
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse
}
