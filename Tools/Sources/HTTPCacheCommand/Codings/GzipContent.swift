import HTTPCacheArchives
import HTTPCaching

/// Decodes a body in gzip.
final class GzipContent: ContentDecoder {
  private var decoder: GzipDecoder

  init() throws(ContentCodingFailure) {
    do { decoder = try GzipDecoder() } catch { throw ContentCodingFailure(coding: .gzip) }
  }

  var isEnded: Bool { decoder.isEnded }
  var hasBegun: Bool { decoder.hasBegun }
  var hasOutput: Bool { decoder.hasOutput }

  func decode(_ input: inout BodyBytes) throws(ContentCodingFailure) -> BodyBytes {
    do { return try decoder.decode(&input) } catch { throw ContentCodingFailure(coding: .gzip) }
  }
}
