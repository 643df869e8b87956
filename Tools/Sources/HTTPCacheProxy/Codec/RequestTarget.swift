import HTTPTypes

/// The four forms of a request target (RFC 9112 §3.2).
enum RequestTarget: Sendable, Equatable {
  /// A path with its query.
  case origin(String)
  /// A URI.
  case absolute(Origin, path: String)
  /// A host and a port, for CONNECT.
  case authority(host: String, port: Int)
  /// The server itself, for OPTIONS.
  case asterisk

  /// Parses a target.
  ///
  /// - Throws: `ProtocolViolation`.
  init(_ text: String, method: HTTPRequest.Method) throws(ProtocolViolation) {
    if method == .connect {
      guard let authority = Authority(text), let port = authority.port else {
        throw ProtocolViolation("CONNECT requires a host and a port (RFC 9112 §3.2.3)")
      }
      self = .authority(host: authority.host, port: port)
    } else if text.utf8.first == 0x2F {
      self = .origin(text)
    } else if text == "*" {
      guard method == .options else {
        throw ProtocolViolation("the target * is only for OPTIONS (RFC 9112 §3.2.4)")
      }
      self = .asterisk
    } else {
      guard let (origin, path) = Origin.split(text) else {
        throw ProtocolViolation("an invalid request target (RFC 9112 §3.2)")
      }
      // Without path and query, OPTIONS is about the server itself (RFC 9112 §3.2.4).
      let isServer =
        method == .options && !text.dropFirst(origin.scheme.count + 3).contains { "/?".contains($0) }
      self = .absolute(origin, path: isServer ? "*" : path)
    }
  }
}
