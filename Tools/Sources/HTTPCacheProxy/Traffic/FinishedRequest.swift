/// A request that was answered.
public struct FinishedRequest: Sendable, Hashable {
  /// The client's address; `-` if unknown.
  public let client: String
  /// The method.
  public let method: String
  /// The host that the client asked for; empty if unknown.
  public let host: String
  /// The target as the client sent it.
  public let target: String
  /// The status of the response.
  public let status: Int
  /// The bytes of the body that were sent.
  public let bytes: Int64
  /// The time from the head of the request to the end of the response, in microseconds.
  public let microseconds: Int64
  /// One word, as in the access log.
  public let outcome: String
  /// Why the response was not stored; nil if it was, or came from the cache.
  public let refusal: String?
  /// Why the request was refused; nil if it was not.
  public let reason: String?

  init(_ entry: AccessLog.Entry) {
    client = entry.client
    method = entry.method
    host = entry.host
    target = entry.target
    status = entry.status
    bytes = entry.bytes
    microseconds = entry.microseconds
    outcome = entry.outcome
    refusal = entry.refusal
    reason = entry.reason
  }
}
