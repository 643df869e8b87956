import ArgumentParser
import Foundation

/// A proxy on the way to origins.
struct ProxyAddress: Sendable, Equatable {
  /// The protocol of the proxy.
  enum Kind: Sendable {
    case http
    /// The proxy resolves the names of hosts.
    case socks
  }

  let kind: Kind
  let host: String
  let port: Int
  var credentials: Credentials?

  /// Reads `[scheme://][user:password@]host[:port]`; the default scheme is http, the default port 1080, as in curl.
  ///
  /// - Parameter source: the option or variable, for messages. Messages do not show the text, because it may have a
  ///   password.
  /// - Throws: `ValidationError`.
  init(_ text: String, from source: String) throws {
    let isSchemeless = !text.contains("://")
    guard let url = URL(string: isSchemeless ? "http://\(text)" : text), let host = url.host(),
      !host.isEmpty, !host.contains("%"), let scheme = url.scheme?.lowercased()
    else {
      throw ValidationError("\(source) requires a proxy such as http://proxy.example:3128")
    }
    switch scheme {
    case "http": kind = .http
    case "socks5", "socks5h": kind = .socks
    default:
      throw ValidationError(
        "\(source) names a proxy of the kind \(scheme); only http and socks5h are supported")
    }
    let port = url.port ?? 1080
    guard (1...65_535).contains(port) else {
      throw ValidationError("\(source) requires a port from 1 to 65535 (got \(port))")
    }
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    self.port = port
    credentials = url.user(percentEncoded: false).map {
      Credentials(user: $0, password: url.password(percentEncoded: false) ?? "")
    }
    if kind == .socks, credentials != nil {
      throw ValidationError("\(source) gives a SOCKS proxy a password; only http proxies get one")
    }
  }
}
