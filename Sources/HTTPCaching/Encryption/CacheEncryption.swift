public import HTTPCacheSealing
public import HTTPCacheStore

/// How the directory of a cache is encrypted (`HTTPCache.Configuration.encryption`).
public struct CacheEncryption: Sendable {
  private let makeCipher: @Sendable ([UInt8]) throws(CacheError) -> any CacheCipher

  /// AES-256 in Galois/Counter mode, with keys derived from this one and the directory (trait `Crypto`).
  public static func key(_ key: EncryptionKey) -> CacheEncryption {
    CacheEncryption { (secret) throws(CacheError) in
      #if Crypto
        return AESGCMCipher(key: key, secret: secret)
      #else
        throw CacheError(.unavailable, "there is no encryption without the trait Crypto")
      #endif
    }
  }

  /// A cipher that the caller provides.
  ///
  /// - Parameter make: makes the cipher for a directory. Its keys should depend on the directory's random
  ///   `secret` of 32 bytes, which any program that can read the directory knows.
  public static func cipher(
    _ make: @escaping @Sendable (_ secret: [UInt8]) throws(CacheError) -> any CacheCipher
  ) -> CacheEncryption {
    CacheEncryption(makeCipher: make)
  }

  private init(makeCipher: @escaping @Sendable ([UInt8]) throws(CacheError) -> any CacheCipher) {
    self.makeCipher = makeCipher
  }

  /// The cipher for a store with this secret.
  ///
  /// - Throws: `CacheError.unavailable` without the trait `Crypto`; what the caller's function throws.
  public func cipher(secret: [UInt8]) throws(CacheError) -> any CacheCipher { try makeCipher(secret) }
}
