import HTTPCacheSemantics
import HTTPTypes

/// How a stored response is sent for a request: whole, in part, or as a bare head.
enum StoredAnswerPlan: Sendable {
  case head(HTTPResponse)
  case body(HTTPResponse, Range<Int64>)
  /// Several ranges of a body; the head is that of the whole response.
  case parts(HTTPResponse, [Range<Int64>])

  /// The client's own preconditions first, then its range (RFC 9110 §13.2.2).
  ///
  /// - Parameter length: the body's length in bytes.
  init(
    request: HTTPRequest, stored: StoredResponse, age: Int64, length: Int64, now: Timestamp
  ) {
    if case .notModified(let head) = Preconditions.evaluate(request, stored: stored, now: now) {
      self = .head(head)
      return
    }
    var head = ResponseHead.fromStore(stored, age: age)
    if request.method == .head {
      if head.headerFields[.contentLength] == nil, !stored.isDecoded {
        head.headerFields[.contentLength] = String(length)
      }
      self = .head(head)
      return
    }
    switch RangeRequest.evaluate(request, stored: stored, length: length) {
    case .partial(let ranges) where ranges.count == 1:
      self = .body(RangeRequest.head(head, range: ranges[0], length: length), ranges[0])
    case .unsatisfiable: self = .head(RangeRequest.unsatisfiableHead(head, length: length))
    case .partial(let ranges): self = .parts(head, ranges)
    case .whole: self = .body(head, 0..<length)
    }
  }
}
