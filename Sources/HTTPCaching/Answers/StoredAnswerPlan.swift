import HTTPCacheSemantics
import HTTPTypes

/// How a stored response is sent for a request: whole, in part, or as a bare head.
enum StoredAnswerPlan: Sendable {
  case head(HTTPResponse)
  /// All octets of the body, with the stored head and its `Age`.
  case whole(HTTPResponse, length: Int64)
  /// One range of the body, with the head of a 206.
  case range(HTTPResponse, Range<Int64>)
  /// Several ranges of a body; the head is that of the whole response.
  case parts(HTTPResponse, [Range<Int64>])

  /// Evaluates the client's preconditions first, then its range (RFC 9110 §13.2.2).
  ///
  /// - Parameters:
  ///   - features: the features of the request.
  ///   - whole: the head of the complete response, with its age.
  ///   - length: the complete body's length in bytes; nil only if a part of the body is stored.
  ///   - part: the stored part of the body; nil if all of it is stored.
  /// - Returns: nil if the request asks for more than is stored.
  init?(
    request: HTTPRequest, features: RequestFeatures, stored: StoredResponse,
    head whole: @autoclosure () -> HTTPResponse, length: Int64?, part: StoredPart?, now: Timestamp
  ) {
    if let head = Preconditions.evaluate(request, features: features, stored: stored, now: now) {
      self = .head(head)
      return
    }
    var head = whole()
    if let part {
      guard let ranges = RangeRequest.ranges(for: request, stored: stored, part: part) else {
        return nil
      }
      self = Self.sending(ranges, of: head, length: part.length, answering: request)
      return
    }
    let length = length ?? 0
    if request.method == .head {
      // A 204 has no Content-Length (RFC 9110 §8.6).
      if head.headerFields[.contentLength] == nil, !stored.isDecoded, !head.status.hasNoContent {
        head.headerFields[.contentLength] = String(length)
      }
      self = .head(head)
      return
    }
    switch RangeRequest.evaluate(request, features: features, stored: stored, length: length) {
    case .unsatisfiable: self = .head(RangeRequest.unsatisfiableHead(head, length: length))
    case .partial(let ranges):
      self = Self.sending(ranges, of: head, length: length, answering: request)
    case .whole: self = .whole(head, length: length)
    }
  }

  private static func sending(
    _ ranges: [Range<Int64>], of head: HTTPResponse, length: Int64?, answering request: HTTPRequest
  ) -> StoredAnswerPlan {
    if ranges.count == 1, let range = ranges.first {
      return .range(
        RangeRequest.head(head, range: range, length: length, answering: request), range)
    }
    return .parts(head, ranges)
  }
}
