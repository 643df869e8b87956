public import HTTPTypes

/// Incomplete responses: what is stored, and how they are completed and combined
/// (RFC 9111 §3.3, §3.4, RFC 9110 §15.3.7.3).
public enum PartialContent {
  /// The range of a 206 that may be stored as an incomplete 200 (RFC 9111 §3.3).
  ///
  /// - Returns: nil for several parts (`multipart/byteranges`), another unit, and an invalid or
  ///   missing `Content-Range`.
  public static func part(of response: HTTPResponse) -> (range: Range<Int64>, length: Int64?)? {
    guard response.status.code == 206, !isMultipart(response.headerFields),
      case .part(let range, let length) = ContentRange(response.headerFields)
    else { return nil }
    return (range, length)
  }

  /// Whether a response with this status has a whole representation.
  package static func isWhole(status: Int) -> Bool { status == 200 || status == 203 }

  /// Whether a success with this status has nothing of a representation, such as a 204.
  package static func hasNoRepresentation(status: Int) -> Bool {
    (200..<300).contains(status) && status != 206 && !isWhole(status: status)
  }

  /// Whether a response has octets of the representation with a strong validator and a content coding (RFC 9110 §8.8.1).
  ///
  /// - Parameter validator: the strong validator, as `If-Range` carries it.
  package static func hasOctets(
    _ response: HTTPResponse, of validator: [UInt8], coding: String?, receivedAt time: Timestamp
  ) -> Bool {
    StrongValidator(response.headerFields, receivedAt: time)?.value == validator
      && response.headerFields[.contentEncoding] == coding
  }

  /// Why a 200 that answers a request for a range is not the whole: its `Content-Range` names a part, so that it is a 206
  /// with a wrong status. nil if it may be the whole. Anywhere else the field has no meaning in a 200 (RFC 9110 §14.4).
  package static func rangeOfWhole(_ response: HTTPResponse) -> String? {
    guard response.status.code == 200, let field = response.headerFields.first(.contentRange) else {
      return nil
    }
    if case .part(let range, let length?) = ContentRange(response.headerFields), range == 0..<length {
      return nil
    }
    return "the origin sends a 200 with 'Content-Range: \(field.value.prefix(100))'"
  }

  /// Why a 206 is not stored; nil if it may be.
  static func refusal(request: HTTPRequest, response: HTTPResponse) -> StorageRefusal? {
    guard request.method == .get else { return .method(request.method) }
    if isMultipart(response.headerFields) { return .partialContent }
    guard case .part = ContentRange(response.headerFields) else {
      return .malformed("Content-Range")
    }
    // The answer to `If-Range` may lack header fields that the client has already (§15.3.7).
    return request.headerFields.contains(.ifRange) ? .partialContent : nil
  }

  /// The head of a 206 as an incomplete 200.
  static func whole(_ response: HTTPResponse) -> HTTPResponse {
    guard let (_, length) = part(of: response) else { return response }
    var head = response
    head.status = .ok
    for name in [.contentRange, .contentLength, FieldNames.contentDigest, FieldNames.contentMD5] {
      head.headerFields.remove(name)
    }
    if let length { head.headerFields[.contentLength] = String(length) }
    return head
  }

  /// Whether the first bytes of a response are worth keeping if it breaks off: it has a strong validator,
  /// which tells whether the rest belongs to it, and the origin does not refuse ranges (RFC 9110 §14.3).
  public static func isResumable(_ stored: StoredResponse) -> Bool {
    guard stored.requestMethod == .get, stored.head.status.code == 200, !stored.isDecoded,
      stored.strongValidator != nil
    else { return false }
    var refusesRanges = false
    stored.head.headerFields.forEachMember(of: .acceptRanges) { member in
      if member.isCaseInsensitively("none") { refusesRanges = true }
    }
    return !refusesRanges
  }

  /// Makes the request for missing octets. With `If-Range`, the origin sends them only if they belong to the
  /// stored ones; otherwise it sends its whole current representation.
  ///
  /// - Parameters:
  ///   - request: the request to answer.
  ///   - stored: the response to complete; must be resumable.
  ///   - missing: the octets to ask for; an upper bound of `Int64.max` asks for all octets from the lower
  ///     bound on.
  ///   - length: the length of the whole representation in bytes, if known.
  public static func request(
    _ request: HTTPRequest, completing stored: StoredResponse, missing: Range<Int64>, length: Int64?
  ) -> HTTPRequest {
    var request = Validation.withoutConditions(request)
    let isToEnd = missing.upperBound == length ?? .max
    request.headerFields[.range] =
      "bytes=\(missing.lowerBound)-" + (isToEnd ? "" : String(missing.upperBound - 1))
    if let validator = stored.strongValidator {
      request.headerFields[fields: .ifRange] = [HTTPField(name: .ifRange, value: validator.value)]
    }
    return request
  }

  /// The octets of a 206 if it can be added to an incomplete response: both have the same strong validator,
  /// and agree on the length of the representation (RFC 9111 §3.4).
  ///
  /// - Parameters:
  ///   - response: the head of the 206.
  ///   - stored: the incomplete response.
  ///   - length: the length of the stored representation in bytes, if known.
  ///   - receivedAt: when the 206 arrived.
  /// - Returns: the octets of the 206; nil if they must not be combined.
  public static func range(
    of response: HTTPResponse, in stored: StoredResponse, length: Int64?, receivedAt: Timestamp
  ) -> Range<Int64>? {
    guard isResumable(stored), let (range, newLength) = part(of: response),
      !response.headerFields.contains(.contentEncoding)
        || response.headerFields[fields: .contentEncoding]
          == stored.head.headerFields[fields: .contentEncoding],
      StrongValidator(response.headerFields, receivedAt: receivedAt) == stored.strongValidator
    else { return nil }
    if let length, newLength.map({ $0 != length }) ?? (range.upperBound > length) { return nil }
    return range
  }

  /// The stored response with the header fields of the 206 that is combined with it (§3.4, §3.2).
  ///
  /// - Parameters:
  ///   - stored: the incomplete response.
  ///   - response: the 206.
  ///   - length: the length of the representation in bytes, if known.
  ///   - rules: the choices of the cache.
  ///   - request: the request for the missing octets.
  ///   - digest: makes the digest of a secret value.
  public static func combined(
    _ stored: StoredResponse, with response: ReceivedResponse, length: Int64?, rules: CacheRules,
    answering request: HTTPRequest, digest: SecretDigest
  ) -> StoredResponse {
    var response = response
    response.head = whole(response.head)
    var result = Freshening.updated(stored, with: response, rules: rules, validating: request, digest: digest)
    if let length { result.head.headerFields[.contentLength] = String(length) }
    result.requestedRange = nil
    return result
  }

  private static func isMultipart(_ fields: HTTPFields) -> Bool {
    guard let type = fields.first(.contentType) else { return false }
    return type.withUnsafeBytesOfValue { octets in
      let end = octets.firstIndex(of: UInt8(ascii: ";")) ?? octets.count
      return octets.part(0..<end).trimmed().isCaseInsensitively("multipart/byteranges")
    }
  }
}
