import HTTPCacheArchives
import HTTPCaching

/// Decodes a body in gzip or deflate.
final class DeflateContent: ContentDecoder {
  private let coding: ContentCoding
  private var decoder: DeflateDecoder

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
    do {
      // Some origins send deflate without the header of zlib (RFC 9110 §8.4.1.2), whose first byte ends in 8. With
      // that bit, a block of deflate that is stored would have padding other than 0.
      if coding == .deflate, !hasBegun, let first = input.withUnsafeBytes({ $0.first }), first & 0xF != 8 {
        decoder = try DeflateDecoder(.raw)
      }
      return try decoder.decode(&input)
    } catch { throw ContentCodingFailure(coding: coding) }
  }
}
