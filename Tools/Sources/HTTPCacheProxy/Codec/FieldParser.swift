import HTTPTypes

/// Parses the lines of a field section (RFC 9112 §5).
struct FieldParser {
  /// Whether to remove white space before the colon, as RFC 9112 §5.1 requires of a proxy for responses. In a request
  /// such white space is an error.
  let trimsNames: Bool
  let limits: MessageLimits

  /// Parses lines that end in CRLF, up to an empty one or the end of `bytes`.
  ///
  /// - Throws: `ProtocolViolation`.
  func fields(in bytes: UnsafeRawBufferPointer) throws(ProtocolViolation) -> HTTPFields {
    var fields = HTTPFields()
    // Not more: glibc has a list for each thread of pieces of up to a KiB.
    fields.reserveCapacity(15)
    var start = 0
    while start < bytes.count {
      let line = UnsafeRawBufferPointer(rebasing: bytes[start..<Self.lineEnd(in: bytes, from: start)])
      start += line.count + 2
      if line.isEmpty { break }
      guard fields.count < limits.fieldCount else {
        throw ProtocolViolation("more than \(limits.fieldCount) fields", status: .requestHeaderFieldsTooLarge)
      }
      // bounded: the line before compares with the limit.
      fields.append(try field(in: line))
    }
    return fields
  }

  /// The end of the line that begins at `start`: the position of the CR of its CRLF.
  static func lineEnd(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var index = start
    while index < bytes.count, bytes[index] != 0x0A { index += 1 }
    return max(start, index - 1)
  }

  private func field(in line: UnsafeRawBufferPointer) throws(ProtocolViolation) -> HTTPField {
    if line[0] == 0x20 || line[0] == 0x09 {
      throw ProtocolViolation("a folded field line (RFC 9112 §5.2)")
    }
    guard let colon = line.firstIndex(of: 0x3A) else {
      throw ProtocolViolation("a field line without a colon (RFC 9112 §5)")
    }
    var nameEnd = colon
    if trimsNames { while nameEnd > 0, Self.isBlank(line[nameEnd - 1]) { nameEnd -= 1 } }
    let octets = UnsafeRawBufferPointer(rebasing: line[..<nameEnd])
    guard
      let name = KnownFieldNames.name(octets) ?? HTTPField.Name(String(decoding: octets, as: UTF8.self))
    else {
      throw ProtocolViolation("an invalid field name (RFC 9110 §5.1)")
    }
    var start = colon + 1
    var end = line.count
    while start < end, Self.isBlank(line[start]) { start += 1 }
    while end > start, Self.isBlank(line[end - 1]) { end -= 1 }
    let value = UnsafeRawBufferPointer(rebasing: line[start..<end])
    if value.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
      return HTTPField(name: name, value: String(decoding: value, as: UTF8.self))
    }
    for byte in value where byte == 0 || byte == 0x0D || byte == 0x0A {
      throw ProtocolViolation("NUL or CR in the field \(name.rawName) (RFC 9110 §5.5)")
    }
    return HTTPField(name: name, lenientValue: value)
  }

  /// Whether it is white space around a value: a space or a tab (RFC 9110 §5.6.3).
  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
