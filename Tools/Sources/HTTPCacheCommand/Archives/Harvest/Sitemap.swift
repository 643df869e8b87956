import HTTPCacheSemantics
import HTTPCacheStore

/// The URLs of a sitemap (sitemaps.org): of pages, or of further sitemaps; also as plain text, and in gzip.
struct Sitemap {
  private static let longest = 50 << 20

  var pages: [String] = []
  var sitemaps: [String] = []

  /// - Throws: `Failure` if it is neither.
  init(_ bytes: BodyBytes) throws {
    let bytes = try Self.decoded(bytes).array
    let start = bytes.first { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }
    if start == UInt8(ascii: "<") {
      try read(xml: bytes)
    } else {
      pages = URLList.urls(of: String(decoding: bytes, as: UTF8.self))
    }
    guard !pages.isEmpty || !sitemaps.isEmpty else { throw Failure(description: "no URL in the sitemap") }
  }

  private mutating func read(xml bytes: [UInt8]) throws {
    guard let document = MarkupDocument(xml: bytes) else { throw Failure(description: "not XML") }
    var (isIndex, found) = (false, [(url: String, isSitemap: Bool)]())
    document.forEach { element in
      switch element.name {
      case "sitemap": isIndex = true
      case "url": isIndex = false
      case "loc": found.append((element.text.filter { !$0.isWhitespace }, isIndex))
      default: break
      }
    }
    for (text, isSitemap) in found {
      guard let url = TargetURI.normalized(text) else { continue }
      if isSitemap { sitemaps.append(url) } else { pages.append(url) }
    }
  }

  private static func decoded(_ bytes: BodyBytes) throws -> BodyBytes {
    guard bytes.withUnsafeBytes({ $0.starts(with: [0x1F, 0x8B]) }) else { return bytes }
    var decoder = try GzipDecoder()
    var (input, pieces, length) = (bytes, [BodyBytes](), 0)
    repeat {
      let piece = try decoder.decode(&input)
      length += piece.count
      guard length <= longest else { throw Failure(description: "a sitemap of more than 50 MiB") }
      pieces.append(piece)
    } while !input.isEmpty || decoder.hasOutput
    return BodyBytes(pieces.flatMap(\.array))
  }

  /// Why a text is not a sitemap.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }
}
