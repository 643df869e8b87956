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
  /// - Parameter name: in lower case, an international one in its ASCII form. A final dot, which names the root, does not
  ///   count.
  func contains(_ name: String) -> Bool {
    let domain = name.hasSuffix(".") ? String(name.dropLast()) : name
    guard let dot = domain.firstIndex(of: ".") else { return true }
    return rules.withLock { rules in
      let known = rules ?? Self.rules(in: read())
      rules = known
      guard !known.contains("!" + domain) else { return false }
      return known.contains(domain[...]) || known.contains("*" + domain[dot...])
    }
  }

  private static func rules(in text: String) -> Set<Substring> {
    var rules: Set<Substring> = []
    for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("//") {
      guard let rule = line.split(whereSeparator: \.isWhitespace).first else { continue }
      rules.insert(rule.utf8.allSatisfy { $0 < 0x80 } ? rule : encoded(rule) ?? rule)
    }
    return rules
  }

  /// A rule with the ASCII form of its name, as hosts of URLs have it (RFC 3492); nil if the name has none.
  private static func encoded(_ rule: Substring) -> Substring? {
    let mark = rule.hasPrefix("*.") ? "*." : rule.hasPrefix("!") ? "!" : ""
    guard let url = try? TargetURL(parsing: "http://\(rule.dropFirst(mark.count))/") else { return nil }
    return (mark + url.host.lowercased())[...]
  }
}
