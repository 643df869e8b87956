/// What to do when the origin could not be asked (RFC 9111 §4.2.4, RFC 5861 §4).
public enum FailureFallback: Sendable, Hashable {
  /// Use the stored response.
  case useStale(StaleAllowance)
  /// Let the failure through.
  case fail(FallbackRefusal)
}
