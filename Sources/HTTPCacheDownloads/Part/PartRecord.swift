public import HTTPCacheSemantics
import HTTPCacheStore
public import HTTPCaching

/// The response that the bytes of a part file belong to: what makes sure that only bytes of one representation are
/// combined (RFC 9110 §15.3.7.3).
public struct PartRecord: Sendable, Equatable {
  /// The URLs of the request and of the response, as keyed hashes: URLs may contain secrets.
  private struct Targets: Equatable {
    /// The key of the hashes.
    let low, high: UInt64
    let request, response: UInt64
    /// The URL of the response without its query.
    let path: UInt64
  }

  /// The length of the representation in bytes; nil if it is unknown.
  public internal(set) var length: Int64?
  /// The fields that a 206 may leave out.
  public let fields: HTTPFields
  /// The strong validator, as `If-Range` carries it.
  let validator: [UInt8]
  private let targets: Targets

  private static let version: UInt8 = 1
  private static let kept: Set<String> = [
    "etag", "last-modified", "content-type", "content-encoding", "content-disposition", "repr-digest",
  ]
  /// Fields of a request for something else than a whole file.
  private static let excluded: [HTTPField.Name] = [.range, .ifRange, .ifMatch, .ifUnmodifiedSince]

  /// Whether a request is a GET of a whole representation. A request with content must not be continued either.
  public static func isPossible(for request: HTTPRequest) -> Bool {
    request.method == .get && excluded.allSatisfy { request.headerFields[$0] == nil }
  }

  /// Makes a record of a response.
  ///
  /// - Parameters:
  ///   - response: the head as the origin sent it. A body whose coding was removed cannot be continued.
  ///   - request: the request before redirects.
  ///   - target: the URL that answered.
  ///   - scope: bytes of different scopes are never combined, such as those of two accounts.
  ///   - length: the length of the representation in bytes, if known.
  ///   - now: when the response arrived.
  /// - Returns: nil if the response cannot be continued: it is no 200, has no strong validator (RFC 9110 §8.8.1), or
  ///   its origin refuses ranges.
  public init?(
    of response: HTTPResponse, to request: HTTPRequest, from target: String, scope: String = "",
    length: Int64?, now: Timestamp
  ) {
    let stored = StoredResponse(
      requestMethod: .get, nominated: [], head: response, requestTime: now, responseTime: now,
      facts: ReuseFacts(freshnessLifetime: 0, lifetimeSource: .none, correctedInitialAge: 0))
    guard Self.isPossible(for: request), length ?? 1 > 0, PartialContent.isResumable(stored),
      let validator = StrongValidator(response.headerFields, receivedAt: now)
    else { return nil }
    // Variants of one resource may share a date, but not a strong entity tag.
    guard response.headerFields.contains(.eTag) || !response.headerFields.contains(.vary) else { return nil }
    self.length = length
    self.validator = validator.value
    fields = response.headerFields.filter { Self.kept.contains($0.name.canonicalName) }
    let (low, high) = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
    let secret = SipHash13.Secret(low: low, high: high)
    let url = Self.url(of: request)
    targets = Targets(
      low: low, high: high, request: Self.hash(of: url, scope: scope, secret),
      response: Self.hash(of: target, secret), path: Self.hash(of: Self.path(of: target), secret))
  }

  private static func url(of request: HTTPRequest) -> String {
    let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
    let host = request.headerFields[FieldNames.host]
    return (TargetURI.normalized(url) ?? url) + (host.map { "\n\($0)" } ?? "")
  }

  private static func path(of url: String) -> String { String(url.prefix { $0 != "?" }) }

  private static func hash(of url: String, scope: String? = nil, _ secret: SipHash13.Secret) -> UInt64 {
    // No URL contains this octet.
    SipHash13.hash(Array(url.utf8) + (scope.map { [0] + Array($0.utf8) } ?? []), secret)
  }

  private var secret: SipHash13.Secret { SipHash13.Secret(low: targets.low, high: targets.high) }
  private var hasEntityTag: Bool { fields.contains(.eTag) }
  var validators: ResponseValidators { ResponseValidators(fields) }

  /// Whether the bytes are of the whole file that a request asks for.
  ///
  /// - Parameter scope: that of the request.
  func belongs(to request: HTTPRequest, scope: String = "") -> Bool {
    Self.isPossible(for: request)
      && Self.hash(of: Self.url(of: request), scope: scope, secret) == targets.request
  }

  /// Whether another response may be of the same representation, by its URL. A redirect may name another URL with each
  /// request, as signed URLs and mirrors do: a strong entity tag then still identifies the representation, but a date
  /// does not.
  func mayBeSame(target: String) -> Bool { hasEntityTag || Self.hash(of: target, secret) == targets.response }

  /// Whether another response to the request has the same octets: the same strong entity tag, length and coding.
  func hasOctets(of other: PartRecord) -> Bool {
    hasEntityTag && other.hasEntityTag && validator == other.validator && length != nil
      && length == other.length
      && fields[.contentEncoding] == other.fields[.contentEncoding]
  }

