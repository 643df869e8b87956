import HTTPCacheSealing
import HTTPCaching
import SealingTesting

/// AES-GCM with some extra bytes, as other ciphers have longer nonces: an example of a caller's cipher.
struct PaddedCipher: CacheCipher {
  private let cipher: any CacheCipher
  private let padding: Int
  let keyID: [UInt8]
  private let digestLength: Int

  init(of secret: [UInt8], padding: Int, keyIDLength: Int = 16, digestLength: Int = 32) throws {
    cipher = try SealedDirectory.cipher(of: secret)
    self.padding = padding
    keyID = [UInt8](repeating: 0xFE, count: keyIDLength)
    self.digestLength = digestLength
  }

  var overhead: Int { cipher.overhead + padding }

  func seal(
    _ bytes: UnsafeRawBufferPointer, for purpose: SealPurpose, context: [UInt8],
    into output: UnsafeMutableRawBufferPointer
  ) throws(CacheError) {
    for index in 0..<padding { output[index] = 0xAA }
    try cipher.seal(
      bytes, for: purpose, context: context,
      into: UnsafeMutableRawBufferPointer(rebasing: output[padding...]))
  }

  func open(
    _ sealed: UnsafeRawBufferPointer, for purpose: SealPurpose, context: [UInt8],
    into output: UnsafeMutableRawBufferPointer
  ) throws(CacheError) {
    guard sealed.prefix(padding).allSatisfy({ $0 == 0xAA }) else { throw CacheError(.damaged, "padding") }
    try cipher.open(
      UnsafeRawBufferPointer(rebasing: sealed[padding...]), for: purpose, context: context, into: output)
  }

  func digest(_ bytes: [UInt8]) -> [UInt8] { Array(cipher.digest(bytes).prefix(digestLength)) }
}
