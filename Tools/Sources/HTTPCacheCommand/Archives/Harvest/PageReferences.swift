import Foundation
import HTTPCacheSemantics

/// The resources that a page needs to be shown: style sheets, scripts, pictures, fonts, media and frames.
enum PageReferences {
  /// The attributes that name a resource, for each element.
  private static let attributes: [String: [String]] = [
    "script": ["src"], "img": ["src"], "source": ["src"], "audio": ["src"], "video": ["src", "poster"],
    "track": ["src"], "iframe": ["src"], "frame": ["src"], "embed": ["src"], "object": ["data"],
    "input": ["src"],
    "body": ["background"], "image": ["href", "xlink:href"], "use": ["href", "xlink:href"],
  ]
  private static let sets: [String: [String]] = [
    "img": ["srcset"], "source": ["srcset"], "link": ["imagesrcset"],
  ]
  /// The relations of a `link` that are loaded with the page.
  private static let relations: Set<String> = [
    "stylesheet", "icon", "apple-touch-icon", "mask-icon", "preload", "modulepreload", "manifest",
  ]

  /// The absolute URLs, in order, each once.
  ///
  /// - Parameters:
  ///   - url: the URL of the page.
  ///   - encoding: the charset of its `Content-Type`; nil is UTF-8.
  static func find(in bytes: [UInt8], of url: String, encoding: String?) -> DocumentURLs {
    var (base, references) = (String?.none, DocumentURLs())
    var reader = MarkupReader(.html, textOf: ["style"], longestText: bytes.count, encoding: encoding)
    let visit = { (event: MarkupReader.Event) in
      switch event {
      case .start(let name, let attributes):
        if name == "base", base == nil, let href = attributes["href"] {
          base = TargetURI.resolved(href, against: url)
        }
        for reference in self.references(of: name, attributes) { references.add(reference) }
      case .text(_, let style):
        for reference in CSSReferences.find(in: style) { references.add(reference) }
      }
    }
    reader.read(bytes, visit)
    reader.finish(visit)
    return absolute(references.urls, base ?? url, isCut: references.isCut)
  }

  /// The references of one element.
  private static func references(of name: String, _ attributes: [String: String]) -> [String] {
    var references = (self.attributes[name] ?? []).compactMap { attributes[$0] }
    for set in (sets[name] ?? []).compactMap({ attributes[$0] }) { references += candidates(of: set) }
    if name == "link", isLoaded(attributes["rel"]), let value = attributes["href"] {
      references.append(value)
    }
    if let style = attributes["style"] { references += CSSReferences.find(in: style) }
    return references
  }

  /// The URLs of references, without those that are no http or https URLs, such as `data:`.
  ///
  /// - Parameter isCut: whether there were more references.
  static func absolute(_ references: [String], _ base: String, isCut: Bool = false) -> DocumentURLs {
    var urls = DocumentURLs(isCut: isCut)
    // Long bases make each reference expensive.
    for reference in references where !urls.isFull {
      let text = reference.drop { $0.isWhitespace }.prefix { !$0.isNewline }
      guard !text.isEmpty, !text.hasPrefix("#"), let url = TargetURI.resolved(trimmed(text), against: base)
      else { continue }
      urls.add(url)
    }
    return urls
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.last?.isWhitespace == true { text.removeLast() }
    return text.replacingOccurrences(of: " ", with: "%20")
  }

  private static func isLoaded(_ rel: String?) -> Bool {
    (rel ?? "").lowercased().split(whereSeparator: \.isWhitespace).contains { relations.contains(String($0)) }
  }

  /// The URLs of a `srcset` (HTML §4.8.4.2.2): each is followed by an optional width or density.
  static func candidates(of set: String) -> [String] {
    var (rest, urls) = (Substring(set), [String]())
    while true {
      rest = rest.drop { $0.isWhitespace || $0 == "," }
      guard !rest.isEmpty else { return urls }
      let word = rest.prefix { !$0.isWhitespace }
      rest = rest.dropFirst(word.count)
      let url = word.reversed().drop { $0 == "," }.reversed()
      urls.append(String(url))
      // A comma at the end of the URL ends the candidate; otherwise a description follows.
      if url.count == word.count { rest = rest.drop { $0 != "," } }
    }
  }
}
