public import HTTPTypes

/// Why a response is not stored.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum StorageRefusal: Reason, Hashable {
  /// The method's responses are not cacheable (RFC 9110 §9.2.3).
  case method(HTTPRequest.Method)
  /// A 1xx status.
  case interim
  /// `must-understand` or the status requires understanding that this cache lacks (§5.2.2.3).
  case statusNotUnderstood(Int)
  /// 206 or 304, which this cache uses but does not store.
  case statusNotStored(Int)
  /// The response said `no-store` (§5.2.2.5).
  case responseNoStore
  /// The response said `no-store` (§5.2.2.5), and an override that asks to keep it does not lift that: it does
  /// not ignore `no-store`, or the cache is shared and nothing says `sharingDespite`.
  ///
  /// - Parameter override: the number of the last such override, and its name or its targets.
  case noStoreDespiteOverride(override: String)
  /// The request said `no-store` (§5.2.1.5).
  case requestNoStore
  /// The response said `private` and the cache is shared (§5.2.2.7).
  case privateInShared
  /// The request had `Authorization`, the cache is shared, nothing allows it (§3.5).
  case authorized
  /// It sets a cookie, the cache is shared, and the response does not say `public`; or
  /// `CacheRules.refusesSetCookie` is on (§7.3).
  case setCookie
  /// The request had `Cookie` or `Authorization`, the cache is shared, and the origin gives neither a lifetime nor
  /// `public`: nothing may be guessed then (§4.2.2).
  case credentials
  /// An error that a field of the request may have caused, and `CacheRules.refusesClientErrors` is on.
  case clientError(Int)
  /// Nothing makes it cacheable: no explicit lifetime, not heuristically cacheable (§3).
  case notCacheable(status: Int)
  /// It could never be reused: no lifetime and no validator.
  case neverReusable
  /// `Vary: *` can never match (§4.1).
  case varyAny
  /// `Vary` nominates a secret field and no digest is available.
  case varySecret(HTTPField.Name)
  /// A field is malformed in a way that makes storing unsafe.
  case malformed(String)
  /// The request had a range and the answer is not complete.
  case partialContent
  /// The content of a QUERY cannot be part of a key (RFC 10008 §2.7), or a GET or HEAD has content
  /// (RFC 9110 §9.3.1).
  case content(ContentObstacle)
  /// The response asks to clear the cache (W3C Clear Site Data).
  case clearsSite
  /// The content or the representation does not match its digest (RFC 9530 §2, §3).
  case digestMismatch(algorithm: String)
  /// An override of the cache's rules forbids it.
  case `override`
  /// The request's policy was `bypass`.
  case policy
  /// Larger than the largest entry allowed, in bytes.
  case tooLarge(limit: Int64)
  /// The store is full, and the entries that it would displace are worth more.
  case notAdmitted
  /// A more recent response was stored while this one was on its way (§4).
  case superseded
  /// The upstream says that it must not be stored, whatever its fields say.
  case upstream
  /// The `willStore` hook returned nil, or `notAllowed`.
  case hook
  /// The `willStore` hook threw.
  case hookFailed
  /// The `willStore` hook did not return in time.
  case hookTimedOut
  /// The `willStore` hook allows memory only, and the cache has no memory tier.
  case memoryOnly
  /// The transfer ended before the body was complete.
  case incomplete
  /// The store failed; an event tells why.
  case storeFailed
}
