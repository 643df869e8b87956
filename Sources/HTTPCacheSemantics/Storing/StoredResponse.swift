public import HTTPTypes

/// A stored response as the rules see it: no body, no place, no clock.
public struct StoredResponse: Sendable, Hashable {
  /// The method of the request it answered.
  public var requestMethod: HTTPRequest.Method
  /// The request fields that `Vary` nominated, with their values.
  public var nominated: [NominatedField]
  /// Status and fields, without those that must not be stored (RFC 9111 §3.1).
  public var head: HTTPResponse
  /// Trailer fields, kept apart from the header (RFC 9110 §6.5.1).
  public var trailers: HTTPFields
  /// When the request was sent.
  public var requestTime: Timestamp
  /// When the response arrived.
  public var responseTime: Timestamp
  /// Whether the request carried `Authorization` (RFC 9111 §3.5).
  public var answeredAuthorized: Bool
  /// Whether the content coding was removed from the body before storing.
  public var isDecoded: Bool
  /// Whether it was invalidated: it is validated before any reuse (RFC 9111 §4.4).
  public var isInvalidated: Bool
  /// The request's `Range`, kept if the stored part is not what its `Content-Range` announced: only a request
  /// with this `Range` gets the part again. Otherwise nil.
  public var requestedRange: String?
  /// The facts about reuse that follow from the properties above.
  public var facts: ReuseFacts
  /// Equal for equal overrides that changed the key; 0 if the key has the requested target.
  public var keyFingerprint: UInt64

  /// Makes a stored response without trailers that no override affects; `StoredResponse.make` derives one from
  /// an exchange.
  public init(
    requestMethod: HTTPRequest.Method, nominated: [NominatedField], head: HTTPResponse,
    requestTime: Timestamp, responseTime: Timestamp, facts: ReuseFacts
  ) {
    self.init(
      requestMethod: requestMethod, nominated: nominated, head: head, trailers: [:],
      requestTime: requestTime, responseTime: responseTime, answeredAuthorized: false, isDecoded: false,
      isInvalidated: false, requestedRange: nil, facts: facts, keyFingerprint: 0)
  }

  /// Makes a stored response from all its properties.
  public init(
    requestMethod: HTTPRequest.Method, nominated: [NominatedField], head: HTTPResponse,
    trailers: HTTPFields, requestTime: Timestamp, responseTime: Timestamp, answeredAuthorized: Bool,
    isDecoded: Bool, isInvalidated: Bool, requestedRange: String?, facts: ReuseFacts,
    keyFingerprint: UInt64
  ) {
    self.requestMethod = requestMethod
    self.nominated = nominated
    self.head = head
    self.trailers = trailers
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.answeredAuthorized = answeredAuthorized
    self.isDecoded = isDecoded
    self.isInvalidated = isInvalidated
    self.requestedRange = requestedRange
    self.facts = facts
    self.keyFingerprint = keyFingerprint
  }
}
