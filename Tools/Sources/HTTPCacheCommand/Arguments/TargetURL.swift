import ArgumentParser
import Foundation
import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPCaching

/// A URL as an argument, split into the parts of a request.
struct TargetURL: Sendable, Equatable {
  /// The URL as it was given, with its scheme and without user and password.
  let text: String
  /// `http` or `https`.
  let scheme: String
  /// Host and port.
  let authority: String
  /// Path and query.
  private(set) var path: String
  /// The URL as the cache's keys spell it (RFC 9110 §4.2.3).
  private(set) var normalized: String
  /// Path and query as they were given, with characters that `path` percent-encodes and keys do not, such as brackets: a
  /// proxy stores under what its clients send.
  private let givenPath: String
  /// User and password of the URL, which never reach a key or a message.
  private(set) var credentials: Credentials?
  /// Whether the URL has a password, which may be empty, beside its user.
  private(set) var hasPassword: Bool

  /// Reads a URL. Characters that a URI must not hold are percent-encoded; the fragment is dropped.
  ///
  /// A URL without a scheme gets `http`, as in curl: `localhost:8080` works, and the key does not depend on what
  /// an origin supports. A site that prefers https redirects, and the cache stores the redirect.
  ///
  /// - Throws: `ValidationError` for anything but an http or https URL with a host.
  init(parsing argument: String) throws {
    let argument = Self.withTwoSlashes(argument)
    let absolute = Self.absolute(argument)
    let given = Self.encodingPath(of: absolute)
    let all = Self.withoutCredentials(argument)
    let shown = all.count > 300 ? all.prefix(300) + "…" : all[...]
    guard let url = URL(string: given), let scheme = url.scheme?.lowercased() else {
      throw ValidationError("'\(shown)' is not a URL, such as https://example.com/\(Self.hint(argument))")
    }
    guard scheme == "http" || scheme == "https" else {
      throw ValidationError("'\(shown)' is neither an http nor an https URL")
    }
    let encoded = Self.withoutCredentials(url.absoluteString)
    guard let place = Authority.range(in: encoded.utf8) else {
      throw ValidationError("'\(shown)' has no host")
    }
    let authority = encoded[place]
    if authority.hasPrefix("["), let problem = Self.addressProblem(authority) {
      throw ValidationError("'\(shown)' has no valid host: \(problem)\(Self.hint(argument))")
    }
    guard let host = url.host(), !host.isEmpty, !host.allSatisfy({ $0 == "." }) else {
      throw ValidationError("'\(shown)' has no host\(Self.hint(argument))")
    }
    let path = encoded[place.upperBound...].prefix { $0 != "#" }
    self.scheme = scheme
    self.authority = String(authority)
    self.path = path.hasPrefix("/") ? String(path) : "/" + path
    text = Self.withoutCredentials(given)
    guard !Self.hasEncodedHost(authority),
      url.port.map({ (1...65_535).contains($0) }) ?? !Self.hasPort(authority),
      let normalized = TargetURI.normalized("\(scheme)://\(authority)\(self.path)")
    else {
      throw ValidationError(
        "'\(shown)' has no valid host and port, such as example.com:8080\(Self.hint(argument))")
    }
    self.normalized = normalized
    let givenPath = absolute[Self.pathStart(of: absolute)...].prefix { $0 != "#" }
    self.givenPath = givenPath.hasPrefix("/") ? String(givenPath) : "/" + givenPath
    let password = url.password(percentEncoded: false)
    hasPassword = password != nil
    credentials = url.user(percentEncoded: false).map { Credentials(user: $0, password: password ?? "") }
  }

  /// The URL with its characters as they were given; nil if that is the same key.
  var asGiven: TargetURL? {
    guard let key = TargetURI.normalized("\(scheme)://\(authority)\(givenPath)"), key != normalized else {
      return nil
    }
    var url = self
    url.path = givenPath
    url.normalized = key
    return url
  }

