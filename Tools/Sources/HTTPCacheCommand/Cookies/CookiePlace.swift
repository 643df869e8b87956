import HTTPCaching

/// The scheme, host and path of a request, as the rules of cookies compare them (RFC 6265 §5.1).
struct CookiePlace: Equatable {
  let isSecure: Bool
  /// In lower case, without brackets and port.
  let host: String
  /// Without the query.
  let path: String

  /// The place of a request; nil without an http or https URL.
  init?(_ request: HTTPRequest) {
    guard let scheme = request.scheme, let authority = request.authority,
      let url = try? TargetURL(parsing: "\(scheme)://\(authority)/")
    else { return nil }
    isSecure = url.scheme == "https"
    host = url.host.lowercased()
    path = String((request.path ?? "/").prefix { $0 != "?" && $0 != "#" })
  }

  /// Whether the host is a domain, or below it (RFC 6265 §5.1.3). Nothing is below an address.
  ///
  /// - Parameter domain: in lower case, without a leading dot.
  func isIn(domain: String) -> Bool { Self.isHost(host, in: domain) }

  /// Whether a cookie with a path is for this one (RFC 6265 §5.1.4).
  func isBelow(path prefix: String) -> Bool { Self.isPath(path, below: prefix) }

  /// Whether a host is a domain, or below it (RFC 6265 §5.1.3), both in lower case.
  static func isHost(_ host: String, in domain: String) -> Bool {
    host == domain || host.hasSuffix("." + domain) && !isAddress(host)
  }

  /// Whether a path matches the path of a cookie (RFC 6265 §5.1.4).
  static func isPath(_ path: String, below prefix: String) -> Bool {
    guard path.hasPrefix(prefix) else { return false }
    return path.utf8.count == prefix.utf8.count || prefix.hasSuffix("/")
      || path.utf8.dropFirst(prefix.utf8.count).first == UInt8(ascii: "/")
  }

  /// The path of a cookie that names none (RFC 6265 §5.1.4).
  var defaultPath: String {
    guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
      return "/"
    }
    return String(path[..<slash])
  }

  /// Whether a host is an address of IPv6, or ends in a number, as addresses of IPv4 do in each of their forms.
  private static func isAddress(_ host: String) -> Bool {
    if host.contains(":") { return true }
    let name = host.hasSuffix(".") ? host.dropLast() : host[...]
    guard let label = name.split(separator: ".", omittingEmptySubsequences: false).last else { return false }
    let digits = label.hasPrefix("0x") ? label.dropFirst(2) : label
    return label.utf8.first.map { (0x30...0x39).contains($0) } == true
      && digits.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || digits.startIndex > label.startIndex && (0x61...0x66).contains(byte)
      }
  }
}
