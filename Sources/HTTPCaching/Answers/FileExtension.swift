import HTTPTypes

/// File name extensions from a table, so that no text of a message gets into a file name.
enum FileExtension {
  /// The extension with its dots, for example `.json.gz`; empty for a type that is not in the table.
  static func of(_ fields: HTTPFields) -> String {
    let type = fields[.contentType].map { essence($0) } ?? ""
    let name = types[type].map { "." + $0 } ?? ""
    guard let coding = fields[.contentEncoding] else { return name }
    return name + (codings[essence(coding)] ?? ".encoded")
  }

  /// The media type or coding of a value, without parameters.
  static func essence(_ value: String) -> String { essence(value.utf8) }

  /// As `essence(_:)`, of octets: each response passes here.
  static func essence(_ octets: some Collection<UInt8>) -> String {
    let value = octets.prefix { $0 != UInt8(ascii: ";") }.drop { $0 == 0x20 || $0 == 0x09 }
    let name = String(decoding: value.prefix { $0 != 0x20 && $0 != 0x09 }.prefix(128), as: UTF8.self)
    return name.utf8.contains { (0x41...0x5A).contains($0) || $0 >= 0x80 } ? name.lowercased() : name
  }

  private static let codings = [
    "identity": "", "gzip": ".gz", "x-gzip": ".gz", "br": ".br", "zstd": ".zst", "deflate": ".zz",
    "compress": ".Z",
  ]

  private static let types = [
    "text/html": "html", "text/plain": "txt", "text/css": "css", "text/csv": "csv",
    "text/javascript": "js", "text/markdown": "md", "text/xml": "xml", "text/calendar": "ics",
    "text/vcard": "vcf", "text/vtt": "vtt",
    "application/json": "json", "application/ld+json": "json", "application/geo+json": "geojson",
    "application/javascript": "js", "application/xml": "xml", "application/xhtml+xml": "xhtml",
    "application/atom+xml": "atom", "application/rss+xml": "rss", "application/pdf": "pdf",
    "application/zip": "zip", "application/gzip": "gz", "application/x-tar": "tar",
    "application/x-bzip2": "bz2", "application/x-7z-compressed": "7z", "application/zstd": "zst",
    "application/epub+zip": "epub", "application/rtf": "rtf", "application/wasm": "wasm",
    "application/sql": "sql", "application/vnd.sqlite3": "sqlite",
    "application/x-apple-diskimage": "dmg", "application/msword": "doc",
    "application/vnd.ms-excel": "xls", "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.apple.mpegurl": "m3u8", "application/dash+xml": "mpd",
    "application/vnd.apple.pkpass": "pkpass", "application/vnd.google-earth.kml+xml": "kml",
    "application/gpx+xml": "gpx",
    "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp",
    "image/avif": "avif", "image/heic": "heic", "image/heif": "heif", "image/svg+xml": "svg",
    "image/tiff": "tiff", "image/bmp": "bmp", "image/jxl": "jxl", "image/x-icon": "ico",
    "image/vnd.microsoft.icon": "ico",
    "audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/aac": "aac", "audio/ogg": "ogg",
    "audio/opus": "opus", "audio/flac": "flac", "audio/wav": "wav", "audio/webm": "weba",
    "video/mp4": "mp4", "video/mpeg": "mpeg", "video/quicktime": "mov", "video/webm": "webm",
    "video/ogg": "ogv", "video/mp2t": "ts", "video/x-matroska": "mkv",
    "font/ttf": "ttf", "font/otf": "otf", "font/woff": "woff", "font/woff2": "woff2",
    "model/gltf-binary": "glb", "model/gltf+json": "gltf", "model/vnd.usdz+zip": "usdz",
  ]
}
