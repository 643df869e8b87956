import HTTPCaching

/// The request that continues the bytes of a part file, and what its response means.
struct Continuation {
  /// What is done with the response.
  enum Verdict: Equatable {
    /// Its body follows the bytes that are there.
    case continues
    /// Its body is the whole of another representation, or of an origin without ranges.
    case isWhole
    /// It has neither; the whole has to be asked for.
    case asksAgain
    /// It is an error, and says nothing of the bytes that are there.
    case fails
  }

  /// Bytes that the cache may lack before the part file is preferred: a killed process loses up to 4 MiB of
  /// what it stores, and what is continued from the cache is stored.
  static let slack: Int64 = 8 << 20

  /// The request.
  let request: HTTPRequest
  /// Where the body of the response has to begin.
  let offset: Int64
  private let record: PartRecord

  /// Makes a continuation.
  ///
  /// - Parameters:
  ///   - request: for the whole.
  ///   - url: its target, normalised.
  ///   - size: how many bytes there are.
  /// - Returns: nil for bytes that are of another URL, or more than the record tells of.
  init?(of request: HTTPRequest, url: String, record: PartRecord, size: Int64) {
    guard record.url == url, size <= record.length ?? .max else { return nil }
    // Of a complete part, the last byte is asked for again: the response tells whether it is still current.
    let offset = record.length.map { min(size, $0 - 1) } ?? size
    guard offset > 0 else { return nil }
    self.offset = offset
    self.record = record
    var continuing = PartialContent.request(
      request, completing: record.stored, missing: offset..<(record.length ?? .max), length: record.length)
    // A coding would count its own bytes.
    continuing.headerFields[.acceptEncoding] = "identity"
    self.request = continuing
  }

  /// Whether a request asks for the whole of something as a GET without content does, so that a part file
  /// can be made and continued.
  static func isPossible(_ request: HTTPRequest, hasContent: Bool) -> Bool {
    let others: [HTTPField.Name?] = [.range, .ifRange, .ifMatch, .ifUnmodifiedSince, HTTPField.Name("Host")]
    return request.method == .get && !hasContent
      && others.allSatisfy { name in name.map { request.headerFields[$0] == nil } ?? true }
  }

  /// What to do with a response.
  ///
  /// - Parameters:
  ///   - target: the URL that answered.
  ///   - now: when it came.
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

  /// Why the whole is fetched again.
  func restart(_ response: HTTPResponse) -> String {
    let old = record.stored.head.headerFields
    let isSame =
      old[.eTag] == response.headerFields[.eTag] && old[.lastModified] == response.headerFields[.lastModified]
    return isSame && response.status.code == 200
      ? "the origin does not continue responses" : "the response has changed since its first part came"
  }
}