  /// The targets under which responses to the URL may be stored.
  var targets: [String] { [normalized] + (asGiven.map { [$0.normalized] } ?? []) }

  /// The prefixes that a prefix on the command line stands for, normalised as in keys: without a scheme, those with http
  /// and with https.
  static func prefixes(_ prefix: String) -> [String] {
    let schemes = ["http://", "https://"]
    // A prefix may end within the scheme.
    let hasScheme =
      Authority.range(in: prefix.utf8) != nil || schemes.contains { $0.hasPrefix(prefix.lowercased()) }
    return (hasScheme ? [prefix] : schemes.map { $0 + prefix }).map(normalizedPrefix)
  }

  /// A prefix of URLs, normalised as in keys; a prefix that ends within the host stays unchanged.
  static func normalizedPrefix(_ prefix: String) -> String {
    namesHost(prefix) ? TargetURI.normalized(prefix) ?? prefix : prefix
  }

  /// The URL that a prefix of URLs is; nil for a prefix that ends within its scheme, or within a host, and is no URL.
  ///
  /// - Throws: `ValidationError` for a prefix with a path that is no URL.
  static func named(byPrefix prefix: String) throws -> TargetURL? {
    if namesHost(prefix) { return try TargetURL(parsing: prefix) }
    return Authority.range(in: prefix.utf8) == nil ? nil : try? TargetURL(parsing: prefix)
  }

  /// Whether a prefix of URLs has a whole authority, with something after it.
  static func namesHost(_ prefix: String) -> Bool {
    Authority.range(in: prefix.utf8).map { $0.upperBound < prefix.endIndex } ?? false
  }

  /// The URL with another path and query, percent-encoded where needed.
  ///
  /// - Throws: `ValidationError` if the result is not a URL.
  func with(path: String) throws -> TargetURL {
    var url = try TargetURL(
      parsing: "\(scheme)://\(authority)\(path.replacingOccurrences(of: "#", with: "%23"))")
    url.credentials = credentials
    url.hasPassword = hasPassword
    return url
  }

  /// The host, without brackets, zone and port.
  var host: String {
    if authority.first == "[" { return String(authority.dropFirst().prefix { $0 != "]" && $0 != "%" }) }
    return String(authority.prefix { $0 != ":" })
  }

  /// The port, which may be the scheme's own.
  var port: Int {
    let digits = authority.reversed().prefix { $0.isNumber }.reversed()
    let hasPort = authority.dropLast(digits.count).last == ":"
    return (hasPort ? Int(String(digits)) : nil) ?? (scheme == "https" ? 443 : 80)
  }

  /// A request for the URL.
  func request(_ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:]) -> HTTPRequest {
    HTTPRequest(method: method, scheme: scheme, authority: authority, path: path, headerFields: fields)
  }

  /// Adds the second slash of `http:/host`, as curl does: the host would be `http`.
  private static func withTwoSlashes(_ argument: String) -> String {
    for scheme in ["http:/", "https:/"] where argument.lowercased().hasPrefix(scheme) {
      let rest = argument.dropFirst(scheme.count)
      if rest.first != "/" { return "\(argument.prefix(scheme.count))/\(rest)" }
    }
    return argument
  }

  /// The reason why an address in brackets is refused; nil for an IPv6 address, which may have a zone. Foundation has
  /// encoded the percent sign of `%eth0`.
  private static func addressProblem(_ authority: Substring) -> String? {
    let address = authority.dropFirst().prefix { $0 != "]" }
    var bytes = in6_addr()
    if inet_pton(AF_INET6, String(address), &bytes) == 1 { return nil }
    guard let percent = address.firstIndex(of: "%"),
      inet_pton(AF_INET6, String(address[..<percent]), &bytes) == 1
    else { return "'\(address)' is not an IPv6 address" }
    let zone = address[percent...]
    let name = zone.dropFirst(3)
    // Encoding changes all but unreserved characters.
    let isName = !name.isEmpty && TargetURI.percentEncoded(name.utf8) == name
    return zone.hasPrefix("%25") && isName ? nil : "'\(zone)' is not a zone (RFC 6874)"
  }

