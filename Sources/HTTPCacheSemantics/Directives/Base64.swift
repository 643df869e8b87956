/// Bytes as text: base64 without padding, with an alphabet of RFC 4648.
package enum Base64 {
  /// The alphabet of §4.
  case standard
  /// The alphabet of §5, for URLs and names of files.
  case url

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The text in the alphabet for URLs.
  package static func encodeURL(_ bytes: some Collection<UInt8>) -> String {
    var output: [UInt8] = []
    output.reserveCapacity((bytes.count * 4 + 2) / 3)
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        output.append(alphabet[Int(bits >> UInt32(count) & 63)])
      }
    }
    if count > 0 { output.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
    return String(decoding: output, as: UTF8.self)
  }

  /// Nil for any other text.
  ///
  /// - Parameter allowsRest: whether the bits of the last digit that belong to no byte may be other than 0.
  package func decode(_ text: some Collection<UInt8>, allowsRest: Bool = false) -> [UInt8]? {
    var output: [UInt8] = []
    output.reserveCapacity(text.count * 3 / 4)
    var bits: UInt32 = 0
    var count = 0
    for octet in text {
      guard let value = value(of: octet) else { return nil }
      bits = bits << 6 | value
      count += 6
      if count >= 8 {
        count -= 8
        output.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    guard count < 6, allowsRest || bits & ((1 << UInt32(count)) - 1) == 0 else { return nil }
    return output
  }

  private func value(of octet: UInt8) -> UInt32? {
    switch octet {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(octet) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(octet) - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(octet) + 4
    case UInt8(ascii: "-") where self == .url, UInt8(ascii: "+") where self == .standard: 62
    case UInt8(ascii: "_") where self == .url, UInt8(ascii: "/") where self == .standard: 63
    default: nil
    }
  }
}
