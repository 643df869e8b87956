import HTTPCaching

/// The scans of a JPEG file (ITU-T T.81, annex B.2). libjpeg passes over all blocks of the image for each of them, however
/// few bytes it has.
enum JPEGScans {
  /// The maximum number of scans of an image, as in Chromium; cameras and encoders write up to 20.
  private static let limit = 100
  /// The maximum of pixels in all scans together, in multiples of the limit of pixels.
  private static let workFactor = 16

  /// - Parameters:
  ///   - header: the header of the file, whose size is within the limit.
  ///   - pixelLimit: the maximum number of pixels of an image.
  /// - Throws: `ImageError.unsupported` for a file with more scans.
  static func check(_ bytes: BodyBytes, _ header: JPEGHeader, pixelLimit: Int) throws(ImageError) {
    let images = pixelLimit / max(1, header.size.width * header.size.height)
    let allowed = min(limit, workFactor * min(images, limit))
    let count = bytes.withUnsafeBytes { Self.count(in: $0, from: header.scanStart) }
    guard count <= allowed else { throw .unsupported("a JPEG with \(count) scans, more than \(allowed),") }
  }

  /// Counts the scans.
  ///
  /// - Parameter start: where the data of the first one begins.
  private static func count(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var (count, index) = (1, start)
    while index + 3 < bytes.count {
      guard bytes[index] == 0xFF else {
        index += 1
        continue
      }
      switch bytes[index + 1] {
      // A byte FF of the data, or a marker without a segment.
      case 0x00, 0x01, 0xD0...0xD8: index += 2
      case 0xFF: index += 1
      case 0xD9: return count
      case let marker:
        if marker == 0xDA { count += 1 }
        index += 2 + max(2, Int(bytes[index + 2]) << 8 | Int(bytes[index + 3]))
      }
    }
    return count
  }
}
