import HTTPCaching

/// An upstream whose requests have another limit until the head of a response: that of a route. The cache waits as long for
/// the response to another request.
struct TimedUpstream: Upstream {
  let base: any Upstream
  /// Maximum time until the head, of a request without a timeout of its own.
  let timeout: Duration

  var defaultTimeout: Duration? { timeout }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    var request = request
    if request.timeout == nil { request.timeout = timeout }
    return try await base.send(request)
  }
}
