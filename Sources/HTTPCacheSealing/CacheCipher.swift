public import HTTPCacheStore

/// Encrypts the data that a `SealedStore` gives to the store below it, and detects changes of it.
///
/// A cipher belongs to one store: its keys should depend on that store's `secret`, so that data of one
/// directory cannot be decrypted in another.
public protocol CacheCipher: Sendable {
  /// Identifies the cipher's key without revealing it: 8 to 64 bytes, constant. Data sealed by a cipher with
  /// another `keyID` is left alone.
  var keyID: [UInt8] { get }

  /// The number of bytes that sealing adds, for example a nonce and a tag: 16 to 1,024, constant. 28 for
  /// AES-GCM.
  var overhead: Int { get }

  /// Encrypts bytes, with a different result each time, so that equal contents cannot be recognised.
  ///
  /// - Parameters:
  ///   - bytes: the plain bytes.
  ///   - purpose: the kind of data; each kind has its own key.
  ///   - context: authenticated but not stored; must be equal when the bytes are opened.
  ///   - output: receives the result, which fills it: `overhead` bytes longer than `bytes`.
  /// - Throws: `CacheError`; nothing is stored then.
  func seal(
    _ bytes: UnsafeRawBufferPointer, for purpose: SealPurpose, context: [UInt8],
    into output: UnsafeMutableRawBufferPointer
  ) throws(CacheError)

  /// Decrypts what `seal` made.
  ///
  /// - Parameters:
  ///   - sealed: the result of `seal`.
  ///   - purpose: the purpose given to `seal`.
  ///   - context: the context given to `seal`.
  ///   - output: receives the result: `overhead` bytes shorter than `sealed`.
  /// - Throws: `CacheError.damaged` if the data was changed, or has another purpose or context: the caller then
  ///   removes it. Any other code if this cannot be decided now. `output` is not used after an error.
  func open(
    _ sealed: UnsafeRawBufferPointer, for purpose: SealPurpose, context: [UInt8],
    into output: UnsafeMutableRawBufferPointer
  ) throws(CacheError)

  /// A keyed digest, such as HMAC-SHA-256: without the key, it can neither be computed nor compared with
  /// guesses. The first 16 bytes are used.
  func digest(_ bytes: [UInt8]) -> [UInt8]
}

/// The kind of data that is sealed.
public enum SealPurpose: Sendable, Hashable {
  /// A record.
  case record
  /// A chunk of a body.
  case body
}

extension CacheCipher {
  private static var keyIDLengths: ClosedRange<Int> { 8...64 }

  /// Checks that a store can use the cipher.
  ///
  /// - Throws: `CacheError.unavailable`.
  func requireLengths() throws(CacheError) {
    guard Self.keyIDLengths.contains(keyID.count) else {
      throw CacheError(.unavailable, "the cipher's keyID has \(keyID.count) bytes, not 8 to 64")
    }
    guard SealedLayout.overheads.contains(overhead) else {
      throw CacheError(.unavailable, "the cipher's overhead is \(overhead) bytes, not 16 to 1024")
    }
    let count = digest([]).count
    guard count >= SealedNames.digestLength else {
      throw CacheError(.unavailable, "the cipher's digests have \(count) bytes, less than 16")
    }
  }

  /// Seals an array.
  package func seal(
    _ bytes: [UInt8], for purpose: SealPurpose, context: [UInt8]
  ) throws(CacheError) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: bytes.count + overhead)
    try output.withUnsafeMutableBufferPointer { (buffer) throws(CacheError) in
      try bytes.withUnsafeBufferPointer { [buffer] (input) throws(CacheError) in
        try seal(
          UnsafeRawBufferPointer(input), for: purpose, context: context,
          into: UnsafeMutableRawBufferPointer(buffer))
      }
    }
    return output
  }

  /// Opens an array.
  package func open(
    _ sealed: [UInt8], for purpose: SealPurpose, context: [UInt8]
  ) throws(CacheError) -> [UInt8] {
    guard sealed.count >= overhead else {
      throw CacheError(.damaged, "sealed: \(sealed.count) bytes")
    }
    var output = [UInt8](repeating: 0, count: sealed.count - overhead)
    try output.withUnsafeMutableBufferPointer { (buffer) throws(CacheError) in
      try sealed.withUnsafeBufferPointer { [buffer] (input) throws(CacheError) in
        try open(
          UnsafeRawBufferPointer(input), for: purpose, context: context,
          into: UnsafeMutableRawBufferPointer(buffer))
      }
    }
    return output
  }
}
