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
    // By bytes: characters take ten times as long, and each request is read here.
    let text = url.absoluteString
    let bytes = text.utf8
    guard bytes.count <= TargetURI.lengthLimit,
      let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
    else { return nil }
    let scheme = text[..<colon].lowercased()
    let rest = bytes[bytes.index(after: colon)...]
    guard scheme == "http" || scheme == "https", rest.starts(with: "//".utf8) else { return nil }
    let start = bytes.index(colon, offsetBy: 3)
    let (slash, query, number) = (UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"))
    let end = bytes[start...].firstIndex { $0 == slash || $0 == query || $0 == number } ?? bytes.endIndex
    var host = start
    if let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) {
      userInformation = String(text[start..<at])
      host = bytes.index(after: at)
    } else {
      userInformation = nil
    }
    guard host < end, bytes[host] != UInt8(ascii: ":") else { return nil }
    let fragment = bytes[end...].firstIndex(of: number) ?? bytes.endIndex
    self.scheme = scheme
    authority = String(text[host..<end])
    let hasPath = end < fragment && bytes[end] == slash
    path = hasPath ? String(text[end..<fragment]) : "/" + text[end..<fragment]
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
