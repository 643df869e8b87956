import HTTPTypes

/// The head of a response, and its trailers, in forms that a user agent takes (RFC 9112 §2.2, §5.2).
enum LenientHead {
  /// A head, or trailers, whose lines end in CRLF, each field on one of them. Control characters of a value are spaces,
  /// apart from NUL and CR. A reader has to refuse these (RFC 9110 §5.5), and those in the name of a field, which would
  /// give it another name.
  ///
  /// - Parameter startLines: the number of lines before the first field.
  static func normalised(_ bytes: some BidirectionalCollection<UInt8>, startLines: Int) -> [UInt8] {
    var head: [UInt8] = []
    head.reserveCapacity(bytes.count + 16)
    for (number, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let raw = line.last == 0x0D ? line.dropLast() : line
      // A line that begins with white space where the first field is expected has no field to continue.
      let isContinued = number > startLines && (raw.first == 0x20 || raw.first == 0x09)
      let name = isContinued || number < startLines ? raw.prefix(0) : raw.prefix { $0 != UInt8(ascii: ":") }
      let text = name + raw[name.endIndex...].map(visible)
      if isContinued {
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

  private static func visible(_ byte: UInt8) -> UInt8 {
    switch byte {
    case 0, 0x09, 0x0D: byte
    case 1..<0x20, 0x7F: 0x20
    default: byte
    }
  }

  /// The fields with escapes for the octets of `Location` outside of ASCII, as clients ask for them (RFC 3986 §2.5). Those
  /// of a host stay: they are a name in UTF-8.
  static func escapedLocation(_ fields: HTTPFields) -> HTTPFields {
    guard let field = fields[fields: .location].first else { return fields }
    let octets = field.withUnsafeBytesOfValue { Array($0) }
    guard octets.contains(where: { $0 >= 0x80 }) else { return fields }
    let start = Authority.range(in: octets)?.upperBound ?? 0
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

extension ResponseHead {
  /// Parses a whole head in a form that a user agent takes, and escapes its `Location`.
  ///
  /// - Throws: `ProtocolViolation`.
  init(lenient bytes: UnsafeRawBufferPointer, limits: MessageLimits) throws(ProtocolViolation) {
    let normal = LenientHead.normalised(bytes, startLines: 1)
    self = try normal.withUnsafeBufferPointer { bytes throws(ProtocolViolation) in
      try ResponseHead(UnsafeRawBufferPointer(bytes), limits: limits)
    }
    fields = LenientHead.escapedLocation(fields)
  }
}
