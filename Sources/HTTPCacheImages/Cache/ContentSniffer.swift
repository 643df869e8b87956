import HTTPCacheSemantics
import HTTPCaching

/// Tells pages for people from images.
enum ContentSniffer {
  /// The first bytes of formats, and their place: JPEG, PNG, WebP, GIF, BMP, TIFF in both orders, HEIF with AVIF, ICO,
  /// JPEG XL as a stream and in a container.
  private static let signatures: [(place: Int, bytes: [UInt8])] = [
    (0, [0xFF, 0xD8, 0xFF]), (0, [0x89, 0x50, 0x4E, 0x47]), (8, Array("WEBP".utf8)),
    (0, Array("GIF8".utf8)), (0, Array("BM".utf8)), (0, [0x49, 0x49, 0x2A, 0]), (0, [0x4D, 0x4D, 0, 0x2A]),
    (4, Array("ftyp".utf8)), (0, [0, 0, 1, 0]), (0, [0xFF, 0x0A]), (4, Array("JXL ".utf8)),
  ]

  /// Whether bytes begin like an image, also like one that no decoder of the cache reads.
  static func isImage(_ bytes: BodyBytes) -> Bool {
    let start = bytes.prefix(16).array
    return signatures.contains { start.dropFirst($0.place).starts(with: $0.bytes) }
  }

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
