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

/// An answer of the admin listener.
public struct AdminResponse: Sendable {
  /// The status code.
  public var status: Int
  /// The type of the body.
  public var contentType: String
  /// The body; its first part if there is more.
  public var body: String
  /// The rest of the body, sent as it comes; nil if `body` is all of it.
  public var rest: AsyncStream<String>?
  /// `Content-Security-Policy`; nil for none.
  public var contentSecurityPolicy: String?
  /// `Allow`; nil for none.
  public var allow: String?

  /// Makes an answer.
  public init(
    status: Int = 200, contentType: String = "text/plain; charset=utf-8", body: String,
    rest: AsyncStream<String>? = nil
  ) {
    self.status = status
    self.contentType = contentType
    self.body = body
    self.rest = rest
  }
}
