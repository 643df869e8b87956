package import HTTPCacheSemantics
package import HTTPCacheStore
import HTTPTypes

#if Crypto
  import Crypto
#endif

/// Computes the digests that a response states of its body while the body arrives (RFC 9530).
package struct DigestVerifier: Sendable {
  #if Crypto
    private let expected: [IntegrityDigest]
    private var sha256: SHA256?
    private var sha512: SHA512?
    private var sha1: Insecure.SHA1?
    private var md5: Insecure.MD5?
  #endif

  /// Nil if the response states no digest that can be verified: its coding was removed, or the trait `Crypto`
  /// is off.
  ///
  /// - Parameters:
  ///   - response: the response as it arrived.
  ///   - isPart: whether the content is a part of the representation; `Repr-Digest` then does not apply
  ///     (RFC 9530 §3).
  init?(_ response: UpstreamResponse, isPart: Bool) {
    if response.isContentDecoded { return nil }
    let fields = response.head.headerFields
    self.init(
      IntegrityDigest.list(of: .content, in: fields)
        + (isPart ? [] : IntegrityDigest.list(of: .representation, in: fields)))
  }

  /// Nil if the fields state no digest of the whole representation.
  init?(ofRepresentation fields: HTTPFields) {
    self.init(IntegrityDigest.list(of: .representation, in: fields))
  }

  /// Nil for no digests, or if the trait `Crypto` is off.
  package init?(_ digests: [IntegrityDigest]) {
    #if Crypto
      expected = digests
      if expected.isEmpty { return nil }
      if expected.contains(where: { $0.algorithm == .sha256 }) { sha256 = SHA256() }
      if expected.contains(where: { $0.algorithm == .sha512 }) { sha512 = SHA512() }
      if expected.contains(where: { $0.algorithm == .sha1 }) { sha1 = Insecure.SHA1() }
      if expected.contains(where: { $0.algorithm == .md5 }) { md5 = Insecure.MD5() }
    #else
      return nil
    #endif
  }

  /// Adds the next bytes of the body.
  package mutating func update(_ bytes: BodyBytes) {
    #if Crypto
      bytes.withUnsafeBytes { buffer in
        sha256?.update(bufferPointer: buffer)
        sha512?.update(bufferPointer: buffer)
        sha1?.update(bufferPointer: buffer)
        md5?.update(bufferPointer: buffer)
      }
    #endif
  }

  /// The algorithm of the first digest that the bytes do not match; nil if they match all.
  package func mismatch() -> IntegrityDigest.Algorithm? { difference()?.expected.algorithm }

  /// A digest that was expected, and the one that the bytes have.
  package typealias Difference = (expected: IntegrityDigest, actual: IntegrityDigest)

  /// The first digest that the bytes do not match, with theirs; nil if they match all.
  package func difference() -> Difference? {
    #if Crypto
      for digest in expected {
        let actual =
          switch digest.algorithm {
          case .sha256: sha256.map { Array($0.finalize()) }
          case .sha512: sha512.map { Array($0.finalize()) }
          case .sha1: sha1.map { Array($0.finalize()) }
          case .md5: md5.map { Array($0.finalize()) }
          }
        if actual != digest.value {
          return (digest, IntegrityDigest(algorithm: digest.algorithm, value: actual ?? []))
        }
      }
    #endif
    return nil
  }
}