  /// Whether a response has the whole representation that the bytes belong to, as its validators say.
  package func isPart(of response: HTTPResponse) -> Bool {
    [200, 203].contains(response.status.code) && ResponseValidators(response.headerFields) == validators
  }

  /// The head of the whole representation from that of a 206. With `If-Range`, a 206 may leave out the fields that the
  /// client knows from an earlier response (RFC 9110 §15.3.7).
  ///
  /// - Parameters:
  ///   - part: the head of the 206.
  ///   - earlier: the fields of an earlier response; nil takes those that the record keeps.
  ///   - length: the length of the representation in bytes; nil if it is unknown.
  package func whole(
    _ part: HTTPResponse, after earlier: HTTPFields? = nil, length: Int64?
  ) -> HTTPResponse {
    var whole = HTTPResponse(status: .ok, headerFields: earlier ?? fields)
    for name in Set(part.headerFields.map(\.name)) {
      whole.headerFields[fields: name] = part.headerFields[fields: name]
    }
    // These fields are of the part alone.
    for name in [.contentRange, FieldNames.contentDigest] { whole.headerFields[name] = nil }
    whole.headerFields[.contentLength] = length.map { String($0) }
    return whole
  }

  // MARK: Encoding

  func encode(to writer: inout BinaryWriter) {
    writer.byte(Self.version)
    for word in [targets.low, targets.high, targets.request, targets.response, targets.path] {
      writer.fixed(word)
    }
    writer.optionalSigned(length)
    writer.bytes(validator)
    writer.count(fields.count)
    for field in fields {
      writer.text(field.name.rawName)
      writer.text(field.value)
    }
  }

  init(_ reader: inout BinaryReader) throws(CacheError) {
    guard try reader.byte() == Self.version else { throw BinaryReader.damaged("another version") }
    targets = Targets(
      low: try reader.fixed(), high: try reader.fixed(), request: try reader.fixed(),
      response: try reader.fixed(), path: try reader.fixed())
    length = try reader.optionalSigned()
    validator = try reader.bytes()
    guard length ?? 1 > 0, !validator.isEmpty else { throw BinaryReader.damaged("no representation") }
    var fields = HTTPFields()
    for _ in 0..<(try reader.count(ofSize: 2)) {
      let (name, value) = (try reader.text(), try reader.text())
      guard let name = HTTPField.Name(name), fields.appendBounded(HTTPField(name: name, value: value))
      else { throw BinaryReader.damaged("no field name, or too many fields") }
    }
    self.fields = fields
  }
}

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
      if let text = PartialContent.rangeOfWhole(response) ?? contradiction(of: response, now: now) {
        return .contradictory(text)
      }
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
      response.headerFields[.contentLength].map({ Int64($0) == range.upperBound - range.lowerBound }) ?? true,
      response.headerFields[.contentEncoding].map({ $0 == fields[.contentEncoding] }) ?? true
    else { return .useless(isChanged: false) }
    return .rest(range)
  }
}

/// How long the body of a response must be.
extension PartRecord {
  /// The error for an answer that contradicts itself or the octets that are there. It comes again until they are removed.
  ///
  /// - Parameter contradiction: the text of `Answer.contradictory`.
  /// - Returns: an error with the cause `LengthContradiction`.
  public func failure(for contradiction: String) -> UpstreamError {
    LengthContradiction(length: length ?? 0).error(contradiction)
  }

  private var knownLength: KnownLength? { KnownLength(length, validator: validator, of: fields) }

  /// Why a response cannot be the whole representation that the bytes belong to; nil if it may be, or another one.
  func contradiction(of response: HTTPResponse, now: Timestamp) -> String? {
    knownLength?.contradiction(of: response, receivedAt: now)
  }

  /// The body of a response of the origin to a request for the file or for the rest of it. The body ends with an
  /// `UpstreamError` at another length than its `Content-Range` or its strong validator says (RFC 9110 §8.8.1). If the
  /// cause is `LengthContradiction`, none of its bytes can be trusted.
  ///
  /// - Parameters:
  ///   - response: the response.
  ///   - now: when it arrived.
  /// - Throws: `UpstreamError` with the cause `LengthContradiction` if the response announces another length.
  public func body(of response: CacheResponse, now: Timestamp) throws(UpstreamError) -> MessageBody {
    guard case .forwarded = response.outcome else { return response.body }
    if let range = PartialContent.part(of: response.head)?.range {
      let length = range.upperBound - range.lowerBound
      return MessageBody(ExactBody(response.body, length: length, isPart: true))
    }
    guard let knownLength, knownLength.applies(to: response.head, receivedAt: now) else {
      return response.body
    }
    if let text = knownLength.contradiction(of: response.head, receivedAt: now) {
      throw failure(for: text)
    }
    // An announced length is that of the body already.
    if response.body.length != nil { return response.body }
    return MessageBody(ExactBody(response.body, length: knownLength.length))
  }
}
