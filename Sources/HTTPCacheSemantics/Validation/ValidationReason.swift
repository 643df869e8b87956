public import HTTPTypes

/// Why a stored response must be validated before it is used.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ValidationReason: Reason, Hashable {
  /// Its age has reached its lifetime (§4.2).
  case stale(age: Duration, lifetime: Duration)
  /// The response said `no-cache` (§5.2.2.4).
  case responseNoCache
  /// The request said `no-cache` (§5.2.1.4).
  case requestNoCache
  /// The request said `Pragma: no-cache` and had no `Cache-Control` (§5.4).
  case pragmaNoCache
  /// The request's `max-age` is exceeded (§5.2.1.1).
  case requestMaxAge(Duration, age: Duration)
  /// The request's `min-fresh` is not met (§5.2.1.3).
  case requestMinFresh(Duration, remaining: Duration)
  /// The request's policy demands it.
  case policy(CachePolicy)
  /// It was stored for other values of the nominated fields, and the origin was asked whether its
  /// strong entity tag is that of this request's representation (§4.1).
  case variantMismatch([HTTPField.Name])
  /// An unsafe request or a purge marked it (§4.4).
  case invalidated
}