  /// Whether a host is percent-encoded, not only the mark of a zone.
  private static func hasEncodedHost(_ authority: Substring) -> Bool {
    !authority.hasPrefix("[") && authority.contains("%")
  }

  /// Adds `http` where an argument has no scheme.
  private static func absolute(_ argument: String) -> String {
    if argument.hasPrefix("//") { return "http:" + argument }
    return Authority.range(in: argument.utf8) == nil ? "http://" + argument : argument
  }

  /// Percent-encodes characters that path, query and fragment must not have (RFC 3986 §3.3). Foundation would also
  /// encode the percent signs of encoded characters.
  ///
  /// - Parameter start: where path, query and fragment begin; nil for a text that begins with a scheme or an authority.
  static func encodingPath(of text: String, from start: String.Index? = nil) -> String {
    let start = start ?? pathStart(of: text)
    let bytes = Array(text.utf8[start...])
    let kept = Set("!#$&'()*+,-./:;=?@_~".utf8)
    let encoded = bytes.indices.map { index -> String in
      let byte = bytes[index]
      let scalar = UnicodeScalar(byte)
      let isEscape =
        byte == UInt8(ascii: "%") && index + 2 < bytes.count
        && bytes[index + 1...index + 2].allSatisfy { UnicodeScalar($0).properties.isASCIIHexDigit }
      let isAlphanumeric = scalar.isASCII && scalar.properties.isAlphabetic || (0x30...0x39).contains(byte)
      return isEscape || isAlphanumeric || kept.contains(byte)
        ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    return String(decoding: text.utf8[..<start], as: UTF8.self) + encoded.joined()
  }

  /// Where the authority of a URL ends. A text without a scheme begins with its authority.
  private static func pathStart(of text: String) -> String.Index {
    Authority.range(in: text.utf8)?.upperBound
      // Of octets: a character may be a slash and an accent.
      ?? text.utf8.firstIndex { "/?#".utf8.contains($0) } ?? text.endIndex
  }

  /// Removes user and password: the part of the authority before its last `@`.
  private static func withoutCredentials(_ text: String) -> String {
    let start = Authority.range(in: text.utf8)?.lowerBound ?? text.startIndex
    guard let at = text[start..<pathStart(of: text)].lastIndex(of: "@") else { return text }
    return String(text[..<start] + text[text.index(after: at)...])
  }

  /// A reference for a message, without user and password.
  static func shown(_ reference: String) -> String {
    Authority.range(in: reference.utf8) == nil ? reference : withoutCredentials(reference)
  }

  private static func hasPort(_ authority: Substring) -> Bool {
    authority.last != "]" && authority.contains(":")
      && authority.last != ":" && !(authority.first == "[" && !authority.contains("]:"))
  }

  /// A hint for an argument that is not a URL.
  private static func hint(_ argument: String) -> String {
    if argument.hasPrefix("{") || argument.hasPrefix("[{") {
      return "; --json takes no value, send JSON with -d DATA -H 'Content-Type: application/json'"
    }
    // An address has a colon in its brackets.
    let brackets = argument.firstIndex(of: "[").map { argument[$0...].prefix { $0 != "]" } }
    guard argument.contains("{") || brackets?.contains(":") == false else { return "" }
    return "; {a,b} and [1-3] are not expanded, unlike in curl: give each URL, or let the shell expand {a,b}"
  }
}

/// A URL as written on the command line, not parsed yet.
///
/// The URL is parsed after all options. If ArgumentParser parsed it, an unknown option with a value would be
/// reported as an invalid URL, and the message would show the value, which may have a password.
struct URLArgument: ExpressibleByArgument, Sendable {
  let text: String

  init(argument: String) { text = argument }
}
