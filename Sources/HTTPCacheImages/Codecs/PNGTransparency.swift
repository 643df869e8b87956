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
    guard let chunk = PNGChunks.data(of: "tRNS", in: bytes), chunk.count == (header[25] == 0 ? 2 : 6),
      case let place = chunk.lowerBound,
      case let data = bytes[place..<place + (header[25] == 0 ? 2 : 6)].array,
      case let masked = masked(data, depth: header[24]), masked != data
    else { return bytes }
    var all = bytes.array
    all.replaceSubrange(place..<place + data.count, with: masked)
    let sum = PNGChunks.checksum(all[(place - 4)..<place + data.count])
    for index in 0..<4 {
      all[place + data.count + index] = UInt8(truncatingIfNeeded: sum >> UInt32(24 - 8 * index))
    }
    return BodyBytes(all)
  }

  private static func masked(_ data: [UInt8], depth: UInt8) -> [UInt8] {
    let mask = UInt8(truncatingIfNeeded: (1 << Int(depth)) - 1)
    return data.enumerated().map { $0.offset % 2 == 0 ? 0 : $0.element & mask }
  }
}
