/// An answer of the admin listener.
public struct AdminResponse: Sendable {
  /// The status code.
  public var status: Int
  /// The type of the body.
  public var contentType: String
  /// The body.
  public var body: String

  /// Makes an answer.
  public init(status: Int = 200, contentType: String = "text/plain; charset=utf-8", body: String) {
    self.status = status
    self.contentType = contentType
    self.body = body
  }
}
