import Foundation
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
  func isIn(domain: String) -> Bool {
    host == domain || host.hasSuffix("." + domain) && !Self.isAddress(host)
  }

  /// Whether a cookie with a path is for this one (RFC 6265 §5.1.4).
  func isBelow(path prefix: String) -> Bool {
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

  private static func isAddress(_ host: String) -> Bool {
    var address = in_addr()
    return host.contains(":") || inet_pton(AF_INET, host, &address) == 1
  }
}
