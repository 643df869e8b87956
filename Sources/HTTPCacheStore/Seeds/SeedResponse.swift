public import HTTPCacheSemantics

/// One complete response of a `SeedSource`.
public struct SeedResponse: Sendable {
  /// The normalised target URI that it answers.
  public let target: String
  /// Status, fields and times.
  public let response: StoredResponse
  /// The length of the body in bytes.
  public let bodyLength: Int64
  /// Opens the body.
  public let body: any StoredBody
  /// The path of the file that holds exactly the body's bytes; nil if there is none.
  public let bodyPath: String?

  /// Makes a response.
  public init(
    target: String, response: StoredResponse, bodyLength: Int64, body: any StoredBody, bodyPath: String?
  ) {
    self.target = target
    self.response = response
    self.bodyLength = bodyLength
    self.body = body
    self.bodyPath = bodyPath
  }
}
