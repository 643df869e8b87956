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
  /// Whether the body is stored without the content coding it had on the wire.
  public var isDecoded: Bool
  /// Marked stale by a purge or an invalidation: validated before any reuse (RFC 9111 §4.4).
  public var isInvalidated: Bool
  /// The `Range` that a part was the answer to, kept where the part is not what its
  /// `Content-Range` said, so that only the same request gets it again; else nil.
  public var requestedRange: String?
  /// What follows from the above for reuse.
  public var facts: ReuseFacts
  /// Equal for equal overrides by which the key is not the target that was asked for; 0 where it is.
  public var keyFingerprint: UInt64

  /// Makes a stored response; `StoredResponse.make` derives one from an exchange.
  public init(
    requestMethod: HTTPRequest.Method, nominated: [NominatedField], head: HTTPResponse,
    trailers: HTTPFields = [:], requestTime: Timestamp, responseTime: Timestamp,
    answeredAuthorized: Bool = false, isDecoded: Bool = false, isInvalidated: Bool = false,
    requestedRange: String? = nil, facts: ReuseFacts, keyFingerprint: UInt64 = 0
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
