extension CacheStatus {
  /// A cache key for the `key` parameter (RFC 9211 §2.7): the target, preceded by the method for QUERY,
  /// followed by a digest of its content. The partition is left out because it may name an account.
  package static func key(_ key: CacheKey) -> String {
    switch key.methodClass {
    case .get, .searchRule, .pointer: key.target
    case .query: "QUERY " + key.target + " " + key.contentDigest.map(hex).joined()
    }
  }

  private static func hex(_ octet: UInt8) -> String {
    let digits = String(octet, radix: 16)
    return octet < 16 ? "0" + digits : digits
  }

  /// The allowance of a stale response, as a token.
  static func detail(_ allowance: StaleAllowance) -> String {
    switch allowance {
    case .maxStale: "max-stale"
    case .policy(let policy): policy.name
    case .whileRevalidate: "stale-while-revalidate"
    case .ifError: "stale-if-error"
    case .disconnected: "disconnected"
    }
  }

  /// Why a response was not stored, as a token.
  static func detail(_ refusal: StorageRefusal) -> String {
    switch refusal {
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
