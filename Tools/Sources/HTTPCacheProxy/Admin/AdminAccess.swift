import HTTPTypes

/// Which requests the admin listener answers.
public struct AdminAccess: Sendable {
  /// The least number of bytes of a token.
  public static let shortestToken = 16

  private let token: BearerToken?
  private let open: Set<String>

  /// Makes rules.
  ///
  /// - Parameters:
  ///   - token: every request but those for `open` must send it; nil allows requests without a token, but no
  ///     changes.
  ///   - open: the paths that need no token, besides the health checks: those of pages without data.
  public init(token: String?, open: Set<String> = []) {
    self.token = token.map { BearerToken($0) }
    self.open = open
  }

  /// Whether requests must send a token.
  public var requiresToken: Bool { token != nil }

  /// Requires the token of other rules from now on.
  ///
  /// - Returns: false, without a change, if one of them has a token and the other has none.
  public func takeToken(of other: AdminAccess) -> Bool {
    guard let token, let new = other.token else { return token == nil && other.token == nil }
    token.replace(with: new)
    return true
  }

  /// Whether a request has the token.
  ///
  /// - Parameter authorization: the value of `Authorization`.
  func hasToken(_ authorization: String?) -> Bool {
    token?.isIn(authorization) ?? false
  }

  /// The refusal of a request; nil if it may be answered.
  ///
  /// - Parameters:
  ///   - host: the value of `Host`. Without a token it must be an address or `localhost`: a page on the web can make a
  ///     browser on this machine send requests for a name that resolves to 127.0.0.1.
  func refusal(of request: AdminRequest, host: String?) -> AdminResponse? {
    let path = request.target.prefix { $0 != "?" }
    if path == "/healthz" || path == "/readyz" { return nil }
    guard token == nil else {
      if open.contains(String(path)) { return nil }
      return request.hasToken ? nil : AdminResponse(status: 401, body: "401: the token is missing or wrong\n")
    }
    guard let name = host.flatMap({ Authority($0) })?.host, name == "localhost" || IPAddress(name) != nil
    else {
      return AdminResponse(status: 403, body: "403: without a token, Host must be an address or localhost\n")
    }
    return nil
  }
}
