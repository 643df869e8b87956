/// An origin: scheme, host and port (RFC 9110 §4.3.1).
public struct Origin: Sendable, Hashable, CustomStringConvertible {
  /// Whether connections use TLS.
  public let isSecure: Bool
  /// The host, lower-cased; an IPv6 address without brackets.
  public let host: String
  /// The port.
  public let port: Int

  /// Makes an origin.
  ///
  /// - Parameter port: nil is the scheme's default.
  public init(isSecure: Bool, host: String, port: Int? = nil) {
    self.isSecure = isSecure
    self.host = host.lowercased()
    self.port = port ?? (isSecure ? 443 : 80)
  }

  /// Parses a scheme and an authority; nil unless it is `http` or `https` and a host.
  init?(scheme: String?, authority: String?) {
    guard let scheme, let isSecure = Self.isSecure(scheme) ?? Self.isSecure(scheme.lowercased()),
      let authority = authority.flatMap({ Authority($0) })
    else { return nil }
    self.isSecure = isSecure
    host = authority.host
    port = authority.port ?? (isSecure ? 443 : 80)
  }

  private static func isSecure(_ scheme: String) -> Bool? {
    scheme == "https" ? true : scheme == "http" ? false : nil
  }

  /// Splits an absolute `http` or `https` URI; nil for other text, and for a URI with user information, which is an
  /// error by RFC 9110 §4.2.4.
  package static func split(_ uri: String) -> (origin: Origin, path: String)? {
    guard let authority = Authority.range(in: uri.utf8),
      let origin = Origin(
        scheme: String(uri[..<authority.lowerBound].dropLast(3)), authority: String(uri[authority]))
    else { return nil }
    let path = uri[authority.upperBound...]
    return (origin, path.first == "/" ? String(path) : "/" + path)
  }

  /// `http` or `https`.
  public var scheme: String { isSecure ? "https" : "http" }

  /// The authority, without the scheme's default port.
  public var authority: String {
    Authority(host: host, port: port).text(defaultPort: isSecure ? 443 : 80)
  }

  /// As a URI.
  public var description: String { "\(scheme)://\(authority)" }
}
