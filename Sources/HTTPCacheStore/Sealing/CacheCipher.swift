/// Keeps secret what a `SealedStore` gives to the store below it, and tells whether it comes back as it was.
///
/// One cipher belongs to one store: its keys should depend on that store's `secret`, so that nothing of
/// one directory opens in another.
public protocol CacheCipher: Sendable {
  /// Tells keys apart without telling anything of them; 8 bytes, the same each time. What was sealed by a
  /// cipher with another one is left alone.
  var keyID: [UInt8] { get }

  /// Seals bytes: a nonce of 12 bytes, different each time; the ciphertext, which is as long as the bytes;
  /// a tag of 16 bytes.
  ///
  /// - Parameters:
  ///   - bytes: what is sealed.
  ///   - purpose: what it is; each has a key of its own.
  ///   - context: what it belongs to. It is not stored, and has to be the same when it is opened.
  ///   - output: where the result goes: 28 bytes longer than `bytes`.
  /// - Throws: `CacheError`; nothing is stored then.
  func seal(
    _ bytes: UnsafeRawBufferPointer, for purpose: SealPurpose, context: [UInt8],
    into output: UnsafeMutableRawBufferPointer
  ) throws(CacheError)

  /// Opens what `seal` made.
  ///
  /// - Parameters:
  ///   - sealed: what `seal` made.
  ///   - purpose: what it was sealed for.
  ///   - context: what it belongs to, as when it was sealed.
  ///   - output: where the result goes: 28 bytes shorter than `sealed`.
  /// - Throws: `CacheError.damaged` if it is not what was sealed, or not for this purpose and context: it is
  ///   removed then; any other code where it cannot be told now. Nothing of `output` is used then.
  func open(
    _ sealed: UnsafeRawBufferPointer, for purpose: SealPurpose, context: [UInt8],
    into output: UnsafeMutableRawBufferPointer
  ) throws(CacheError)

  /// A digest of 32 bytes that nobody can compute or test guesses with who has no key, such as
  /// HMAC-SHA-256.
  func digest(_ bytes: [UInt8]) -> [UInt8]
}

/// What is sealed.
public enum SealPurpose: Sendable, Hashable {
  /// Everything but the body.
  case record
  /// A chunk of a body.
  case body
}

extension CacheCipher {
  /// Seals an array.
  func seal(
    _ bytes: [UInt8], for purpose: SealPurpose, context: [UInt8]
  ) throws(CacheError) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: bytes.count + SealedLayout.overhead)
    var failure: CacheError?
    bytes.withUnsafeBytes { input in
      output.withUnsafeMutableBytes { buffer in
        do throws(CacheError) {
          try seal(input, for: purpose, context: context, into: buffer)
        } catch { failure = error }
      }
    }
    if let failure { throw failure }
    return output
  }

  /// Opens an array.
  func open(
    _ sealed: [UInt8], for purpose: SealPurpose, context: [UInt8]
  ) throws(CacheError) -> [UInt8] {
    guard sealed.count >= SealedLayout.overhead else {
      throw CacheError(.damaged, "sealed: \(sealed.count) bytes")
    }
    var output = [UInt8](repeating: 0, count: sealed.count - SealedLayout.overhead)
    var failure: CacheError?
    sealed.withUnsafeBytes { input in
      output.withUnsafeMutableBytes { buffer in
        do throws(CacheError) {
          try open(input, for: purpose, context: context, into: buffer)
        } catch { failure = error }
      }
    }
    if let failure { throw failure }
    return output
  }
}
