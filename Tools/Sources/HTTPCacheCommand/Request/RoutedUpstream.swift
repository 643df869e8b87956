import HTTPCacheAsyncHTTPClient
import HTTPCaching

/// Sends each request to its origin, or to the proxy that the settings name for it, redirects included.
struct RoutedUpstream: Upstream {
  let settings: ProxySettings
  let direct: any Upstream
  /// The ways through the proxies of http and of https URLs.
  let http: any Upstream
  let https: any Upstream

  var defaultTimeout: Duration? { direct.defaultTimeout }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let head = request.head
    guard let scheme = head.scheme, let authority = head.authority,
      let url = try? TargetURL(parsing: "\(scheme)://\(authority)/"),
      settings.proxy(scheme: url.scheme, host: url.host, port: url.port) != nil
    else { return try await direct.send(request) }
    return try await (url.scheme == "https" ? https : http).send(request)
  }
}
