import HTTPCacheSemantics
import HTTPCaching

/// Tells pages for people from images.
enum ContentSniffer {
  /// The first bytes of formats, and their place: JPEG, PNG, WebP, GIF, BMP, TIFF in both orders, HEIF with AVIF, ICO,
  /// JPEG XL as a stream and in a container, BigTIFF in both orders, CUR, PSD, JPEG 2000 as a stream and in a container,
  /// JPEG XR.
  private static let signatures: [(name: String, place: Int, bytes: [UInt8])] = [
    ("JPEG", 0, [0xFF, 0xD8, 0xFF]), ("PNG", 0, [0x89, 0x50, 0x4E, 0x47]), ("WebP", 8, Array("WEBP".utf8)),
    ("GIF", 0, Array("GIF8".utf8)), ("BMP", 0, Array("BM".utf8)), ("TIFF", 0, [0x49, 0x49, 0x2A, 0]),
    ("TIFF", 0, [0x4D, 0x4D, 0, 0x2A]), ("AVIF", 4, Array("ftypavi".utf8)), ("HEIF", 4, Array("ftyp".utf8)),
    ("ICO", 0, [0, 0, 1, 0]), ("JPEG XL", 0, [0xFF, 0x0A]), ("JPEG XL", 4, Array("JXL ".utf8)),
    ("BigTIFF", 0, [0x49, 0x49, 0x2B, 0]), ("BigTIFF", 0, [0x4D, 0x4D, 0, 0x2B]),
    ("CUR", 0, [0, 0, 2, 0]), ("PSD", 0, Array("8BPS".utf8)),
    ("JPEG 2000", 0, [0xFF, 0x4F, 0xFF, 0x51]), ("JPEG 2000", 4, Array("jP  ".utf8)),
    ("JPEG XR", 0, [0x49, 0x49, 0xBC, 0x01]),
  ]

  /// The format of an image by its first bytes, also of one that no decoder of the cache reads; nil for other bytes.
  static func format(of bytes: BodyBytes) -> String? {
    let start = bytes.prefix(16).array
    return signatures.first { start.dropFirst($0.place).starts(with: $0.bytes) }?.name
      ?? (SVGProlog.isSVG(bytes) ? "SVG" : nil)
  }

  /// Whether bytes begin like an image.
  static func isImage(_ bytes: BodyBytes) -> Bool { format(of: bytes) != nil }

  /// Keeps pages for people out of the store, if they say so.
  static let hook = StoringHook { _, proposal in
    guard proposal.head.status.code == 200 || proposal.head.status.code == 203,
      let type = contentType(of: proposal.head)
    else { return proposal }
    return isImage(type) ? proposal : nil
  }

  /// The media type in lower case, without parameters; nil if there is none.
  static func contentType(of head: HTTPResponse) -> String? {
    guard let value = head.headerFields[.contentType]?.split(separator: ";").first else { return nil }
    let type = value.drop { $0 == " " }.lowercased()
    return type.isEmpty ? nil : type
  }

  private static func isImage(_ type: String) -> Bool {
    type.hasPrefix("image/") || type == "application/octet-stream" || type == "binary/octet-stream"
  }
}
