/// The URLs that a document names, each once, in order. A document can name more, and longer ones, than memory has: then
/// the rest is left out.
struct DocumentURLs {
  /// As many as a sitemap may have (sitemaps.org).
  static let most = 50_000
  static let mostBytes = 8 << 20
  /// The note at the limits.
  static let limitText = "more than 50,000 URLs, or 8 MiB of them: the rest is left out"

  private(set) var urls: [String] = []
  /// Whether some were left out.
  var isCut: Bool { wasCut || isFull }
  private let wasCut: Bool
  /// Whether no more URLs are taken.
  private(set) var isFull = false
  private var seen: Set<String> = []
  private var bytes = 0

  /// - Parameter isCut: whether some were left out before.
  init(isCut: Bool = false) { wasCut = isCut }

  mutating func add(_ url: String) {
    guard !isFull, !seen.contains(url) else { return }
    guard urls.count < Self.most, bytes + url.utf8.count <= Self.mostBytes else {
      isFull = true
      return
    }
    bytes += url.utf8.count
    seen.insert(url)
    urls.append(url)
  }
}
