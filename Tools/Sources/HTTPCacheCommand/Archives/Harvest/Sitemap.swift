import HTTPCacheArchives
import HTTPCacheSemantics
import HTTPCacheStore

/// The URLs of a sitemap (sitemaps.org): of pages, or of further sitemaps; also as plain text, and in gzip.
struct Sitemap {
  /// The limit of sitemaps.org for the decoded bytes.
  private static let longest = 50 << 20

  private(set) var pages = DocumentURLs()
  private(set) var sitemaps = DocumentURLs()
  private(set) var others = NonURLs()
  /// The number of decoded bytes.
  private(set) var length = 0
  private var form: Form?
  private var isIndex = false

  private enum Form {
    case xml(MarkupReader)
    case text(LimitedBytes)
  }

  /// - Throws: `Failure` if it is neither.
  init(_ bytes: BodyBytes) throws {
    if bytes.withUnsafeBytes({ $0.starts(with: [0x1F, 0x8B]) }) {
      var decoder = try DeflateDecoder()
      var input = bytes
      repeat { try read(try decoder.decode(&input).array) } while !input.isEmpty || decoder.hasOutput
    } else {
      try read(bytes.array)
    }
    let declaresEntities = finish()
    guard pages.urls.isEmpty, sitemaps.urls.isEmpty else { return }
    throw Failure(
      description: "no URL in the sitemap"
        + (declaresEntities ? "; the entities that it declares are not expanded" : ""))
  }

  private mutating func read(_ bytes: [UInt8]) throws {
    length += bytes.count
    guard length <= Self.longest else { throw Failure(description: "a sitemap of more than 50 MiB") }
    if form == nil {
      guard let start = bytes.first(where: { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }) else { return }
      form =
        start == UInt8(ascii: "<")
        ? .xml(MarkupReader(.xml, textOf: ["loc"], longestText: TargetURI.lengthLimit))
        : .text(LimitedBytes(limit: TargetURI.lengthLimit))
    }
    switch form {
    case .xml(var reader):
      form = nil
      reader.read(bytes) { see($0) }
      form = .xml(reader)
    case .text(var line):
      form = nil
      for byte in bytes {
        if byte == 0x0A || byte == 0x0D { addLine(&line) } else { line.append(byte) }
      }
      form = .text(line)
    case nil: break
    }
  }

  /// - Returns: whether the sitemap declares entities.
  private mutating func finish() -> Bool {
    switch form {
    case .xml(let reader): return reader.declaresEntities
    case .text(var line):
      addLine(&line)
      return false
    case nil: return false
    }
  }

  private mutating func see(_ event: MarkupReader.Event) {
    switch event {
    case .start("sitemap", _): isIndex = true
    case .start("url", _): isIndex = false
    case .start: break
    case .text(_, let text): add(text.filter { !$0.isWhitespace })
    }
  }

  private mutating func addLine(_ line: inout LimitedBytes) {
    if let bytes = line.bytes, let text = URLList.entry(String(decoding: bytes, as: UTF8.self)[...]) {
      add(text)
    }
    line.removeAll()
  }

  private mutating func add(_ text: String) {
    guard !text.isEmpty else { return }
    guard let url = TargetURI.normalized(text) else { return others.add(text) }
    if isIndex { sitemaps.add(url) } else { pages.add(url) }
  }

  /// Why a text is not a sitemap.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }
}
