import HTTPCacheSemantics

#if Crypto
  import Crypto
#endif

/// Digests of request fields that must never be stored in plain text.
enum SecretDigester {
  /// A digest under `key`: HMAC-SHA-256, or none if the trait `Crypto` is off.
  static func make(key: [UInt8]) -> SecretDigest {
    #if Crypto
      let key = SymmetricKey(data: key)
      return { value in
        Array(HMAC<SHA256>.authenticationCode(for: Array(value.utf8), using: key))
      }
    #else
      return { _ in nil }
    #endif
  }
}
