public import HTTPTypes

/// The origin's answer.
public struct UpstreamResponse: Sendable {
  /// Status and fields.
  public var head: HTTPResponse
  /// The body; its trailers are there after its end. It throws `UpstreamError` when it is cut
  /// short, so that nothing incomplete passes for complete.
  public var body: MessageBody
  /// Whether the upstream took off the content coding that the fields still tell of.
  public var isContentDecoded: Bool

  /// Makes a response.
  public init(head: HTTPResponse, body: MessageBody, isContentDecoded: Bool = false) {
    self.head = head
    self.body = body
    self.isContentDecoded = isContentDecoded
  }
}
