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
}
