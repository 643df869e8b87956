/// How asking the origin failed (RFC 9111 §4.2.4, §4.3.3).
public enum FailureKind: Sendable, Hashable {
  /// No answer: the cache is disconnected.
  case unreachable
  /// An answer with this 5xx status.
  case serverError(Int)
}
