import HTTPCaching

/// The way to no origin.
struct NoUpstream: Upstream {
  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    throw UpstreamError(.unreachable, "this command asks no origin")
  }
}
