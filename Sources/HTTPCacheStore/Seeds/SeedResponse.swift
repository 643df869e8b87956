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
  /// Other normalised target URIs that the source answers with this response. They are not in the list of the source
  /// themselves: a copy of the list in another form needs them.
  public var otherTargets: [String] = []

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

  /// This response for other targets.
  ///
  /// - Parameter targets: not empty; the first becomes `target`.
  public func answering(_ targets: [String]) -> SeedResponse {
    var other = SeedResponse(
      target: targets.first ?? target, response: response, bodyLength: bodyLength, body: body,
      bodyPath: bodyPath)
    other.otherTargets = Array(targets.dropFirst())
    return other
  }
}
