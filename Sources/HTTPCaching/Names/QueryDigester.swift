import HTTPCacheStore

#if Crypto
  import Crypto
#endif

/// Digests of the content of a QUERY, for its key (RFC 10008 §2.7).
enum QueryDigester {
  /// Whether the trait `Crypto` is on.
  static var isAvailable: Bool {
    #if Crypto
      true
    #else
      false
    #endif
  }

  /// SHA-256 of metadata and content; nil where the trait `Crypto` is off.
  static func digest(metadata: [UInt8], content: BodyBytes) -> [UInt8]? {
    #if Crypto
      var hash = SHA256()
      // Hash the length first, so that metadata cannot pass for content.
      withUnsafeBytes(of: UInt64(metadata.count).littleEndian) { hash.update(bufferPointer: $0) }
      hash.update(data: metadata)
      content.withUnsafeBytes { hash.update(bufferPointer: $0) }
      return Array(hash.finalize())
    #else
      nil
    #endif
  }
}
