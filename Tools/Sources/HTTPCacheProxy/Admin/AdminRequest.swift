/// A request to the admin listener.
public struct AdminRequest: Sendable {
  /// The method.
  public let method: String
  /// The request target as received: a path with its query, or a URI.
  public let target: String
  /// Whether the request has the token. False if the listener has no token.
  public let hasToken: Bool

  /// Makes a request.
  public init(method: String, target: String, hasToken: Bool) {
    self.method = method
    self.target = target
    self.hasToken = hasToken
  }
}
