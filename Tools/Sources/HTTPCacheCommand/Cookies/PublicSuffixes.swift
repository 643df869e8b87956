import Foundation
import Synchronization

/// The domains below which anyone may have a name, such as `com` and `co.uk`: no cookie is for all hosts below one
/// (RFC 6265 §5.3, step 5).
final class PublicSuffixes: Sendable {
  /// The list that Debian's package `publicsuffix` installs. Without it, a domain of one label is the only public suffix.
  static let system = PublicSuffixes {
    FileManager.default.contents(atPath: "/usr/share/publicsuffix/public_suffix_list.dat")
      .map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  private let read: @Sendable () -> String
  private let rules = Mutex<Set<Substring>?>(nil)

  /// - Parameter read: returns the list, in the format of publicsuffix.org. Called when the first domain is looked up.
  init(_ read: @escaping @Sendable () -> String) { self.read = read }

  /// Whether a domain is a public suffix.
  ///
  /// - Parameter domain: in lower case.
  func contains(_ domain: String) -> Bool {
    guard let dot = domain.firstIndex(of: ".") else { return true }
    return rules.withLock { rules in
      let known = rules ?? Self.rules(in: read())
      rules = known
      guard !known.contains("!" + domain) else { return false }
      return known.contains(domain[...]) || known.contains("*" + domain[dot...])
    }
  }

  private static func rules(in text: String) -> Set<Substring> {
    Set(
      text.split(whereSeparator: \.isNewline)
        .filter { !$0.hasPrefix("//") }
        .compactMap { $0.split(whereSeparator: \.isWhitespace).first })
  }
}
