import HTTPCacheSemantics

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
      .digestMismatch, .insteadOfStored, .policy, .notAdmitted, .superseded, .hookFailed, .hookTimedOut,
      .incomplete, .storeFailed:
      false
    }
  }
}
