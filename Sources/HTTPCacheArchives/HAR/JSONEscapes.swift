import HTTPCacheStore

/// Decodes the inside of a JSON string piece by piece (RFC 8259 §7).
struct JSONEscapes {
  private var rest: [UInt8] = []

  /// - Parameter isLast: whether the string ends with these bytes.
  /// - Throws: `CacheError.damaged` for an escape that JSON does not have.
  mutating func decode(_ piece: [UInt8], isLast: Bool) throws(CacheError) -> [UInt8] {
    let input = rest + piece
    rest = []
    var output: [UInt8] = []
    output.reserveCapacity(input.count)
    var index = 0
    while index < input.count {
      guard input[index] == UInt8(ascii: "\\") else {
        output.append(input[index])
        index += 1
        continue
      }
      // Two escapes of 6 bytes may be one character.
      if !isLast, input.count - index < 12 {
        rest = Array(input[index...])
        break
      }
      index = try Self.escape(input, at: index, to: &output)
    }
    return output
  }

  private static func escape(
    _ input: [UInt8], at start: Int, to output: inout [UInt8]
  ) throws(CacheError) -> Int {
    let damaged = CacheError(.damaged, "a string has an escape that JSON does not have")
    guard start + 1 < input.count else { throw damaged }
    switch input[start + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): output.append(input[start + 1])
    case UInt8(ascii: "b"): output.append(0x08)
    case UInt8(ascii: "f"): output.append(0x0C)
    case UInt8(ascii: "n"): output.append(0x0A)
    case UInt8(ascii: "r"): output.append(0x0D)
    case UInt8(ascii: "t"): output.append(0x09)
    case UInt8(ascii: "u"):
      guard let first = unit(input, start) else { throw damaged }
      if first & 0xFC00 == 0xD800, let second = unit(input, start + 6), second & 0xFC00 == 0xDC00 {
        append(0x10000 + UInt32(first & 0x3FF) << 10 + UInt32(second & 0x3FF), to: &output)
        return start + 12
      }
      append(UInt32(first), to: &output)
      return start + 6
    default: throw damaged
    }
    return start + 2
  }

  /// Half of a surrogate pair becomes the replacement character.
  private static func append(_ value: UInt32, to output: inout [UInt8]) {
    output.append(contentsOf: String(Unicode.Scalar(value) ?? "\u{FFFD}").utf8)
  }

  private static func unit(_ input: [UInt8], _ start: Int) -> UInt16? {
    guard start + 6 <= input.count, input[start] == UInt8(ascii: "\\"), input[start + 1] == UInt8(ascii: "u")
    else { return nil }
    let digits = input[start + 2..<start + 6]
    guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
    return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}
