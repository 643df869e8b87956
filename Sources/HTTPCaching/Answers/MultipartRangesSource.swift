import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Synchronization

/// Several ranges of a stored body as `multipart/byteranges` (RFC 9110 §14.6).
final class MultipartRangesSource: BodySource {
  private struct State {
    var next = 0
    var part: StoredBodySource?
    var first: StoredBodySource?
    var isCancelled = false
  }

  private let reader: any BodyReader
  private let ranges: [Range<Int64>]
  private let heads: [BodyBytes]
  private let tail: BodyBytes
  private let counts: CacheCounts
  private let onDamage: @Sendable (CacheError, CacheCounts) -> Void
  private let state = Mutex(State())
  let length: Int64?
  let trailers: HTTPFields = [:]

  /// - Parameters:
  ///   - total: the length of the complete body in bytes; nil if unknown.
  ///   - contentType: the complete body's type, repeated in each part.
  init(
    reader: any BodyReader, ranges: [Range<Int64>], total: Int64?, contentType: String?,
    boundary: String, counts: CacheCounts, onDamage: @escaping @Sendable (CacheError, CacheCounts) -> Void
  ) {
    self.reader = reader
    self.ranges = ranges
    self.counts = counts
    self.onDamage = onDamage
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
  static func head(_ head: HTTPResponse, boundary: String, length: Int64?) -> HTTPResponse {
    var head = head
    head.status = .partialContent
    head.headerFields[.contentType] = "multipart/byteranges; boundary=\(boundary)"
    head.headerFields[.contentRange] = nil
    // These digests describe different content (RFC 9530 §2).
    for name in ["Content-Digest", "Content-MD5"] {
      if let name = HTTPField.Name(name) { head.headerFields[name] = nil }
    }
    head.headerFields[.contentLength] = length.map(String.init)
    return head
  }

  /// Reads the beginning of the first range, unless it was checked already.
  ///
  /// - Throws: `CacheError` if the read fails.
  func readBeginning() async throws(CacheError) {
    guard let range = ranges.first else { return }
    let source = StoredBodySource(
      reader: reader, range: range, trailers: [:], counts: counts, onDamage: onDamage)
    try await source.readBeginning()
    state.withLock { $0.first = source }
  }

  func next() async throws -> BodyBytes? {
    while true {
      let (part, isCancelled) = state.withLock { ($0.part, $0.isCancelled) }
      if isCancelled { return nil }
      if let part {
        if let bytes = try await part.next() { return bytes }
        state.withLock { $0.part = nil }
        continue
      }
      let index = state.withLock { state in
        defer { state.next += 1 }
        return state.next
      }
      if index > ranges.count { return nil }
      if index == ranges.count { return tail }
      state.withLock { state in
        let first = index == 0 ? state.first : nil
        state.part =
          first
          ?? StoredBodySource(
            reader: reader, range: ranges[index], trailers: [:], counts: counts, onDamage: onDamage)
        state.first = nil
      }
      return heads[index]
    }
  }

  func cancel() { state.withLock { $0.isCancelled = true } }
}
