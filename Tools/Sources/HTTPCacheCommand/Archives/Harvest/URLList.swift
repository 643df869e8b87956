import Foundation
import HTTPCacheSemantics

/// A list of URLs, one a line; empty lines and lines that begin with `#` are left out.
enum URLList {
  static func urls(of text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty && !$0.hasPrefix("#") }
      .compactMap { TargetURI.normalized($0) }
  }
}
