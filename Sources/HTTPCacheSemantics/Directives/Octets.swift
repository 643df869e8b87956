/// A run of octets of a field value or URI, valid only within the call that lends it.
///
/// Rules work on octets and not on characters: field values may hold obs-text (RFC 9110 §5.5),
/// and comparing octets needs no allocation.
typealias Octets = UnsafeBufferPointer<UInt8>

/// The greatest number of seconds in calculations; larger numbers count as this one (RFC 9111 §1.2.2). It is
/// also the largest Integer of a structured field (RFC 9651 §3.3.1).
let greatestDeltaSeconds: Int64 = 999_999_999_999_999

extension UInt8 {
  @inline(__always) var isFieldWhitespace: Bool { self == 0x20 || self == 0x09 }
  @inline(__always) package var isDigit: Bool { self &- 0x30 < 10 }
  @inline(__always) package var isLetter: Bool { (self | 0x20) &- 0x61 < 26 }
  @inline(__always) var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

  /// The value of a hexadecimal digit.
  package var hexValue: UInt8? {
    if isDigit { return self &- 0x30 }
    let lower = self | 0x20
    return lower &- 0x61 < 6 ? lower &- 0x61 &+ 10 : nil
  }

  /// Whether it may be part of a token (RFC 9110 §5.6.2).
  var isTokenOctet: Bool {
    if isLetter || isDigit { return true }
    switch self {
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: return true
    default: return false
    }
  }
}

extension UnsafeBufferPointer<UInt8> {
  @inline(__always)
  func part(_ range: Range<Int>) -> Octets { Octets(rebasing: self[range]) }

  /// Without optional whitespace around it (RFC 9110 §5.6.3).
  func trimmed() -> Octets {
    var start = 0
    var end = count
    while start < end, self[start].isFieldWhitespace { start += 1 }
    while end > start, self[end - 1].isFieldWhitespace { end -= 1 }
    return part(start..<end)
  }

  /// Whether it spells `text`, which is in lower case, ignoring letter case.
  func isCaseInsensitively(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    for index in 0..<count where self[index].lowercased != text.utf8Start[index] { return false }
    return true
  }

  /// Whether it is one quoted string from its first to its last octet (RFC 9110 §5.6.4).
  var isQuotedString: Bool {
    guard count > 1, self[0] == UInt8(ascii: "\"") else { return false }
    var index = 1
    while index < count, self[index] != UInt8(ascii: "\"") {
      index += self[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return index == count - 1
  }

  func isEqual(to other: Octets) -> Bool {
    guard count == other.count, let left = baseAddress, let right = other.baseAddress else {
      return count == other.count
    }
    let (lefts, rights) = (UnsafeRawPointer(left), UnsafeRawPointer(right))
    var index = 0
    while index + 8 <= count {
      guard
        lefts.loadUnaligned(fromByteOffset: index, as: UInt64.self)
          == rights.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      else { return false }
      index += 8
    }
    while index < count {
      guard left[index] == right[index] else { return false }
      index += 1
    }
    return true
  }

  /// `delta-seconds` (RFC 9111 §1.2.2), saturating; nil for anything but digits.
  var deltaSeconds: Int64? {
    guard let value = decimal else { return nil }
    return Swift.min(value, greatestDeltaSeconds)
  }

  /// Digits as a number, saturating at the largest one; nil for anything else.
  var decimal: Int64? {
    guard count > 0 else { return nil }
    var value: Int64 = 0
    for octet in self {
      guard octet.isDigit else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      value = overflow ? .max : product.saturatingAdd(Int64(octet &- 0x30))
    }
    return value
  }

  /// One character per octet, so that different octets never become equal text.
  var text: String {
    if allSatisfy({ $0 < 0x80 }) { return String(decoding: self, as: UTF8.self) }
    var text = String.UnicodeScalarView()
    for octet in self { text.append(Unicode.Scalar(octet)) }
    return String(text)
  }

  /// The text with ASCII letters in lower case.
  var lowercasedText: String {
    if allSatisfy({ $0 < 0x80 }) {
      return String(unsafeUninitializedCapacity: count) { buffer in
        for index in 0..<count { buffer[index] = self[index].lowercased }
        return count
      }
    }
    return String(String.UnicodeScalarView(map { Unicode.Scalar($0.lowercased) }))
  }
}
