/// Makes a PNG: a coloured gradient, without compression, so that nothing but arithmetic is needed.
enum PNGImage {
  /// The file's bytes.
  ///
  /// - Parameters:
  ///   - width: in pixels, 1 to 4096.
  ///   - height: in pixels, 1 to 4096.
  static func gradient(width: Int, height: Int) -> [UInt8] {
    let (width, height) = (min(max(width, 1), 4096), min(max(height, 1), 4096))
    var rows: [UInt8] = []
    rows.reserveCapacity(height * (1 + 3 * width))
    for y in 0..<height {
      rows.append(0)
      for x in 0..<width {
        rows.append(UInt8(x * 255 / width))
        rows.append(UInt8(y * 255 / height))
        rows.append(160)
      }
    }
    var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    file += chunk("IHDR", bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [8, 2, 0, 0, 0])
    file += chunk("IDAT", zlibStored(rows))
    file += chunk("IEND", [])
    return file
  }

  private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    let typed = Array(type.utf8) + data
    return bigEndian(UInt32(data.count)) + typed + bigEndian(crc32(typed))
  }

  /// A zlib stream of stored blocks (RFC 1950, RFC 1951 §3.2.4).
  private static func zlibStored(_ data: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var start = 0
    repeat {
      let end = min(start + 65_535, data.count)
      let length = UInt16(end - start)
      stream.append(end == data.count ? 1 : 0)
      stream += [UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255), UInt8(~length >> 8)]
      stream += data[start..<end]
      start = end
    } while start < data.count
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in data {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return stream + bigEndian(high << 16 | low)
  }

  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
    }
    return ~crc
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }
}
