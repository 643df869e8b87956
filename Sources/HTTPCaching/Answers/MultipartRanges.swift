import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Several ranges of a body, and the bytes around them, in `multipart/byteranges` (RFC 9110 §14.6).
struct MultipartRanges: Sendable {
  let ranges: [Range<Int64>]
  /// The bytes before each range.
  let heads: [BodyBytes]
  /// The bytes behind the last range.
  let tail: BodyBytes
  /// The length of the content in bytes.
  let length: Int64
  private let boundary: String

  /// - Parameters:
  ///   - total: the length of the complete body in bytes; nil if unknown.
  ///   - contentType: the complete body's type, repeated in each part.
  init(_ ranges: [Range<Int64>], total: Int64?, contentType: String?) {
    // Random, so that no body can contain it on purpose; always of 16 digits, so that equal requests get equal lengths.
    let boundary = "swift-http-cache-" + String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
    self.ranges = ranges
    self.boundary = boundary
    heads = ranges.enumerated().map { index, range in
      var text = index == 0 ? "--\(boundary)\r\n" : "\r\n--\(boundary)\r\n"
      if let contentType { text += "Content-Type: \(contentType)\r\n" }
      text +=
        "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/"
        + (total.map(String.init) ?? "*") + "\r\n\r\n"
      return BodyBytes(Array(text.utf8))
    }
    tail = BodyBytes(Array("\r\n--\(boundary)--\r\n".utf8))
    length =
      ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) }
      + heads.reduce(0) { $0 + Int64($1.count) } + Int64(tail.count)
  }

  /// The head of the 206 response (RFC 9110 §15.3.7.2). Each part states its own range.
  ///
  /// - Parameter whole: the head of the whole response.
  func head(of whole: HTTPResponse) -> HTTPResponse {
    var head = whole
    head.status = .partialContent
    head.headerFields[.contentType] = "multipart/byteranges; boundary=\(boundary)"
    head.headerFields[.contentRange] = nil
    // These digests describe different content (RFC 9530 §2).
    for name in [FieldNames.contentDigest, FieldNames.contentMD5] { head.headerFields[name] = nil }
    head.headerFields[.contentLength] = String(length)
    return head
  }

  /// The content.
  ///
  /// - Parameter whole: the whole body.
  func content(of whole: BodyBytes) -> BodyBytes {
    let parts = zip(heads, ranges).flatMap { [$0, whole[Int($1.lowerBound)..<Int($1.upperBound)]] }
    return BodyBytes(joining: parts + [tail])
  }
}
