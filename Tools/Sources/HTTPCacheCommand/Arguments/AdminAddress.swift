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
