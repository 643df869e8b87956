/// A host and a port to listen on: `127.0.0.1:8080`, `[::1]:0`, `localhost:8080`.
struct ListenAddress: ExpectedArgument, Sendable, Hashable, CustomStringConvertible {
  static let expected = "a host and a port, such as 127.0.0.1:8080 or [::1]:8080"

  /// The host; an IPv6 address without brackets.
  let host: String
  /// The port; 0 lets the system choose.
  let port: Int

  /// Makes an address.
  init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// Parses an argument; nil if it is not a host with a port.
  init?(argument: String) {
    guard let colon = argument.lastIndex(of: ":") else { return nil }
    let digits = argument[argument.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits),
      port <= 65535
    else { return nil }
    var host = argument[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
      guard host.contains(":") else { return nil }
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || $0 == "/" || $0 == "@" }) else {
      return nil
    }
    self.init(host: String(host), port: port)
  }

  /// The address with the port that the system chose; nil for the port of the address.
  func bound(to port: Int?) -> ListenAddress { ListenAddress(host: host, port: port ?? self.port) }

  /// Whether only this machine can reach it.
  var isLoopback: Bool {
    host == "::1" || host.lowercased() == "localhost"
      || (host.hasPrefix("127.") && host.split(separator: ".").count == 4)
  }

  /// Whether it is every address of this machine.
  var isEveryAddress: Bool { ["0.0.0.0", "::"].contains(host) }

  /// The address as text for a URI.
  var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The admin listener of a running `httpcache serve` as an argument: host and port, or a URL.
struct AdminAddress: ExpectedArgument, Sendable, CustomStringConvertible {
  /// The port of the examples in the manual; `serve --admin` itself requires one.
  static let defaultPort = 9180
  static let local = AdminAddress(description: "127.0.0.1:\(defaultPort)")
  static let expected = "a host with or without a port, such as 127.0.0.1:\(defaultPort), or a URL"

  /// Host and port, or the URL.
  let description: String

  private init(description: String) { self.description = description }

  /// Parses an argument; a host without a port gets `defaultPort`, a URL the port of its scheme.
  init?(argument: String) {
    guard !argument.contains("://") else {
      self.init(description: argument)
      return
    }
    let address =
      ListenAddress(argument: argument) ?? ListenAddress(argument: "\(argument):\(Self.defaultPort)")
    guard let address, address.port != 0 else { return nil }
    self.init(description: address.description)
  }
}
