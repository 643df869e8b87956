public import HTTPTypes

/// The head of a response as it arrived, and the times that its age is counted from (RFC 9111 §4.2.3).
public struct ReceivedResponse: Sendable, Hashable {
  /// The head.
  public var head: HTTPResponse
  /// When the request was sent.
  public var requestTime: Timestamp
  /// When the head arrived.
  public var responseTime: Timestamp

  /// Makes a response.
  ///
  /// - Parameters:
  ///   - head: the head as it arrived.
  ///   - requestTime: when the request was sent.
  ///   - responseTime: when the head arrived.
  public init(_ head: HTTPResponse, requestTime: Timestamp, responseTime: Timestamp) {
    self.head = head
    self.requestTime = requestTime
    self.responseTime = responseTime
  }
}
