import NIOHPACK

/// The pseudo-fields of a request (RFC 9113 §8.3.1).
private struct PseudoFields: OptionSet {
  let rawValue: UInt8

  static let method = PseudoFields(rawValue: 1)
  static let scheme = PseudoFields(rawValue: 2)
  static let path = PseudoFields(rawValue: 4)
  static let authority = PseudoFields(rawValue: 8)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// - Returns: nil for a name that no request may have.
  init?(_ name: String) {
    switch name {
    case ":method": self = .method
    case ":scheme": self = .scheme
    case ":path": self = .path
    case ":authority": self = .authority
    default: return nil
    }
  }
}

/// The rules for the fields of a message (RFC 9113 §8.1.1), as NIOHTTP2 has them. NIOHTTP2 checks what it receives only
/// together with what it sends, and to check a head that is sent takes a sixth of an answer from memory.
extension HPACKHeaders {
  /// Whether the fields may be those of a request (RFC 9113 §8.2, §8.3).
  var isWellFormedRequest: Bool {
    var seen = PseudoFields()
    var (isConnect, hasFields) = (false, false)
    for (name, value, _) in self {
      if name.utf8.first == 0x3A {
        guard !hasFields, let field = PseudoFields(name), seen.insert(field).inserted,
          field != .path || value != "",
          value.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { return false }
        if field == .method { isConnect = value == "CONNECT" }
      } else {
        hasFields = true
        guard Self.isRegular(name, value), name != "te" || value == "trailers" else { return false }
      }
    }
    return isConnect ? seen == [.method, .authority] : seen.isSuperset(of: [.method, .scheme, .path])
  }

  /// Whether the fields may be trailers (RFC 9113 §8.1).
  var areWellFormedTrailers: Bool { allSatisfy { Self.isRegular($0.name, $0.value) } }

  /// Whether a field is no pseudo-field, has a name in lower case and a value that no message ends in, and is not for one
  /// connection (RFC 9113 §8.2.1, §8.2.2).
  private static func isRegular(_ name: String, _ value: String) -> Bool {
    var (name, value) = (name, value)
    return name.withUTF8 { octets in
      !octets.isEmpty && octets.allSatisfy(isTokenOctet) && !isOfConnection(UnsafeRawBufferPointer(octets))
    } && value.withUTF8 { octets in octets.allSatisfy { $0 != 0 && $0 != 0x0A && $0 != 0x0D } }
  }

  /// Whether a name may have an octet (RFC 9110 §5.6.2), without capital letters.
  private static func isTokenOctet(_ octet: UInt8) -> Bool {
    switch octet {
    case 0x61...0x7A, 0x2D, 0x30...0x39, 0x5E...0x60, 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2E, 0x7C, 0x7E: true
    default: false
    }
  }

  private static func isOfConnection(_ name: UnsafeRawBufferPointer) -> Bool {
    switch name.count {
    case 7: FieldNameTable.isEqual(name, "upgrade")
    case 10: FieldNameTable.isEqual(name, "connection") || FieldNameTable.isEqual(name, "keep-alive")
    case 16: FieldNameTable.isEqual(name, "proxy-connection")
    case 17: FieldNameTable.isEqual(name, "transfer-encoding")
    default: false
    }
  }
}
