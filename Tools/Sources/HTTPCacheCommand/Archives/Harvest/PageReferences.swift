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
  ///   - encoding: the charset of its `Content-Type`; nil lets the page tell.
  static func find(in bytes: [UInt8], of url: String, encoding: String?) -> [String] {
    guard let document = MarkupDocument(html: bytes, encoding: encoding) else { return [] }
    var (base, references) = (url, [String]())
    document.forEach { element in
      let name = element.name
      if name == "base", let href = element["href"], let resolved = TargetURI.resolved(href, against: url) {
        base = resolved
      }
      for attribute in attributes[name] ?? [] {
        if let value = element[attribute] { references.append(value) }
      }
      for attribute in sets[name] ?? [] {
        if let value = element[attribute] { references += candidates(of: value) }
      }
      if name == "link", isLoaded(element["rel"]), let value = element["href"] { references.append(value) }
      if name == "style" { references += CSSReferences.find(in: element.text) }
      if let style = element["style"] { references += CSSReferences.find(in: style) }
    }
    return absolute(references, base)
  }

  /// The URLs of references, without those that are no http or https URLs, such as `data:`.
  static func absolute(_ references: [String], _ base: String) -> [String] {
    var seen: Set<String> = []
    return references.compactMap { reference in
      let text = reference.drop { $0.isWhitespace }.prefix { !$0.isNewline }
      guard !text.isEmpty, !text.hasPrefix("#"), let url = TargetURI.resolved(trimmed(text), against: base),
        seen.insert(url).inserted
      else { return nil }
      return url
    }
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
