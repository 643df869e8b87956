import HTTPCacheSemantics
import HTTPCaching

/// The request that continues the bytes of a part file, and the decision about its response.
struct Continuation {
  /// The decision about the response.
  enum Verdict: Equatable {
    /// The body is appended to the bytes of the part file.
    case continues
    /// The body is complete: another representation, or an origin without ranges. It replaces the part file's bytes.
    case isWhole
    /// The response has neither; request the whole body.
    case asksAgain
    /// The response is an error. The part file's bytes stay.
    case fails
  }

  /// The part file is preferred only if the cache has this many bytes less. Continuing from the cache stores the
  /// response, and a killed process loses up to 4 MiB of what it stores.
  static let slack: Int64 = 8 << 20

  /// The request.
  let request: HTTPRequest
  /// The offset in the body at which the response must begin.
  let offset: Int64
  private let record: PartRecord

  /// Makes a continuation.
  ///
  /// - Parameters:
  ///   - request: the request for the whole body.
  ///   - url: the target of `request`, normalised.
  ///   - size: number of bytes in the part file.
  /// - Returns: nil if the bytes are of another URL, or longer than the recorded length.
  init?(of request: HTTPRequest, url: String, record: PartRecord, size: Int64) {
    guard record.url == url, size <= record.length ?? .max else { return nil }
    // If the part file is complete, request its last byte again: the response tells whether it is still current.
    let offset = record.length.map { min(size, $0 - 1) } ?? size
    guard offset > 0 else { return nil }
    self.offset = offset
    self.record = record
    var continuing = PartialContent.request(
      request, completing: record.stored, missing: offset..<(record.length ?? .max), length: record.length)
    // A content coding would make the range count coded bytes.
    continuing.headerFields[.acceptEncoding] = "identity"
    self.request = continuing
  }

  /// Whether a request is a GET without content and without a range, so that a part file can be made and
  /// continued.
  static func isPossible(_ request: HTTPRequest, hasContent: Bool) -> Bool {
    let others: [HTTPField.Name?] = [.range, .ifRange, .ifMatch, .ifUnmodifiedSince, HTTPField.Name("Host")]
    return request.method == .get && !hasContent
      && others.allSatisfy { name in name.map { request.headerFields[$0] == nil } ?? true }
  }

  /// Decides what to do with a response.
  ///
  /// - Parameters:
  ///   - target: the URL that answered.
  ///   - now: the time when the response arrived.
  func verdict(on response: HTTPResponse, from target: String, now: Timestamp) -> Verdict {
    switch response.status.code {
    case 206:
      guard record.isSame(target: target), let part = PartialContent.part(of: response),
        let range = PartialContent.range(
          of: response, in: record.stored, length: record.length, receivedAt: now),
        range.lowerBound == offset, range.upperBound == part.length
      else { return .asksAgain }
      return .continues
    case 200: return .isWhole
    case 412, 416: return .asksAgain
    default: return .fails
    }
  }

  /// Why the whole body is fetched again.
  func restart(_ response: HTTPResponse) -> String {
    let old = record.stored.head.headerFields
    let isSame =
      old[.eTag] == response.headerFields[.eTag] && old[.lastModified] == response.headerFields[.lastModified]
    return isSame && response.status.code == 200
      ? "the origin does not continue responses" : "the response has changed since its first part came"
  }
}
