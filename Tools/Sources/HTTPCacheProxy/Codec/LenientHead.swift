import HTTPTypes

/// The head of a response in forms that a user agent takes (RFC 9112 §2.2, §5.2).
enum LenientHead {
  /// The number of bytes of a head with its empty line, whose lines may end in LF alone; nil until it has arrived.
  ///
  /// - Throws: `ProtocolViolation` for bytes that cannot begin a head, and for a head beyond the limits.
  static func end(
    in bytes: some RandomAccessCollection<UInt8>, limits: MessageLimits
  ) throws(ProtocolViolation) -> Int? {
    guard zip(bytes, "HTTP/".utf8).allSatisfy({ $0 == $1 }) else {
      throw ProtocolViolation("an invalid status line (RFC 9112 §4)")
    }
    var (count, lineCount) = (0, 0)
    for byte in bytes.prefix(limits.headBytes) {
      count += 1
      if byte == 0x0A {
        if lineCount == 0 { return count }
        lineCount = 0
      } else if byte != 0x0D {
        lineCount += 1
      }
    }
    guard bytes.count <= limits.headBytes else {
      throw ProtocolViolation("the head is larger than \(limits.headBytes) bytes", status: 431)
    }
    return nil
  }

  /// A head whose lines end in CRLF, each field on one of them.
  static func normalised(_ bytes: [UInt8]) -> [UInt8] {
    var head: [UInt8] = []
    head.reserveCapacity(bytes.count + 16)
    for (number, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let text = line.last == 0x0D ? line.dropLast() : line
      // A line that begins with white space behind the status line has no field to continue.
      if number > 1, let first = text.first, first == 0x20 || first == 0x09 {
        // The line before, without its CRLF and its white space.
        head.removeLast(2)
        while let last = head.last, last == 0x20 || last == 0x09 { head.removeLast() }
        head.append(0x20)
        head += text.drop { $0 == 0x20 || $0 == 0x09 }
      } else if text.isEmpty {
        break
      } else {
        head += text
      }
      head += [0x0D, 0x0A]
    }
    return head + [0x0D, 0x0A]
  }

  /// The fields with escapes for the octets of `Location` outside of ASCII, as clients ask for them (RFC 3986 §2.5). Those
  /// of a host stay: they are a name in UTF-8.
  static func escapedLocation(_ fields: HTTPFields) -> HTTPFields {
    guard let field = fields[fields: .location].first else { return fields }
    let octets = field.withUnsafeBytesOfValue { Array($0) }
    guard octets.contains(where: { $0 >= 0x80 }) else { return fields }
    let text = octets.map { Character(Unicode.Scalar($0)) }
    var start = 0
    if let colon = text.firstIndex(of: ":"), text.dropFirst(colon).starts(with: "://") {
      start = colon + 3
    } else if text.starts(with: "//") {
      start = 2
    }
    if start > 0 { start = text[start...].firstIndex { "/?#".contains($0) } ?? text.count }
    var value = Array(octets[..<start])
    for octet in octets[start...] {
      if octet >= 0x80 {
        value += "%\(String(octet, radix: 16, uppercase: true))".utf8
      } else {
        value.append(octet)
      }
    }
    var escaped = fields
    escaped[fields: .location] = [HTTPField(name: .location, lenientValue: value)]
    return escaped
  }
}
