import NIOHPACK

extension PlainRequest {
  /// Sets `key` for a request over HTTP/2 without a body. The key differs from every key of HTTP/1.1.
  ///
  /// - Returns: false if the request is not plain.
  mutating func find(in headers: HPACKHeaders) -> Bool {
    guard headers.count <= limits.fieldCount else { return false }
    key.removeAll(keepingCapacity: true)
    // A target of HTTP/1.1 does not begin so.
    key.append(0)
    for (name, value, _) in headers {
      guard let mark = Self.mark(of: name, value), mark != Field.refused.rawValue else { return false }
      // No value has a line feed, so different requests have different keys.
      guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { return false }
      if mark == Field.ignored.rawValue { continue }
      key.append(mark)
      if mark == Field.cookie.rawValue { continue }
      if mark == Field.other.rawValue {
        // A name has no colon.
        key.append(contentsOf: name.utf8)
        key.append(0x3A)
      }
      key.append(contentsOf: value.utf8)
      key.append(0x0A)
    }
    return key.count <= limits.headBytes
  }

  /// The octet for a field in the key; nil if the request is not plain.
  private static func mark(of name: String, _ value: String) -> UInt8? {
    switch name {
    case ":method": return value == "GET" ? Field.ignored.rawValue : nil
    case ":path": return value.utf8.count <= 8 << 10 && value.hasPrefix("/") ? 0x80 : nil
    case ":scheme": return 0x81
    case ":authority": return 0x82
    default:
      var name = name
      let field = name.withUTF8 { FieldNameTable.field(UnsafeRawBufferPointer($0)) }
      // HTTP/2 has no fields for one connection.
      return field == .connection || name.hasPrefix(":") ? nil : field.rawValue
    }
  }
}
