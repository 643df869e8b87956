import Foundation
import HTTPCaching
import HTTPTypes

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// How the rest of a body can be asked for in pieces, as its reader goes on: Foundation delivers as
/// fast as the origin sends, whoever reads it, and keeps in memory what is not read.
struct RangeWindows: Sendable {
  /// What of the representation the message has, in bytes.
  let extent: Range<Int64>
  private let template: URLRequest
  private let validator: String
  private let entityTag: String?
  private let lastModified: String?
  private let length: Int64?

  /// Nil where pieces cannot be put together: another method than GET, no strong validator, an origin
  /// that does not say that it takes ranges, a content coding, an unknown length.
  ///
  /// - Parameter count: the length of the message's body in bytes.
  init?(continuing response: HTTPResponse, to request: URLRequest, count: Int64?) {
    let fields = response.headerFields
    guard request.httpMethod == "GET", let count, count > 0,
      !fields.contains(.contentEncoding),
      let validator = StrongValidator(fields, receivedAt: SystemClock().now)
    else { return nil }
    switch response.status.code {
    case 200:
      let units = fields[fields: .acceptRanges].map { $0.value.lowercased() }
      guard units == ["bytes"] else { return nil }
      extent = 0..<count
      length = count
    case 206:
      guard let (range, length) = PartialContent.part(of: response), Int64(range.count) == count
      else { return nil }
      extent = range
      self.length = length
    default: return nil
    }
    self.validator = String(decoding: validator.value, as: UTF8.self)
    entityTag = fields[.eTag]
    lastModified = fields[.lastModified]
    var template = request
    // Each would have the origin answer something else than the range (RFC 9110 §13.2.2).
    for name in [
      "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since",
    ] {
      template.setValue(nil, forHTTPHeaderField: name)
    }
    self.template = template
  }

  func request(for range: Range<Int64>) -> URLRequest {
    var request = template
    request.setValue(
      "bytes=\(range.lowerBound)-\(range.upperBound - 1)", forHTTPHeaderField: "Range")
    request.setValue(validator, forHTTPHeaderField: "If-Range")
    request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    return request
  }

  /// Whether a response is the range that was asked for, of the same representation.
  func isContinued(by response: HTTPResponse, with range: Range<Int64>) -> Bool {
    guard let part = PartialContent.part(of: response), part.range == range,
      !response.headerFields.contains(.contentEncoding)
    else { return false }
    if let length, let other = part.length, length != other { return false }
    // RFC 9110 §15.3.7: a part has the entity tag that the whole had, and need not have the rest.
    guard response.headerFields[.eTag] == entityTag else { return false }
    let other = response.headerFields[.lastModified]
    return other == nil || other == lastModified
  }

  /// Whether a response is the whole of the same representation: an origin may ignore `Range`
  /// (RFC 9110 §14.2), also one that says it takes them.
  func isRepeated(by response: HTTPResponse) -> Bool {
    let fields = response.headerFields
    guard response.status.code == 200, extent.lowerBound == 0, extent.upperBound == length,
      !fields.contains(.contentEncoding), fields[.eTag] == entityTag,
      fields[.lastModified] == lastModified
    else { return false }
    return fields[.contentLength].flatMap { Int64($0) } == length
  }
}
