import HTTPTypes
/// The head of a request as received.
struct RequestHead: Sendable {
  let method: HTTPRequest.Method
  private(set) var target: String
  /// The 1 of HTTP/1.1.
  let minorVersion: Int
  var fields: HTTPFields
  /// The framing of a request over HTTP/2, whose fields do not tell; nil for HTTP/1.1.
  private let framingOfStream: Framing?

  /// Makes the head of a request over HTTP/2.
  ///
  /// - Parameter path: the path of the target, or `*`.
  init(
    method: HTTPRequest.Method, path: String, origin: String?, fields: HTTPFields, framing: Framing
  ) {
    self.method = method
    target = origin.map { path == "*" ? $0 : $0 + path } ?? path
    minorVersion = 1
    self.fields = fields
    framingOfStream = framing
  }

  /// Parses a whole head, with its empty line.
  ///
  /// - Throws: `ProtocolViolation`.
  init(_ bytes: UnsafeRawBufferPointer, limits: MessageLimits) throws(ProtocolViolation) {
    let lineEnd = FieldParser.lineEnd(in: bytes, from: 0)
    let line = UnsafeRawBufferPointer(rebasing: bytes[..<lineEnd])
    let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw ProtocolViolation("an invalid request line (RFC 9112 §3)") }
    guard let method = HTTPRequest.Method(String(decoding: parts[0], as: UTF8.self)) else {
      throw ProtocolViolation("an invalid method (RFC 9110 §9.1)")
    }
    guard parts[1].count <= limits.targetBytes else {
      throw ProtocolViolation("the target is longer than \(limits.targetBytes) bytes", status: .uriTooLong)
    }
    // A target has no fragment, no control characters and no bytes beyond ASCII (RFC 9112 §3.2).
    guard !parts[1].isEmpty, parts[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x23 }) else {
      throw ProtocolViolation("a byte that is not allowed in a request target (RFC 9112 §3.2)")
    }
    self.method = method
    target = String(decoding: parts[1], as: UTF8.self)
    minorVersion = try Self.minorVersion(parts[2])
    framingOfStream = nil
    fields = try FieldParser(trimsNames: false, limits: limits)
      .fields(in: UnsafeRawBufferPointer(rebasing: bytes[(lineEnd + 2)...]))
  }

  /// The minor version of `HTTP/1.x`.
  static func minorVersion(_ bytes: some Collection<UInt8>) throws(ProtocolViolation) -> Int {
    let version = Array(bytes)
    guard version.count == 8, version.starts(with: "HTTP/".utf8), version[6] == 0x2E,
      (0x30...0x39).contains(version[5]), (0x30...0x39).contains(version[7])
    else { throw ProtocolViolation("an invalid HTTP version (RFC 9112 §2.3)") }
    guard version[5] == 0x31 else {
      throw ProtocolViolation("only HTTP/1.x is supported", status: .httpVersionNotSupported)
    }
    return Int(version[7] - 0x30)
  }

  /// The head with another target.
  func with(target: String) -> RequestHead {
    var head = self
    head.target = target
    return head
  }

  /// How the content is framed (RFC 9112 §6.3).
  ///
  /// - Throws: `ProtocolViolation` for requests that must not be forwarded: both framing fields, an unknown coding, or
  ///   chunked beside another coding.
  func framing() throws(ProtocolViolation) -> Framing {
    if let framingOfStream { return framingOfStream }
    let length = try Framing.contentLength(fields)
    if let codings = Framing.transferCodings(fields) {
      guard length == nil else {
        throw ProtocolViolation("Content-Length with Transfer-Encoding (RFC 9112 §6.1)")
      }
      guard minorVersion >= 1 else {
        throw ProtocolViolation("Transfer-Encoding in HTTP/1.0 (RFC 9112 §6.1)")
      }
      guard codings.last == "chunked" else {
        throw ProtocolViolation("chunked is not the last transfer coding (RFC 9112 §6.3)")
      }
      guard codings.count == 1 else {
        throw ProtocolViolation("an unsupported transfer coding", status: .notImplemented)
      }
      return .chunked
    }
    guard let length, length > 0 else { return .none }
    return .length(length)
  }

  /// Whether the request came over HTTP/2.
  var isHTTP2: Bool { framingOfStream != nil }

  /// The version as `Via` names it (RFC 9110 §7.6.3).
  var version: String { isHTTP2 ? "2" : minorVersion == 1 ? "1.1" : "1.\(minorVersion)" }

  /// Whether the client may send another request on the connection. A proxy keeps no connection of
  /// HTTP/1.0 open (RFC 9112 §9.3).
  var isPersistent: Bool {
    minorVersion >= 1 && !FieldList.contains("close", in: fields, .connection)
  }

  /// Whether the client waits for `100 Continue` (RFC 9110 §10.1.1).
  var expectsContinue: Bool {
    minorVersion >= 1 && FieldList.contains("100-continue", in: fields, .expect)
  }
}
