import HTTPTypes

/// Names of fields that responses often have, found by their bytes, so that decoding a record does not make
/// them anew.
enum CommonFieldNames {
  private struct Entry {
    let bytes: [UInt8]
    let name: HTTPField.Name
  }

  /// By their lengths.
  private static let entries: [[Entry]] = {
    let names = [
      "Accept-Ranges", "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers",
      "Access-Control-Allow-Methods", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
      "Access-Control-Max-Age", "Age", "Allow", "Alt-Svc", "Cache-Control", "Cache-Status", "CF-Cache-Status",
      "CF-Ray", "Content-Digest", "Content-Disposition", "Content-Encoding", "Content-Language",
      "Content-Length", "Content-Location", "Content-Range", "Content-Security-Policy", "Content-Type",
      "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Date", "ETag", "Expires",
      "Last-Modified",
      "Link", "Location", "NEL", "Permissions-Policy", "Pragma", "Referrer-Policy", "Report-To", "Server",
      "Server-Timing", "Set-Cookie", "Strict-Transport-Security", "Timing-Allow-Origin", "Vary", "Via",
      "X-Cache", "X-Cache-Hits", "X-Content-Type-Options", "X-Frame-Options", "X-Powered-By", "X-Request-Id",
      "X-Served-By", "X-Timer", "X-XSS-Protection",
    ]
    var entries: [[Entry]] = []
    for text in names + names.map({ $0.lowercased() }) {
      guard let name = HTTPField.Name(text) else { continue }
      let bytes = Array(text.utf8)
      while entries.count <= bytes.count { entries.append([]) }
      entries[bytes.count].append(Entry(bytes: bytes, name: name))
    }
    return entries
  }()

  /// The name that is written so, letter by letter; nil if it is none of these.
  static func name(_ bytes: UnsafeRawBufferPointer) -> HTTPField.Name? {
    guard bytes.count < entries.count, let first = bytes.first else { return nil }
    for entry in entries[bytes.count] where entry.bytes[0] == first {
      let isEqual = entry.bytes.withUnsafeBytes { known in
        for index in 1..<known.count where known[index] != bytes[index] { return false }
        return true
      }
      if isEqual { return entry.name }
    }
    return nil
  }
}
