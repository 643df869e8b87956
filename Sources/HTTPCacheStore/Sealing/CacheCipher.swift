/// Keeps secret what a `SealedStore` gives to the store below it, and tells whether it comes back as it was.
///
/// One cipher belongs to one store: its keys should depend on that store's `secret`, so that nothing of
/// one directory opens in another.
public protocol CacheCipher: Sendable {
  /// Tells keys apart without telling anything of them: 8 to 64 bytes, the same each time. What was sealed
  /// by a cipher with another one is left alone.
  var keyID: [UInt8] { get }

  /// How many bytes longer what is sealed is than what was to be sealed, such as a nonce and a tag: 16 to
  /// 1,024, the same each time. 28 in AES-GCM.
  var overhead: Int { get }

  /// Seals bytes, in another way each time, so that nobody can tell that two are the same.
  ///
  /// - Parameters:
  ///   - bytes: what is sealed.
  ///   - purpose: what it is; each has a key of its own.
  ///   - context: what it belongs to. It is not stored, and has to be the same when it is opened.
  ///   - output: where the result goes: `overhead` bytes longer than `bytes`. All of it is used.
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
  ///   - output: where the result goes: `overhead` bytes shorter than `sealed`.
  /// - Throws: `CacheError.damaged` if it is not what was sealed, or not for this purpose and context: it is
  ///   removed then; any other code where it cannot be told now. Nothing of `output` is used then.
  func open(
    _ sealed: UnsafeRawBufferPointer, for purpose: SealPurpose, context: [UInt8],
    into output: UnsafeMutableRawBufferPointer
  ) throws(CacheError)

  /// A digest that nobody can compute or test guesses with who has no key, such as HMAC-SHA-256. Of its
  /// bytes the first 16 are used.
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
  private static var keyIDLengths: ClosedRange<Int> { 8...64 }

  /// Makes sure that a store can be sealed with it.
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
  func seal(
    _ bytes: [UInt8], for purpose: SealPurpose, context: [UInt8]
  ) throws(CacheError) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: bytes.count + overhead)
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
    guard sealed.count >= overhead else {
      throw CacheError(.damaged, "sealed: \(sealed.count) bytes")
    }
    var output = [UInt8](repeating: 0, count: sealed.count - overhead)
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
