import Foundation
import HTTPCacheSemantics

/// A list of URLs, one a line.
struct URLList {
  private(set) var urls: [String] = []
  private(set) var others = NonURLs()

  init(_ text: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      guard let entry = Self.entry(line) else { continue }
      if let url = TargetURI.normalized(entry) { urls.append(url) } else { others.add(entry) }
    }
  }

  /// The text of a line; nil for an empty line and for a comment, which begins with `#`. A byte order mark, which some
  /// editors write before the first line, does not count.
  static func entry(_ line: Substring) -> String? {
    let text = (line.first == "\u{FEFF}" ? line.dropFirst() : line).trimmingCharacters(in: .whitespaces)
    return text.isEmpty || text.hasPrefix("#") ? nil : text
  }
}

/// The texts of a list or a sitemap that are no http or https URLs.
struct NonURLs {
  private static let most = 100

  private var texts: [String] = []
  private var count = 0

  mutating func add(_ text: String) {
    if texts.count < Self.most { texts.append(String(text.prefix(200))) }
    count += 1
  }

  /// The notes on them: one for each of the first 100, and one for the rest.
  var notes: [String] {
    let rest = count - texts.count
    return texts.map { "not an http or https URL: \($0)" }
      + (rest > 0 ? ["\(rest) more lines that are no http or https URLs"] : [])
  }
}
