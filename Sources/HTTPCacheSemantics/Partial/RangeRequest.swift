public import HTTPTypes

/// Answers range requests from stored responses (RFC 9110 §14.2).
public enum RangeRequest {
  /// The maximum number of ranges of one request that are honoured.
  public static let rangeLimit = 16

  /// Decides which octets to send.
  ///
  /// Ranges apply to GET and QUERY (RFC 10008 §2.8), and to a 200. A `Range` is ignored if it is malformed,
  /// in another unit, has more than `rangeLimit` ranges, or overlaps wastefully (§14.2), and if the coding of
  /// the representation was removed.
  ///
  /// - Parameters:
  ///   - request: the request; its conditions must have been evaluated.
  ///   - stored: the response that would be sent whole.
  ///   - length: the length of its body in bytes; nil if unknown: then only ranges with a first and a last
  ///     position apply.
  public static func evaluate(
    _ request: HTTPRequest, stored: StoredResponse, length: Int64?
  ) -> RangeDecision {
    evaluate(
      request, features: RequestFeatures(request.headerFields), stored: stored, length: length)
  }

  /// Like `evaluate(_:stored:length:)`, for a request with known features.
  package static func evaluate(
    _ request: HTTPRequest, features: RequestFeatures, stored: StoredResponse, length: Int64?
  ) -> RangeDecision {
    guard features.contains(.range), request.method == .get || request.method == .query,
      let field = request.headerFields.only(.range)
    else { return .whole }
    guard stored.head.status.code == 200, !stored.isDecoded, length != 0,
      let specifiers = field.withUnsafeBytesOfValue({ RangeSpecifier.parse($0) }),
      isApplicable(request, stored: stored)
    else { return .whole }
    guard let length else {
      let ranges = specifiers.compactMap(\.fixed)
      return ranges.count == specifiers.count && !isWasteful(ranges, length: .max)
        ? .partial(ranges) : .whole
    }
    let ranges = specifiers.compactMap { $0.resolved(length: length) }
    if ranges.isEmpty { return .unsatisfiable }
    return isWasteful(ranges, length: length) ? .whole : .partial(ranges)
  }

  /// The octets of an incomplete response that answer a request (RFC 9111 §3.3).
  ///
  /// - Parameters:
  ///   - request: the request; its conditions must have been evaluated.
  ///   - stored: the incomplete response.
  ///   - part: the stored part.
  /// - Returns: nil unless the request has a range, and all its octets are stored.
  public static func ranges(
    for request: HTTPRequest, stored: StoredResponse, part: StoredPart
  ) -> [Range<Int64>]? {
    if case .partial(let ranges) = evaluate(request, stored: stored, length: part.length),
      ranges.allSatisfy(part.contains)
    {
      return ranges
    }
    // The origin sent other octets than it announced; it would do so again.
    guard let asked = stored.requestedRange, request.method == .get, part.ranges.count == 1,
      request.headerFields[fields: .range].map(\.value) == [asked],
      isApplicable(request, stored: stored)
    else { return nil }
    return part.ranges
  }

  /// The head of a 206 with one range (RFC 9110 §15.3.7.1).
  ///
  /// - Parameters:
  ///   - head: the head of the whole response.
  ///   - range: the octets sent; not empty and within `length`.
  ///   - length: the length of the whole body in bytes; nil if unknown.
  ///   - request: the request it answers. A client that sends `If-Range` has the other representation header
  ///     fields already (§15.3.7).
  public static func head(
    _ head: HTTPResponse, range: Range<Int64>, length: Int64?, answering request: HTTPRequest
  ) -> HTTPResponse {
    var partial = head
    partial.status = .partialContent
    // These fields describe the content of the whole message, which is different now (RFC 9530 §2).
    partial.headerFields.remove(FieldNames.contentDigest)
    partial.headerFields.remove(FieldNames.contentMD5)
    partial.headerFields[.contentRange] =
      "bytes \(range.lowerBound)-\(range.upperBound.saturatingSubtract(1))/"
      + (length.map(String.init) ?? "*")
    if request.headerFields.contains(.ifRange) {
      for name in [HTTPField.Name.contentType, .contentEncoding, .contentLanguage] {
        partial.headerFields.remove(name)
      }
      if partial.headerFields.contains(.eTag) { partial.headerFields.remove(.lastModified) }
    }
    partial.headerFields[.contentLength] =
      String(range.upperBound.saturatingSubtract(range.lowerBound))
    return partial
  }

  /// The head of a 416 (RFC 9110 §15.5.17).
  ///
  /// - Parameters:
  ///   - head: the head of the whole response, whose `Date` is kept.
  ///   - length: the length of the whole body in bytes.
  public static func unsatisfiableHead(_ head: HTTPResponse, length: Int64) -> HTTPResponse {
    var fields = HTTPFields()
    if let date = head.headerFields.first(.date) { fields[fields: .date] = [date] }
    fields[.contentRange] = "bytes */\(length)"
    fields[.contentLength] = "0"
    return HTTPResponse(status: .rangeNotSatisfiable, headerFields: fields)
  }

  /// `If-Range` by strong comparison (RFC 9110 §13.1.5). A date is strong if the response was sent
  /// at least a second after it (§8.8.2.2).
  private static func isApplicable(_ request: HTTPRequest, stored: StoredResponse) -> Bool {
    guard request.headerFields.firstIndex(of: .ifRange) != nil else { return true }
    guard let condition = request.headerFields.only(.ifRange) else { return false }
    return condition.withUnsafeBytesOfValue { octets in
      if let tag = EntityTag(octets) { return stored.head.headerFields.matchStrongly(tag) }
      guard let date = Timestamp(octets: octets, relativeTo: stored.responseTime),
        let modified = stored.head.headerFields
          .date(.lastModified, relativeTo: stored.responseTime).time
      else { return false }
      return date == modified && stored.date > modified
    }
  }

  /// More than two ranges that overlap, or more octets than the body has (RFC 9110 §14.2, §17.15).
  private static func isWasteful(_ ranges: [Range<Int64>], length: Int64) -> Bool {
    guard ranges.count > 1 else { return false }
    let total = ranges.reduce(Int64(0)) {
      $0.saturatingAdd($1.upperBound.saturatingSubtract($1.lowerBound))
    }
    if total > length { return true }
    let overlapping = ranges.indices.filter { index in
      ranges.indices.contains { $0 != index && ranges[$0].overlaps(ranges[index]) }
    }
    return overlapping.count > 2
  }
}

/// How a `Range` header applies to a response of known length (RFC 9110 §14.2).
public enum RangeDecision: Sendable, Hashable {
  /// No usable range, or `If-Range` does not match: the whole representation.
  case whole
  /// 206 with these ranges of octets, in the requested order.
  case partial([Range<Int64>])
  /// 416: no range is satisfiable (RFC 9110 §15.5.17).
  case unsatisfiable
}
