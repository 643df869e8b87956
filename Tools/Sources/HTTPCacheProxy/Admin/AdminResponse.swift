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
