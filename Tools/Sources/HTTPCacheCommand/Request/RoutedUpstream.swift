import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCaching

/// Sends each request to its origin, or to the proxy that the settings name for it, redirects included.
struct RoutedUpstream: Upstream {
  let settings: ProxySettings
  let direct: any Upstream
  /// The upstreams through the proxies of http and https URLs.
  let http: any Upstream
  let https: any Upstream

  var defaultTimeout: Duration? { direct.defaultTimeout }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let head = request.head
    guard let scheme = head.scheme, let authority = head.authority,
      let url = try? TargetURL(parsing: "\(scheme)://\(authority)/"),
      let proxy = settings.proxy(scheme: url.scheme, host: url.host, port: url.port)
    else { return try await direct.send(request) }
    do {
      return try await (url.scheme == "https" ? https : http).send(request)
    } catch {
      throw Self.named(error, proxy)
    }
  }

  /// Adds the proxy to the text of an error.
  private static func named(_ error: UpstreamError, _ proxy: ProxyAddress) -> UpstreamError {
    let (kind, message) =
      switch error.cause as? HTTPClientError {
      case .invalidProxyResponse?: (UpstreamError.Kind.unreachable, "the proxy refuses the tunnel (CONNECT)")
      case .proxyAuthenticationRequired?:
        (.unreachable, "the proxy requires another user and password (--proxy-user)")
      default: (error.kind, error.message)
      }
    return UpstreamError(
      kind, "through the proxy \(proxy.host):\(proxy.port): \(message)", cause: error.cause)
  }
}
