import Foundation
import HTTPCacheSemantics
import HTTPCaching

/// The parts of an absolute `http` or `https` URL that go into a request (RFC 9110 §7.1). Their
/// percent-encoding is unchanged: only keys are normalised.
struct HTTPTarget: Sendable, Hashable {
  let scheme: String
  /// Host, and port if the URL names one; never user information (RFC 9110 §4.2.4).
  let authority: String
  /// Path and query, never the fragment.
  let path: String
  /// The text before the `@`, percent-encoded; nil without one.
  let userInformation: String?

  /// Nil if it is not such a URL, has no host, or is longer than `TargetURI.lengthLimit`.
  init?(_ url: URL) {
    let text = url.absoluteString
    guard text.utf8.count <= TargetURI.lengthLimit, let colon = text.firstIndex(of: ":") else {
      return nil
    }
    let scheme = text[..<colon].lowercased()
    var rest = text[text.index(after: colon)...]
    guard scheme == "http" || scheme == "https", rest.hasPrefix("//") else { return nil }
    rest = rest.dropFirst(2)
    let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    var authority = rest[..<end]
    if let at = authority.lastIndex(of: "@") {
      userInformation = String(authority[..<at])
      authority = authority[authority.index(after: at)...]
    } else {
      userInformation = nil
    }
    guard let first = authority.first, first != ":" else { return nil }
    let path = rest[end...].prefix { $0 != "#" }
    self.scheme = scheme
    self.authority = String(authority)
    self.path = path.hasPrefix("/") ? String(path) : "/" + path
  }

  /// The field that Foundation makes of user information (RFC 7617 §2); nil without user information.
  var authorization: String? {
    guard let userInformation, !userInformation.isEmpty else { return nil }
    let parts = userInformation.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let user = Self.decoded(parts[0])
    let password = parts.count > 1 ? Self.decoded(parts[1]) : ""
    return "Basic " + Data((user + ":" + password).utf8).base64EncodedString()
  }

  private static func decoded(_ part: Substring) -> String {
    part.removingPercentEncoding ?? String(part)
  }
}
