/// What allows a stale response to be used (RFC 9111 §4.2.4).
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum StaleAllowance: Reason, Hashable {
  /// The request's `max-stale` (§5.2.1.2).
  case maxStale
  /// The request's policy.
  case policy(CachePolicy)
  /// The response's `stale-while-revalidate` (RFC 5861 §3): validate in the background.
  case whileRevalidate
  /// `stale-if-error` (RFC 5861 §4).
  case ifError
  /// The origin cannot be reached (§4.2.4).
  case disconnected
}
