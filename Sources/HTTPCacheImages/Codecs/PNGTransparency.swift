import HTTPCaching

/// The transparent color of a PNG file. Its samples have 16 bits, and only as many of the low ones count as the image has
/// (PNG §11.3.1.1); libspng compares all.
enum PNGTransparency {
  private static let headerLength = 33

  /// Whether a file is in the form that Xcode writes for iOS, whose pixels are in another order and uncompressed
  /// differently.
  static func isCgBI(_ bytes: BodyBytes) -> Bool {
    bytes.dropFirst(12).prefix(4).array.elementsEqual("CgBI".utf8)
  }

  /// The file with a transparent color of as many bits as the image has; unchanged if it is so already.
  static func masked(_ bytes: BodyBytes) -> BodyBytes {
    let header = bytes.prefix(headerLength).array
    // The color types gray and truecolor: of the others, the chunk has alpha values, or is not allowed.
    guard header.count == headerLength, header[25] == 0 || header[25] == 2, header[24] < 16 else {
      return bytes
    }
    guard let place = chunk(in: bytes),
      case let data = bytes[place..<place + (header[25] == 0 ? 2 : 6)].array,
      case let masked = masked(data, depth: header[24]), masked != data
    else { return bytes }
    var all = bytes.array
    all.replaceSubrange(place..<place + data.count, with: masked)
    let sum = checksum(all[(place - 4)..<place + data.count])
    for index in 0..<4 {
      all[place + data.count + index] = UInt8(truncatingIfNeeded: sum >> UInt32(24 - 8 * index))
    }
    return BodyBytes(all)
  }

  private static func masked(_ data: [UInt8], depth: UInt8) -> [UInt8] {
    let mask = UInt8(truncatingIfNeeded: (1 << Int(depth)) - 1)
    return data.enumerated().map { $0.offset % 2 == 0 ? 0 : $0.element & mask }
  }

  /// The place of the data of the chunk `tRNS`, which comes before the pixels; nil without one of the right length.
  private static func chunk(in bytes: BodyBytes) -> Int? {
    bytes.withUnsafeBytes { bytes in
      var position = 8
      while position + 12 <= bytes.count {
        let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
        let name = bytes[position + 4..<position + 8]
        if name.elementsEqual("IDAT".utf8) || length > bytes.count - position - 12 { return nil }
        if name.elementsEqual("tRNS".utf8) { return length == (bytes[25] == 0 ? 2 : 6) ? position + 8 : nil }
        position += 12 + length
      }
      return nil
    }
  }

  /// The CRC-32 of a few bytes (PNG, annex D).
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var sum: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }
    return ~sum
  }
}
