import HTTPCacheStore
import HTTPTypes

/// Copies the body of an HTTP response in a record to an archive, without its transfer coding.
struct WARCBody {
  private var chunks: ChunkedPieces?
  private var isFirst = true
  private var length: Int64 = 0
  private let expected: Int64?

  init(_ fields: HTTPFields) {
    let isChunked = fields[.transferEncoding]?.lowercased().hasSuffix("chunked") ?? false
    chunks = isChunked ? ChunkedPieces() : nil
    expected = isChunked ? nil : fields[.contentLength].flatMap { Int64($0) }
  }

  /// Adds a piece.
  ///
  /// - Throws: `CacheError.damaged` if the transfer coding is broken, `CacheError.io`, `CacheError.noSpace`.
  mutating func append(
    _ piece: ArraySlice<UInt8>, to output: inout RecordingOutput
  ) throws(CacheError) {
    defer { isFirst = false }
    if chunks != nil {
      if let decoded = chunks?.decode(piece) {
        length += Int64(decoded.count)
        return try output.archive.append(BodyBytes(decoded))
      }
      // Some recorders remove the coding and keep the field.
      guard isFirst else { throw CacheError(.damaged, "its chunks are broken") }
      chunks = nil
    }
    length += Int64(piece.count)
    try output.archive.append(BodyBytes(piece))
  }

  /// Why the body is not whole; nil if it is.
  var objection: String? {
    if let chunks, !chunks.isEnded { return "the response was cut" }
    if let expected, expected != length { return "\(length) of \(expected) bytes were recorded" }
    return nil
  }
}
