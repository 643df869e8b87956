import HTTPCaching

/// The chunks of a PNG file (PNG §5.3).
enum PNGChunks {
  /// The place of the data of the first chunk with a name; nil without one.
  ///
  /// - Parameter passesPixels: whether to look behind the pixels, too.
  static func data(of name: String, in bytes: BodyBytes, passesPixels: Bool = false) -> Range<Int>? {
    bytes.withUnsafeBytes { bytes in
      var position = 8
      while position + 12 <= bytes.count {
        let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
        let found = bytes[position + 4..<position + 8]
        if length > bytes.count - position - 12 { return nil }
        if !passesPixels, found.elementsEqual("IDAT".utf8) { return nil }
        if found.elementsEqual(name.utf8) { return position + 8..<position + 8 + length }
        position += 12 + length
      }
      return nil
    }
  }

  /// Whether the checksum behind the data of a chunk is right.
  static func isIntact(_ data: Range<Int>, in bytes: BodyBytes) -> Bool {
    let sum = checksum(bytes[data.lowerBound - 4..<data.upperBound].array[...])
    return bytes[data.upperBound..<data.upperBound + 4].array.reduce(0) { $0 << 8 | UInt32($1) } == sum
  }

  /// The CRC-32 of a few bytes (PNG, annex D).
  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var sum: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }
    return ~sum
  }
}
