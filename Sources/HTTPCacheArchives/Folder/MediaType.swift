/// The media type of a file that has no recorded `Content-Type`.
enum MediaType {
  /// The type of a name's extension; nil for an unknown one.
  static func ofExtension(_ text: String) -> String? { types[text.lowercased()] }

  /// Whether a type is that of a text.
  static func isText(_ type: String?) -> Bool {
    let name = essence(type)
    return name.hasPrefix("text/") || name.hasSuffix("+json") || name.hasSuffix("+xml")
      || ["application/json", "application/xml", "application/javascript"].contains(name)
  }

  /// Whether texts of a type are always in UTF-8 (RFC 8259 §8.1).
  static func isJSON(_ type: String?) -> Bool {
    let name = essence(type)
    return name == "application/json" || name.hasSuffix("+json")
  }

  /// A type without its parameters.
  private static func essence(_ type: String?) -> String {
    (type ?? "").prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
  }

  /// The type that the first bytes of a body show.
  static func ofContent(_ bytes: [UInt8]) -> String {
    for (signature, type) in signatures where bytes.starts(with: signature) { return type }
    if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) {
      return "image/webp"
    }
    guard !bytes.contains(0), let text = text(bytes) else { return "application/octet-stream" }
    let start = text.drop { $0.isWhitespace }.prefix(64).lowercased()
    if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") { return "text/html" }
    if start.hasPrefix("<svg") { return "image/svg+xml" }
    if start.hasPrefix("<?xml") { return "application/xml" }
    if start.hasPrefix("{") || start.hasPrefix("[") { return "application/json" }
    return "text/plain; charset=utf-8"
  }

  /// The bytes as text, without a character that the end cuts; nil if they are not UTF-8.
  private static func text(_ bytes: [UInt8]) -> String? {
    for dropped in 0...min(3, bytes.count) {
      if let text = String(validating: bytes.dropLast(dropped), as: UTF8.self) { return text }
    }
    return nil
  }

  private static let signatures: [([UInt8], String)] = [
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"),
    ([0xFF, 0xD8, 0xFF], "image/jpeg"),
    (Array("GIF87a".utf8), "image/gif"),
    (Array("GIF89a".utf8), "image/gif"),
    (Array("%PDF-".utf8), "application/pdf"),
    ([0x1F, 0x8B], "application/gzip"),
    ([0x50, 0x4B, 0x03, 0x04], "application/zip"),
    (Array("wOFF".utf8), "font/woff"),
    (Array("wOF2".utf8), "font/woff2"),
    ([0x00, 0x61, 0x73, 0x6D], "application/wasm"),
  ]

  private static let types: [String: String] = [
    "html": "text/html", "htm": "text/html", "xhtml": "application/xhtml+xml", "css": "text/css",
    "js": "text/javascript", "mjs": "text/javascript", "json": "application/json",
    "map": "application/json", "geojson": "application/geo+json", "webmanifest": "application/manifest+json",
    "xml": "application/xml", "rss": "application/rss+xml", "atom": "application/atom+xml",
    "txt": "text/plain; charset=utf-8", "md": "text/markdown; charset=utf-8", "csv": "text/csv",
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "avif": "image/avif", "heic": "image/heic", "svg": "image/svg+xml", "ico": "image/x-icon",
    "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff", "woff": "font/woff",
    "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf", "mp3": "audio/mpeg", "m4a": "audio/mp4",
    "aac": "audio/aac", "wav": "audio/wav", "ogg": "audio/ogg", "mp4": "video/mp4", "m4v": "video/mp4",
    "webm": "video/webm", "mov": "video/quicktime", "m3u8": "application/vnd.apple.mpegurl",
    "ts": "video/mp2t", "pdf": "application/pdf", "zip": "application/zip", "gz": "application/gzip",
    "tar": "application/x-tar", "wasm": "application/wasm", "bin": "application/octet-stream",
    "plist": "application/x-plist", "ics": "text/calendar", "vtt": "text/vtt", "yaml": "application/yaml",
    "yml": "application/yaml", "php": "text/html", "asp": "text/html", "aspx": "text/html",
    "jsp": "text/html",
  ]
}
