import HTTPCacheSemantics
import HTTPTypes
import NIOHPACK
import NIOHTTP2

extension RequestHead {
  /// The head of a request over HTTP/2 (RFC 9113 §8.3.1) with well-formed fields (`HPACKHeaders.isWellFormedRequest`); the
  /// values are checked here.
  ///
  /// - Parameter isForward: whether the target is to have scheme and authority, as a forward proxy needs them.
  /// - Throws: `ProtocolViolation`.
  init(_ frame: HTTP2Frame.FramePayload.Headers, limits: MessageLimits, isForward: Bool) throws {
    guard frame.headers.fit(limits) else {
      throw ProtocolViolation(
        "the head is larger than \(limits.headBytes) bytes", status: .requestHeaderFieldsTooLarge)
    }
    var (pseudo, fields, cookies) = ([String: String](), HTTPFields(), [String]())
    for (name, value, _) in frame.headers {
      if name.hasPrefix(":") {
        pseudo[name] = value
      } else if name == "cookie", HTTPField.isValidValue(value) {
        // Clients may split this field so that it compresses better (RFC 9113 §8.2.3).
        cookies.append(value)
      } else {
        try fields.add(http2: name, value, limits: limits)
      }
    }
    // A subscript would split the value again.
    if !cookies.isEmpty {
      fields[fields: .cookie] = [HTTPField(name: .cookie, value: cookies.joined(separator: "; "))]
    }
    guard let method = pseudo[":method"].flatMap({ HTTPRequest.Method($0) }) else {
      throw ProtocolViolation("an invalid method (RFC 9110 §9.1)")
    }
    guard method != .connect else {
      throw ProtocolViolation("CONNECT over HTTP/2 is not supported", status: .notImplemented)
    }
    guard let path = pseudo[":path"], !path.isEmpty, let scheme = pseudo[":scheme"] else {
      throw ProtocolViolation("a request without path or scheme (RFC 9113 §8.3.1)")
    }
    guard path.utf8.count <= limits.targetBytes else {
      throw ProtocolViolation("the target is longer than \(limits.targetBytes) bytes", status: .uriTooLong)
    }
    guard path == "*" ? method == .options : path.utf8.first == 0x2F,
      path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 })
    else { throw ProtocolViolation("a byte that is not allowed in a request target (RFC 9112 §3.2)") }
    guard fields[.te].map({ $0 == "trailers" }) ?? true else {
      throw ProtocolViolation("TE other than trailers (RFC 9113 §8.2.2)")
    }
    // Other schemes than those of HTTP have no origin to ask (RFC 9113 §8.3.1).
    guard ["http", "https"].contains(FieldList.lowercased(scheme)) else {
      throw ProtocolViolation("a :scheme other than http and https (RFC 9113 §8.3.1)")
    }
    try Self.addHost(pseudo[":authority"], to: &fields)
    let origin = isForward ? pseudo[":authority"].map { "\(FieldList.lowercased(scheme))://\($0)" } : nil
    let length = try Framing.contentLength(fields)
    // NIOHTTP2 compares Content-Length with the data.
    let framing = frame.endStream || length == 0 ? Framing.none : length.map(Framing.length) ?? .untilClose
    self.init(method: method, path: path, origin: origin, fields: fields, framing: framing)
  }

  /// `:authority` takes the place of `Host`; both must not differ (RFC 9113 §8.3.1).
  private static func addHost(_ authority: String?, to fields: inout HTTPFields) throws(ProtocolViolation) {
    guard let authority else { return }
    guard fields.hosts.allSatisfy({ $0.lowercased() == authority.lowercased() }) else {
      throw ProtocolViolation("Host and :authority differ (RFC 9113 §8.3.1)")
    }
    // Without user information.
    guard let name = HTTPField.Name("host"), Authority(authority) != nil else {
      throw ProtocolViolation("an invalid :authority (RFC 9113 §8.3.1)")
    }
    fields[fields: name] = [HTTPField(name: name, value: authority)]
  }
}

extension HTTPFields {
  /// Adds a field of a head over HTTP/2.
  ///
  /// - Throws: `ProtocolViolation` for a field that is not allowed, and for more fields than `limits` allow.
  mutating func add(http2 name: String, _ value: String, limits: MessageLimits) throws(ProtocolViolation) {
    guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else {
      throw ProtocolViolation("a field that is not allowed (RFC 9113 §8.2.1)")
    }
    guard count < limits.fieldCount, appendBounded(HTTPField(name: name, value: value)) else {
      throw ProtocolViolation("more than \(limits.fieldCount) fields", status: .requestHeaderFieldsTooLarge)
    }
  }
}

extension MessageLimits {
  /// How often CONTINUATION may follow HEADERS (RFC 9113 §6.10): 16 frames of 16 KiB, as clients make them, have four
  /// times as many bytes as a head may have.
  static let continuationFrames = 16

  /// The size of the longest head to decode, with 32 bytes more for each field (RFC 9113 §6.5.2). A longer head than
  /// `headBytes` can be refused on its stream only if all of it is decoded (RFC 9113 §10.5.1), and the crumbs of a cookie
  /// count 41 bytes where the whole cookie has 5.
  var decodedHeadBytes: Int { 16 * max(0, min(headBytes, 1 << 26)) }
}

extension HPACKHeaders {
  /// Whether the head, or the trailers, would be within the limit over HTTP/1.1 too. The crumbs of a cookie count as in
  /// the whole cookie.
  func fit(_ limits: MessageLimits) -> Bool {
    var size = 0
    for (name, value, _) in self {
      size += value.utf8.count + (name == "cookie" ? 2 : name.utf8.count + 4)
      if size > limits.headBytes { return false }
    }
    return true
  }
}
