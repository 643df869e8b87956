import HTTPCacheProxy
import HTTPCaching

/// The user and password of each URL that a request leads to, as curl chooses them.
struct RequestCredentials: Sendable {
  /// User and password of `-u`, which are for the first origin alone, and switch off all others.
  let given: Credentials?
  let netrc: NetrcFile?
  /// Whether `-H` sets or removes `Authorization`.
  let hasOwnField: Bool

  /// User and password of a URL: its own, with a missing password from the entry of its host and user, else those of its
  /// host.
  func credentials(of url: TargetURL) -> Credentials? {
    if let given { return given }
    guard let own = url.credentials else { return netrc?.credentials(host: url.host) }
    return url.hasPassword ? own : netrc?.credentials(host: url.host, user: own.user) ?? own
  }

  /// Adds user and password of the netrc file to a request without any, such as one that follows a redirect to another host.
  func add(to request: inout HTTPRequest) {
    guard given == nil, !hasOwnField, let netrc, request.headerFields[.authorization] == nil,
      let url = try? TargetURL(parsing: "\(request.scheme ?? "http")://\(request.authority ?? "")/"),
      let known = netrc.credentials(host: url.host)
    else { return }
    request.headerFields[.authorization] = known.basic
  }

  /// Adds user and password that `Location` names to the request that follows the redirect.
  func add(of redirect: HTTPResponse, to request: inout HTTPRequest) {
    guard given == nil, !hasOwnField, let location = redirect.headerFields[.location],
      Authority.range(in: location.utf8) != nil, let url = try? TargetURL(parsing: location),
      url.credentials != nil, let known = credentials(of: url)
    else { return }
    request.headerFields[.authorization] = known.basic
  }
}
