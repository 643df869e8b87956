import HTTPCacheLibC
import HTTPTypes

/// Names that fields of most messages have. To read one of them makes no text; a name makes two, for its spelling and for
/// comparing.
enum KnownFieldNames {
  private struct Spelling {
    let octets: [UInt8]
    let name: HTTPField.Name
  }

  /// The name that is spelled so; nil if the table does not have it.
  static func name(_ octets: UnsafeRawBufferPointer) -> HTTPField.Name? {
    guard octets.count < spellings.count else { return nil }
    for spelling in spellings[octets.count] where isEqual(octets, spelling.octets) { return spelling.name }
    return nil
  }

  private static func isEqual(_ octets: UnsafeRawBufferPointer, _ other: [UInt8]) -> Bool {
    guard let start = octets.baseAddress else { return false }
    return other.withUnsafeBytes { other in
      other.baseAddress.map { memcmp(start, $0, octets.count) == 0 } ?? false
    }
  }

  /// By their length: each name as the specifications write it, and in lower case.
  private static let spellings: [[Spelling]] = {
    var spellings: [[Spelling]] = []
    for text in names.flatMap({ $0 == $0.lowercased() ? [$0] : [$0, $0.lowercased()] }) {
      guard let name = HTTPField.Name(text) else { continue }
      while spellings.count <= text.utf8.count { spellings.append([]) }
      spellings[text.utf8.count].append(Spelling(octets: Array(text.utf8), name: name))
    }
    return spellings
  }()

  private static let names = [
    "Accept", "Accept-Encoding", "Accept-Language", "Accept-Ranges", "Access-Control-Allow-Origin", "Age",
    "Allow", "Alt-Svc", "Authorization", "Cache-Control", "CDN-Cache-Control", "Connection",
    "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Location",
    "Content-Range", "Content-Security-Policy", "Content-Type", "Cookie", "Cross-Origin-Resource-Policy",
    "Date", "ETag", "Expires", "Forwarded", "Host", "If-Modified-Since", "If-None-Match", "If-Range",
    "Keep-Alive", "Last-Modified", "Link", "Location", "Origin", "Pragma", "Priority", "Range", "Referer",
    "Referrer-Policy", "Sec-CH-UA", "Sec-CH-UA-Mobile", "Sec-CH-UA-Platform", "Sec-Fetch-Dest",
    "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User", "Server", "Server-Timing", "Set-Cookie",
    "Strict-Transport-Security", "Timing-Allow-Origin", "traceparent", "tracestate", "Trailer",
    "Transfer-Encoding", "Upgrade", "Upgrade-Insecure-Requests", "User-Agent", "Vary", "Via",
    "X-Cache", "X-Content-Type-Options", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
    "X-Frame-Options", "X-Powered-By", "X-Request-ID", "X-XSS-Protection",
  ]
}
