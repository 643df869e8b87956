import HTTPCacheSemantics
import HTTPCaching

extension PartRecord {
  /// The answer of an origin to a request for missing octets.
  public enum Answer: Sendable, Equatable {
    /// A 206 with these octets of the same representation, from the first one that was asked for.
    case rest(Range<Int64>)
    /// The whole current representation.
    ///
    /// - Parameter isChanged: whether it is another representation; if not, the origin takes no ranges.
    case whole(isChanged: Bool)
    /// Neither: ask for the whole.
    ///
    /// - Parameter isChanged: whether there is another representation; if not, the origin does not answer as asked.
    case useless(isChanged: Bool)
    /// Another status, without the file: ask for the whole, and keep the octets until all of it has come.
    case failure
    /// An answer that contradicts itself, or what came before: none of its octets can be trusted.
    case contradictory(String)
  }

  /// The request for missing octets. With `If-Range`, the origin sends them only if they belong to the part.
  ///
  /// - Parameters:
  ///   - request: the request for the whole file.
  ///   - missing: the octets; an upper bound that is the length, or `Int64.max`, asks for all to the end.
  func request(_ request: HTTPRequest, for missing: Range<Int64>) -> HTTPRequest {
    var request = request
    for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince] { request.headerFields[name] = nil }
    let isToEnd = missing.upperBound == length ?? .max
    request.headerFields[.range] =
      "bytes=\(missing.lowerBound)-" + (isToEnd ? "" : String(missing.upperBound - 1))
    request.headerFields[fields: .ifRange] = [HTTPField(name: .ifRange, value: validator)]
    // A content coding would make the range count coded bytes.
    if !fields.contains(.contentEncoding) { request.headerFields[.acceptEncoding] = "identity" }
    return request
  }

  /// Judges the answer to `request(_:for:)`.
  ///
  /// - Parameters:
  ///   - response: the head of the answer.
  ///   - target: the URL that answered; nil accepts any URL.
  ///   - asked: the octets that were asked for.
  ///   - now: when the answer arrived.
  func answer(
    _ response: HTTPResponse, from target: String?, to asked: Range<Int64>, now: Timestamp
  ) -> Answer {
    let other = StrongValidator(response.headerFields, receivedAt: now)?.value
    switch response.status.code {
    case 200, 203:
      if let text = contradiction(of: response, other) { return .contradictory(text) }
      return .whole(isChanged: other != validator)
    case 412, 416: return .useless(isChanged: true)
    // The request had no condition that a 304 could answer.
    case 304: return .useless(isChanged: false)
    case 206: break
    default: return .failure
    }
    guard let (range, length) = PartialContent.part(of: response) else { return .useless(isChanged: false) }
    if let other {
      if other != validator { return .useless(isChanged: true) }
    } else if fields.contains(.eTag) {
      // A 206 may leave out the date that `If-Range` confirmed, but not the ETag (RFC 9110 §15.3.7).
      return .useless(isChanged: false)
    } else if let date = response.headerFields[.lastModified], date != fields[.lastModified] {
      return .useless(isChanged: true)
    }
    if let known = self.length, length.map({ $0 != known }) ?? (range.upperBound > known) {
      return .useless(isChanged: true)
    }
    if let target, !mayBeSame(target: target) { return .useless(isChanged: true) }
    guard range.lowerBound == asked.lowerBound, range.upperBound <= asked.upperBound,
      response.headerFields[.contentEncoding].map({ $0 == fields[.contentEncoding] }) ?? true
    else { return .useless(isChanged: false) }
    return .rest(range)
  }

  /// Why a 200 cannot be the whole representation; nil if it may be.
  ///
  /// - Parameter other: its strong validator.
  private func contradiction(of response: HTTPResponse, _ other: [UInt8]?) -> String? {
    if let text = PartialContent.rangeOfWhole(response) { return text }
    guard other == validator, let length, let text = response.headerFields[.contentLength],
      let announced = Int64(text), announced != length,
      response.headerFields[.contentEncoding] == fields[.contentEncoding]
    else { return nil }
    return "the origin sends \(announced) bytes under the validator of \(length) bytes"
  }
}
