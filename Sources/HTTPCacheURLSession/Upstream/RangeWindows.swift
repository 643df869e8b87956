import Foundation
import HTTPCaching
import HTTPTypes

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// How to fetch the rest of a body in pieces, as its reader goes on. Without this, Foundation receives as
/// fast as the origin sends, and keeps unread bytes in memory.
struct RangeWindows: Sendable {
  /// The range of the representation that the message contains, in bytes.
  let extent: Range<Int64>
  private let template: URLRequest
  private let validator: String
  private let entityTag: String?
  private let lastModified: String?
  private let length: Int64?

  /// Nil if pieces cannot be combined: another method than GET, no strong validator, an origin that does not
  /// state that it supports ranges, a content coding, an unknown length.
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
    // With each of these fields, the origin could answer without the range (RFC 9110 §13.2.2).
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

  /// Whether a response is the requested range of this representation.
  func isContinued(by response: HTTPResponse, with range: Range<Int64>) -> Bool {
    guard let part = PartialContent.part(of: response), part.range == range,
      !response.headerFields.contains(.contentEncoding)
    else { return false }
    if let length, let other = part.length, length != other { return false }
    // RFC 9110 §15.3.7: a part has the entity tag of the whole, and may lack its other fields.
    guard response.headerFields[.eTag] == entityTag else { return false }
    let other = response.headerFields[.lastModified]
    return other == nil || other == lastModified
  }

  /// Whether a response is the whole of this representation: an origin may ignore `Range` (RFC 9110 §14.2),
  /// even if it states that it supports ranges.
  func isRepeated(by response: HTTPResponse) -> Bool {
    let fields = response.headerFields
    guard response.status.code == 200, extent.lowerBound == 0, extent.upperBound == length,
      !fields.contains(.contentEncoding), fields[.eTag] == entityTag,
      fields[.lastModified] == lastModified
    else { return false }
    return fields[.contentLength].flatMap { Int64($0) } == length
  }
}
