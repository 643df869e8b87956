import HTTPCacheSemantics
import HTTPTypes

/// The requests for a key that get the same answer to whether their response can be shared: a response to a request with
/// credentials may be refused where another one is not (RFC 9111 §3.5).
struct RequestSort: Sendable, Hashable {
  let key: CacheKey
  let hasCredentials: Bool

  init(_ exchange: Exchange) {
    key = exchange.key
    let fields = exchange.request.headerFields
    hasCredentials = fields[.authorization] != nil || fields[.cookie] != nil
  }
}

extension StorageRefusal {
  /// Whether the next response to such a request will be refused, too: the tier need not be asked for it. False for
  /// what one request, one failure or the state of this node caused.
  var isLasting: Bool {
    switch self {
    case .statusNotUnderstood, .responseNoStore, .noStoreDespiteOverride, .privateInShared, .authorized,
      .setCookie, .credentials, .clientError, .neverReusable, .varyAny, .varySecret, .malformed, .override,
      .upstream, .hook, .memoryOnly, .tooLarge:
      true
    case .notCacheable(let status): status < 500
    case .method, .interim, .statusNotStored, .requestNoStore, .redirectToItself, .partialContent,
      .content, .clearsSite,
      .digestMismatch, .insteadOfStored, .policy, .notAdmitted, .superseded, .wiped, .hookFailed,
      .hookTimedOut,
      .incomplete, .storeFailed:
      false
    }
  }
}
