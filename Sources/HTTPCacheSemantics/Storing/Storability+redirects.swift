package import HTTPTypes

extension Storability {
  /// Whether a redirect leads to another spelling of its own target, such as `/~u` for `/%7Eu`. Both have one key
  /// (RFC 9110 §4.2.3): if it were stored, it would also answer each request that follows it.
  static func redirectsToItself(_ request: HTTPRequest, _ response: HTTPResponse) -> Bool {
    guard response.status.isRedirect, let location = response.headerFields.first(.location)?.value,
      let target = CacheKey.target(of: request),
      TargetURI.resolved(location, against: target) == target
    else { return false }
    return !location.prefix { $0 != "#" }.hasSuffix(request.path ?? "/")
  }
}

extension HTTPResponse.Status {
  /// Whether a client may follow the `Location` of the response (RFC 9110 §15.4).
  package var isRedirect: Bool {
    switch code {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }
}
