import HTTPCacheArchives
import HTTPCaching

/// Decodes a body in gzip or deflate.
final class DeflateContent: ContentDecoder {
  private let coding: ContentCoding
  private var decoder: DeflateDecoder
  /// Whether zeros have come behind the last member of gzip.
  private var isPadded = false

  init(_ coding: ContentCoding) throws(ContentCodingFailure) {
    self.coding = coding
    do { decoder = try DeflateDecoder(coding == .gzip ? .gzip : .zlib) } catch {
      throw ContentCodingFailure(coding: coding)
    }
  }

  var isEnded: Bool { decoder.isEnded }
  var hasBegun: Bool { decoder.hasBegun }
  var hasOutput: Bool { decoder.hasOutput }

  func decode(_ input: inout BodyBytes) throws(ContentCodingFailure) -> BodyBytes {
    if isEnded, !input.isEmpty, !hasMember(input) {
      guard coding == .gzip, input.withUnsafeBytes({ $0.allSatisfy { $0 == 0 } }) else {
        throw ContentCodingFailure(coding: coding, reason: .trailing)
      }
      isPadded = true
      input = BodyBytes()
      return BodyBytes()
    }
    do {
      // Some origins send deflate without the header of zlib (RFC 9110 §8.4.1.2), whose first byte ends in 8. With
      // that bit, a block of deflate that is stored would have padding other than 0.
      if coding == .deflate, !hasBegun, let first = input.withUnsafeBytes({ $0.first }), first & 0xF != 8 {
        decoder = try DeflateDecoder(.raw)
      }
      return try decoder.decode(&input)
    } catch { throw ContentCodingFailure(coding: coding) }
  }

  /// Whether the bytes after the end of a member begin another one (RFC 1952 §2.2). Zeros after the last one are padding,
  /// as for gzip's own program.
  private func hasMember(_ input: BodyBytes) -> Bool {
    coding == .gzip && !isPadded && input.withUnsafeBytes { $0.first } == 0x1F
  }
}
