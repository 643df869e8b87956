import HTTPCaching

/// An upstream whose responses are changed on their way.
struct ChangedUpstream: Upstream {
  let upstream: any Upstream
  let change: @Sendable (inout UpstreamResponse) -> Void

  init(_ upstream: any Upstream, _ change: @escaping @Sendable (inout UpstreamResponse) -> Void) {
    self.upstream = upstream
    self.change = change
  }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    var response = try await upstream.send(request)
    change(&response)
    return response
  }
}
