import HTTPTypes

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
    case .partialContent: "partial content"
    case .content(let obstacle): obstacle.description
    case .clearsSite: "Clear-Site-Data"
    case .digestMismatch(let algorithm): "the body does not match its \(algorithm) digest"
    case .override: "an override says never to store it"
    case .policy: "policy bypass"
    case .tooLarge(let limit): "larger than \(limit) bytes"
    case .notAdmitted: "the cache is full, and the entries to evict are worth more"
    case .superseded: "a more recent response was stored in the meantime"
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
    case .partialContent, .incomplete: "RFC 9111 §3.3"
    case .content(let obstacle): obstacle.section
    case .clearsSite: "W3C Clear Site Data"
    case .digestMismatch: "RFC 9530 §1.2"
    case .override, .policy, .tooLarge, .notAdmitted, .upstream, .hook, .hookFailed, .hookTimedOut,
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
    case .partialContent: "partial-content"
    case .content(.tooLarge): "content-too-large"
    case .content(.noDigest): "no-content-digest"
    case .content(.undefinedSemantics): "content"
    case .clearsSite: "clear-site-data"
    case .digestMismatch: "digest-mismatch"
    case .policy: "policy"
    case .override: "override"
    case .tooLarge: "too-large"
    case .upstream: "upstream"
    case .hook: "hook"
    case .hookFailed: "hook-failed"
    case .hookTimedOut: "hook-timed-out"
    case .memoryOnly: "memory-only"
    case .notAdmitted: "not-admitted"
    case .superseded: "superseded"
    case .incomplete: "incomplete"
    case .storeFailed: "store-failed"
    }
  }
}
