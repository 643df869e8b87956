/// How a request to the origin failed (RFC 9111 §4.2.4, §4.3.3).
public enum FailureKind: Sendable, Hashable {
  /// No answer, or none in time: the cache is disconnected.
  case unreachable
  /// An answer that broke the protocol or cannot be trusted; a gateway answers 502 then.
  case badGateway
  /// An answer with this status: a 5xx, or a status that the policy counts as a failure.
  case status(Int)
}
