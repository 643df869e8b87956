import HTTPCaching

/// An upstream that takes the cookies of all responses. A response from the cache sets none: its cookies were taken when
/// it came, and may have been replaced since.
struct CookieUpstream: Upstream {
  let base: any Upstream
  let jar: CookieJar

  var defaultTimeout: Duration? { base.defaultTimeout }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let response = try await base.send(request)
    jar.take(from: response.head, to: request.head)
    return response
  }
}
