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

  /// The cipher for a store with this secret.
  ///
  /// - Throws: `CacheError.unavailable` without the trait `Crypto`; what the caller's function throws.
  public func cipher(secret: [UInt8]) throws(CacheError) -> any CacheCipher { try makeCipher(secret) }
}

/// A finding about the encryption of a directory, made when it was opened.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum EncryptionNotice: Sendable, Hashable, CustomStringConvertible {
  /// Responses were encrypted with another key, or a key is needed and none was given. They are not found, and
  /// stay until they are evicted. At most 10,000 are counted.
  case otherKey(responses: Int)
  /// Responses were stored in plain text. They were removed, and their bytes in the index were overwritten.
  case removedPlain(responses: Int)

  /// The notice as a sentence.
  public var description: String {
    switch self {
    case .otherKey(let count):
      "\(Self.text(count)) \(count == 1 ? "is" : "are") in the directory encrypted with another key; with this one, or with none, they are not found"
    case .removedPlain(let count):
      "\(Self.text(count)) lay in the directory unencrypted and \(count == 1 ? "was" : "were") removed"
    }
  }

  private static func text(_ count: Int) -> String {
    switch count {
    case 1: "1 response"
    case 10_000...: "10000 responses or more"
    default: "\(count) responses"
    }
  }
}
