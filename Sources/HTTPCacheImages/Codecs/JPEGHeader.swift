import HTTPCaching

/// The markers of a JPEG file before its first scan (ITU-T T.81, annex B).
struct JPEGHeader {
  /// Width and height as stored.
  var size: ImageSize
  var isProgressive: Bool
  var orientation = ImageOrientation.up
  /// The ICC profile; nil if there is none, or if a part of it is missing.
  var profile: BodyBytes?
  /// Where the first scan begins.
  var scanStart: Int

  /// The largest profile that is read, in bytes.
  private static let profileLimit = 4 << 20

  static func recognizes(_ bytes: BodyBytes) -> Bool {
    bytes.prefix(2).array == [0xFF, 0xD8]
  }

  /// - Throws: `ImageError.truncated`, `ImageError.damaged` or `ImageError.unsupported`.
  init(_ bytes: BodyBytes) throws(ImageError) {
    self = try bytes.withUnsafeBytes { (bytes) throws(ImageError) in try JPEGHeader(bytes) }
  }

  private init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
    guard bytes.count >= 2 else { throw .truncated }
    guard bytes[0] == 0xFF, bytes[1] == 0xD8 else { throw .damaged("it does not begin with SOI") }
    var position = 2
    var size: ImageSize?
    var isProgressive = false
    var orientation: ImageOrientation?
    var parts: [UInt8: [UInt8]] = [:]
    var partCount = 0
    while true {
      let marker = try Self.marker(in: bytes, &position)
      if marker == 0xD9 { throw .damaged("it ends before its first scan") }
      if marker == 0x01 || (0xD0...0xD8).contains(marker) { continue }
      guard position + 2 <= bytes.count else { throw .truncated }
      let length = Int(bytes[position]) << 8 | Int(bytes[position + 1])
      guard length >= 2 else { throw .damaged("the length of a marker segment is \(length)") }
      guard position + length <= bytes.count else { throw .truncated }
      let segment = UnsafeRawBufferPointer(rebasing: bytes[position + 2..<position + length])
      switch marker {
      case 0xDA:
        guard let size else { throw .damaged("a scan comes before the frame header") }
        self.init(
          size: size, isProgressive: isProgressive, orientation: orientation ?? .up,
          profile: Self.profile(parts, partCount), scanStart: position + length)
        return
      case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker):
        guard segment.count >= 6 else { throw .damaged("the frame header is too short") }
        if let process = Self.unsupported(marker, precision: segment[0]) { throw .unsupported(process) }
        size = ImageSize(
          width: Int(segment[3]) << 8 | Int(segment[4]), height: Int(segment[1]) << 8 | Int(segment[2]))
        isProgressive = [0xC2, 0xC6, 0xCA, 0xCE].contains(marker)
        // The height may come in a segment DNL instead, which libjpeg does not read (T.81 §B.2.5).
        if let size, size.height == 0, size.width > 0 {
          throw .unsupported("JPEG that states its height behind the first scan")
        }
      case 0xF7: throw .unsupported("JPEG-LS")
      // A second segment continues a long first one, without the header of TIFF.
      case 0xE1 where orientation == nil && segment.starts(with: Array("Exif\0\0".utf8)):
        orientation = ImageOrientation(exif: Array(segment.dropFirst(6))[...])
      case 0xE2 where segment.count > 14 && segment.starts(with: Array("ICC_PROFILE\0".utf8)):
        parts[segment[12]] = Array(segment.dropFirst(14))
        partCount = Int(segment[13])
      default: break
      }
      position += length
    }
  }

  private init(
    size: ImageSize, isProgressive: Bool, orientation: ImageOrientation, profile: BodyBytes?, scanStart: Int
  ) {
    self.size = size
    self.isProgressive = isProgressive
    self.orientation = orientation
    self.profile = profile
    self.scanStart = scanStart
  }

  /// The name of a process that is valid and not decoded here; nil for another one (T.81, table B.1).
  private static func unsupported(_ marker: UInt8, precision: UInt8) -> String? {
    switch marker {
    case 0xC3, 0xC7, 0xCB, 0xCF: "lossless JPEG"
    case 0xC5, 0xC6, 0xCD, 0xCE: "hierarchical JPEG"
    default: precision == 8 ? nil : "JPEG with \(precision) bits"
    }
  }

  /// Reads a marker with its fill bytes. Bytes before it are skipped, as libjpeg does: some programs write segments that
  /// are longer than they say.
  private static func marker(
    in bytes: UnsafeRawBufferPointer, _ position: inout Int
  ) throws(ImageError) -> UInt8 {
    while true {
      while position < bytes.count, bytes[position] != 0xFF { position += 1 }
      while position < bytes.count, bytes[position] == 0xFF { position += 1 }
      guard position < bytes.count else { throw .truncated }
      position += 1
      // FF 00 stands for a byte of data.
      if bytes[position - 1] != 0 { return bytes[position - 1] }
    }
  }

  private static func profile(_ parts: [UInt8: [UInt8]], _ count: Int) -> BodyBytes? {
    guard count > 0, parts.count == count, parts.values.reduce(0, { $0 + $1.count }) <= profileLimit else {
      return nil
    }
    let ordered = (1...count).compactMap { UInt8(exactly: $0).flatMap { parts[$0] } }
    return ordered.count == count ? BodyBytes(ordered.flatMap { $0 }) : nil
  }
}
