import HTTPCacheSemantics
import HTTPCacheStore

/// Digests that a body combined from parts must match before it counts as complete (RFC 9530 §3).
struct CombinedDigest: Sendable {
  private let verifier: DigestVerifier
  private let length: Int64

  /// Nil if the parts do not make up the whole body, or the response states no digest of it.
  ///
  /// - Parameters:
  ///   - parts: the stored part, and the part that arrives.
  ///   - length: the length of the whole body in bytes.
  init?(_ stored: StoredResponse, parts: [Range<Int64>], length: Int64?) {
    guard let length, let verifier = DigestVerifier(ofRepresentation: stored.head.headerFields)
    else { return nil }
    var end: Int64 = 0
    for part in parts.sorted(by: { $0.lowerBound < $1.lowerBound }) where part.lowerBound <= end {
      end = max(end, part.upperBound)
    }
    guard end >= length else { return nil }
    self.verifier = verifier
    self.length = length
  }

  /// The algorithm of a digest that the body does not match; nil if it matches all.
  ///
  /// - Throws: `CacheError` if the body cannot be read.
  func mismatch(of reader: any BodyReader) async throws(CacheError) -> IntegrityDigest.Algorithm? {
    var verifier = verifier
    try await reader.readPieces(of: 0..<length) { verifier.update($0) }
    return verifier.mismatch()
  }
}
