import HTTPTypes

/// The head of an origin's response as received.
struct ResponseHead: Sendable {
  let status: HTTPResponse.Status
  let minorVersion: Int
  var fields: HTTPFields

  /// Parses a whole head, with its empty line.
  ///
  /// - Throws: `ProtocolViolation`.
  init(_ bytes: UnsafeRawBufferPointer, limits: MessageLimits) throws(ProtocolViolation) {
    let lineEnd = FieldParser.lineEnd(in: bytes, from: 0)
    let line = UnsafeRawBufferPointer(rebasing: bytes[..<lineEnd])
    guard line.count >= 12, line[8] == 0x20, line.count == 12 || line[12] == 0x20 else {
      throw ProtocolViolation("an invalid status line (RFC 9112 §4)")
    }
    minorVersion = try RequestHead.minorVersion(line[..<8])
    let digits = line[9..<12]
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }), line[9] >= 0x31 else {
      throw ProtocolViolation("an invalid status code (RFC 9110 §15)")
    }
    guard !line.contains(0), !line.contains(0x0D) else {
      throw ProtocolViolation("NUL or CR in the status line (RFC 9112 §4)")
    }
    var reason = ""
    for byte in line.dropFirst(13) { reason.unicodeScalars.append(Unicode.Scalar(byte)) }
    status = HTTPResponse.Status(
      code: digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }, reasonPhrase: reason)
    fields = try FieldParser(trimsNames: true, limits: limits)
      .fields(in: UnsafeRawBufferPointer(rebasing: bytes[(lineEnd + 2)...]))
  }

  /// Codings that change the content (RFC 9112 §7.2): without their label the content would be wrong.
  private static let registeredCodings: Set<String> = [
    "compress", "x-compress", "deflate", "gzip", "x-gzip",
  ]

  /// How the content is framed (RFC 9112 §6.3). With an unknown transfer coding the content goes to the end of the
  /// connection, as in RFC 9112, and its bytes are forwarded unchanged.
  ///
  /// - Throws: `ProtocolViolation`.
  func framing(for method: HTTPRequest.Method) throws(ProtocolViolation) -> Framing {
    let length = try Framing.contentLength(fields)
    let codings = Framing.transferCodings(fields)
    if length != nil, codings != nil {
      throw ProtocolViolation("Content-Length with Transfer-Encoding (RFC 9112 §6.3)")
    }
    if method == .head || status.code < 200 || status.code == 204 || status.code == 304 { return .none }
    if let codings {
      if codings.last == "chunked" {
        guard codings.count == 1 else {
          throw ProtocolViolation("an unrequested transfer coding under chunked (RFC 9112 §7)")
        }
        guard minorVersion >= 1 else {
          throw ProtocolViolation("Transfer-Encoding in HTTP/1.0 (RFC 9112 §6.1)")
        }
        return .chunked
      }
      // `chunked` with parameters is still chunked (RFC 9112 §7, §7.1).
      let names = codings.map { FieldList.token(before: ";", in: $0) }
      guard !names.contains("chunked") else {
        throw ProtocolViolation(
          "chunked is not the last transfer coding, or has parameters (RFC 9112 §6.1, §7.1)")
      }
      guard Self.registeredCodings.isDisjoint(with: names) else {
        throw ProtocolViolation("an unrequested transfer coding (RFC 9112 §7)")
      }
      return .untilClose
    }
    return length.map { $0 == 0 ? .none : .length($0) } ?? .untilClose
  }

  /// Whether the origin keeps the connection open (RFC 9112 §9.3).
  var isPersistent: Bool {
    if FieldList.contains("close", in: fields, .connection) { return false }
    return minorVersion >= 1 || FieldList.contains("keep-alive", in: fields, .connection)
  }
}
