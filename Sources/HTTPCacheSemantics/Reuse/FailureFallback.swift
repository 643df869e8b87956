/// The decision after the origin failed (RFC 9111 §4.2.4, RFC 5861 §4).
public enum FailureFallback: Sendable, Hashable {
  /// Use the stored response.
  case useStale(StaleAllowance)
  /// Return the failure.
  case fail(FallbackRefusal)
}
