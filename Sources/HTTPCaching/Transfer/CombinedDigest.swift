import HTTPCacheSemantics
import HTTPCacheStore

/// What a body put together from parts must agree with before it is called complete (RFC 9530 §3).
struct CombinedDigest: Sendable {
  private let verifier: DigestVerifier
  private let length: Int64
  /// Takes the parts that do not belong together out of the store.
  let discard: @Sendable () async -> Void

  /// Nil if the parts do not make up the whole, or there is no digest of it.
  ///
  /// - Parameters:
  ///   - parts: what is stored, and what arrives.
  ///   - length: of the whole in bytes.
  init?(
    _ stored: StoredResponse, parts: [Range<Int64>], length: Int64?,
    discard: @escaping @Sendable () async -> Void
  ) {
    guard let length, let verifier = DigestVerifier(ofRepresentation: stored.head.headerFields)
    else { return nil }
    var end: Int64 = 0
    for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) where part.lowerBound <= end {
      end = max(end, part.upperBound)
    }
    guard end >= length else { return nil }
    self.verifier = verifier
    self.length = length
    self.discard = discard
  }

  /// The algorithm of a digest that the body does not have; nil if it has all.
  ///
  /// - Throws: `CacheError` if it cannot be read.
  func mismatch(of reader: any BodyReader) async throws(CacheError) -> IntegrityDigest.Algorithm? {
    var verifier = verifier
    var position: Int64 = 0
    while position < length {
      let bytes = try await reader.read(position..<min(length, position + (256 << 10)))
      guard !bytes.isEmpty else {
        throw CacheError(.damaged, "the body has no byte \(position)")
      }
      verifier.update(bytes)
      position += Int64(bytes.count)
    }
    return verifier.mismatch()
  }
}
