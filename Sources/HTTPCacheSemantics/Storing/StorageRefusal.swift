public import HTTPTypes

/// Why a response is not stored.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum StorageRefusal: Reason, Error, Hashable {
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
  /// A redirect to another spelling of its own target, which has the same key (RFC 9110 §4.2.3).
  case redirectToItself
  /// The request had a range and the answer is not complete.
  case partialContent
  /// The content of a QUERY cannot be part of a key (RFC 10008 §2.7), or a GET or HEAD has content
  /// (RFC 9110 §9.3.1).
  case content(ContentObstacle)
  /// The response asks to clear the cache (W3C Clear Site Data).
  case clearsSite
  /// The content or the representation does not match its digest (RFC 9530 §2, §3).
  case digestMismatch(algorithm: String)
  /// An answer in place of the resource, which says neither that the resource changed nor that it is gone: a client
  /// error or a redirect for now that is not fresh, the page of a captive portal, or a success without a representation
  /// where the rest of a part was asked for. The stored response stays
  /// (`docs/decisions/0053-the-last-known-answer-stays.md`).
  case insteadOfStored(status: Int)
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
  /// The partition was wiped while the response was on its way.
  case wiped
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

extension StorageRefusal {
  /// A few words for people.
  public var description: String {
    switch self {
    case .method(let method): "responses to \(method) are not stored"
    case .interim: "interim response"
    case .statusNotUnderstood(let code): "must-understand with status \(code)"
    case .statusNotStored(let code): "status \(code) is never stored"
    case .responseNoStore: "no-store"
    case .noStoreDespiteOverride(let override): "no-store, which \(override) matches and does not lift"
    case .requestNoStore: "no-store in the request"
    case .privateInShared: "private"
    case .authorized: "Authorization in the request and nothing that allows sharing"
    case .setCookie: "Set-Cookie in a shared cache"
    case .credentials: "Cookie or Authorization in the request, and no lifetime to be sure of"
    case .clientError(let code): "status \(code), which a field of the request may have caused"
    case .notCacheable(let status): "status \(status) without explicit lifetime"
    case .neverReusable: "no lifetime and no validator"
    case .varyAny: "Vary: *"
    case .varySecret(let name): "Vary names \(name), which is secret"
    case .malformed(let field): "malformed \(field)"
    case .redirectToItself: "a redirect to another spelling of its target"
    case .partialContent: "partial content"
    case .content(let obstacle): obstacle.description
    case .clearsSite: "Clear-Site-Data"
    case .digestMismatch(let algorithm): "the body does not match its \(algorithm) digest"
    case .insteadOfStored(status: 200): "it looks like the page of a captive portal"
    case .insteadOfStored(let status): "status \(status), which does not replace the stored response"
    case .override: "an override says never to store it"
    case .policy: "policy bypass"
    case .tooLarge(let limit): "larger than \(limit) bytes"
    case .notAdmitted: "the cache is full, and the entries to evict are worth more"
    case .superseded: "a more recent response was stored in the meantime"
    case .wiped: "the partition was wiped in the meantime"
    case .upstream: "the upstream forbids it"
    case .hook: "refused by willStore"
    case .hookFailed: "willStore failed"
    case .hookTimedOut: "willStore did not return in time"
    case .memoryOnly: "willStore allows memory only, and the cache has no memory tier"
    case .incomplete: "the transfer ended early"
    case .storeFailed: "the store failed"
    }
  }

  /// The section.
  public var section: String {
    switch self {
    case .method(.post): "RFC 9110 §9.3.3"
    case .method: "RFC 9110 §9.2.3"
    case .superseded: "RFC 9111 §4"
    case .interim, .notCacheable, .neverReusable: "RFC 9111 §3"
    case .statusNotUnderstood: "RFC 9111 §5.2.2.3"
    case .statusNotStored(304): "RFC 9111 §4.3.4"
    case .statusNotStored(428): "RFC 6585 §3"
    case .statusNotStored(429): "RFC 6585 §4"
    case .statusNotStored(431): "RFC 6585 §5"
    case .statusNotStored(511): "RFC 6585 §6"
    case .statusNotStored: "RFC 9111 §3"
    case .responseNoStore, .noStoreDespiteOverride: "RFC 9111 §5.2.2.5"
    case .requestNoStore: "RFC 9111 §5.2.1.5"
    case .privateInShared: "RFC 9111 §5.2.2.7"
    case .authorized: "RFC 9111 §3.5"
    case .setCookie: "RFC 9111 §7.3"
    case .credentials: "RFC 9111 §4.2.2"
    case .clientError(501): "RFC 9110 §15.6.2"
    case .clientError: "RFC 9110 §15.5"
    case .varyAny, .malformed: "RFC 9111 §4.1"
    case .varySecret: "RFC 9111 §7.3"
    case .redirectToItself: "RFC 9110 §4.2.3"
    case .partialContent, .incomplete: "RFC 9111 §3.3"
    case .content(let obstacle): obstacle.section
    case .insteadOfStored(status: 200): "RFC 6585 §6"
    case .insteadOfStored(let status) where status < 300: "RFC 9110 §15.3"
    case .insteadOfStored: "RFC 9110 §15.5"
    case .clearsSite: "W3C Clear Site Data"
    case .digestMismatch: "RFC 9530 §1.2"
    case .override, .policy, .tooLarge, .notAdmitted, .wiped, .upstream, .hook, .hookFailed, .hookTimedOut,
      .memoryOnly, .storeFailed:
      ""
    }
  }

  /// A token for the detail of `Cache-Status`.
  var token: String {
    switch self {
    case .method: "method"
    case .interim: "interim"
    case .statusNotUnderstood: "must-understand"
    case .statusNotStored: "status"
    case .responseNoStore: "no-store"
    case .noStoreDespiteOverride: "no-store-despite-override"
    case .requestNoStore: "request-no-store"
    case .privateInShared: "private"
    case .authorized: "authorization"
    case .setCookie: "set-cookie"
    case .credentials: "credentials"
    case .clientError: "client-error"
    case .notCacheable: "not-cacheable"
    case .neverReusable: "never-reusable"
    case .varyAny: "vary"
    case .varySecret: "vary-secret"
    case .malformed: "malformed"
    case .redirectToItself: "redirect-to-itself"
    case .partialContent: "partial-content"
    case .content(.tooLarge): "content-too-large"
    case .content(.noDigest): "no-content-digest"
    case .content(.undefinedSemantics): "content"
    case .clearsSite: "clear-site-data"
    case .digestMismatch: "digest-mismatch"
    case .policy: "policy"
    case .insteadOfStored: "instead-of-stored"
    case .override: "override"
    case .tooLarge: "too-large"
    case .upstream: "upstream"
    case .hook: "hook"
    case .hookFailed: "hook-failed"
    case .hookTimedOut: "hook-timed-out"
    case .memoryOnly: "memory-only"
    case .notAdmitted: "not-admitted"
    case .superseded: "superseded"
    case .wiped: "wiped"
    case .incomplete: "incomplete"
    case .storeFailed: "store-failed"
    }
  }
}
