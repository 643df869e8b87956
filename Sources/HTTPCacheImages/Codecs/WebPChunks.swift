import HTTPCaching

/// The metadata of a WebP file (WebP Container Specification, "Extended File Format"). libwebpdemux gives no metadata if a
/// chunk behind the pixels is damaged, and libwebp decodes the pixels of such a file.
enum WebPChunks {
  /// A chunk, as the bit of the header that announces it: without the bit, the chunk is passed over.
  enum Chunk: UInt8 {
    case exif = 0x08
    case profile = 0x20

    fileprivate var name: String { self == .exif ? "EXIF" : "ICCP" }
  }

  private static let flagsPlace = 20

  /// The data of the first such chunk; nil without one.
  static func data(of chunk: Chunk, in bytes: BodyBytes) -> [UInt8]? {
    bytes.withUnsafeBytes { bytes -> [UInt8]? in
      guard bytes.count > flagsPlace, bytes[12..<16].elementsEqual("VP8X".utf8),
        bytes[flagsPlace] & chunk.rawValue != 0
      else { return nil }
      let end = min(bytes.count, 8 + number(in: bytes, at: 4))
      var position = 12
      while position + 8 <= end {
        let length = number(in: bytes, at: position + 4)
        guard length <= end - position - 8 else { return nil }
        if bytes[position..<position + 4].elementsEqual(chunk.name.utf8) {
          return Array(bytes[position + 8..<position + 8 + length])
        }
        // Data of an odd length have a byte of padding.
        position += 8 + length + length % 2
      }
      return nil
    }
  }

  private static func number(in bytes: UnsafeRawBufferPointer, at place: Int) -> Int {
    bytes[place..<place + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}
