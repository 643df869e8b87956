import HTTPTypes

/// The client of a connection.
struct ClientSide: Sendable {
  /// The client's address; nil if it has none.
  let address: IPAddress?
  /// Whether the client's connection uses TLS.
  let isSecure: Bool
  /// Whether the client is a proxy whose `X-Forwarded-*` and `Forwarded` count.
  let isTrusted: Bool

  init(address: IPAddress?, isSecure: Bool, trusted: [AddressRange] = []) {
    self.address = address
    self.isSecure = isSecure
    isTrusted = address.map { address in trusted.contains { $0.contains(address) } } ?? false
  }
}
