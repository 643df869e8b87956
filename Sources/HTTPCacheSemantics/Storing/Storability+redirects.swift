import HTTPTypes

extension Storability {
  /// Whether a redirect leads to another spelling of its own target, such as `/~u` for `/%7Eu`. Both have one key
  /// (RFC 9110 §4.2.3): if it were stored, it would also answer each request that follows it.
  static func redirectsToItself(_ request: HTTPRequest, _ response: HTTPResponse) -> Bool {
    switch response.status.code {
    case 301, 302, 303, 307, 308: break
    default: return false
    }
    guard let location = response.headerFields.first(.location)?.value,
      let target = CacheKey.target(of: request),
      TargetURI.resolved(location, against: target) == target
    else { return false }
    return !location.prefix { $0 != "#" }.hasSuffix(request.path ?? "/")
  }
}
